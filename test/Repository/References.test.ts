import { storeMatrix } from "../support/storeMatrix.ts"
import { referencesContract } from "./References.contract.ts"

storeMatrix(referencesContract)
