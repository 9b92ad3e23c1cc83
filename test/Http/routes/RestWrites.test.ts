import { storeMatrix } from "../../support/storeMatrix.ts"
import { creationsContract } from "./Creations.contract.ts"
import { preconditionsContract } from "./Preconditions.contract.ts"
import { writesContract } from "./RestWrites.contract.ts"

storeMatrix(writesContract)

storeMatrix(preconditionsContract)

storeMatrix(creationsContract)
