import { storeMatrix } from "../support/storeMatrix.ts"
import { handlerRowsContract } from "./HandlerRows.contract.ts"

storeMatrix(handlerRowsContract)
