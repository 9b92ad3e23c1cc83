import { storeMatrix } from "../../support/storeMatrix.ts"
import { excessContract } from "./RestExcess.contract.ts"

storeMatrix(excessContract)
