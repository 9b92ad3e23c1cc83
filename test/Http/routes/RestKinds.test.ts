import { storeMatrix } from "../../support/storeMatrix.ts"
import { everyKindContract } from "./RestKinds.contract.ts"

storeMatrix(everyKindContract)
