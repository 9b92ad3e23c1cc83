import { storeMatrix } from "../../support/storeMatrix.ts"
import { storedQueueContract } from "./storedQueue.contract.ts"

storeMatrix(storedQueueContract)
