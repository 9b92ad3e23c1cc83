import { storeMatrix } from "../../support/storeMatrix.ts"
import { unstorableContract } from "./RestUnstorable.contract.ts"

storeMatrix(unstorableContract)
