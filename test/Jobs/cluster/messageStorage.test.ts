import { storeMatrix } from "../../support/storeMatrix.ts"
import { messageStorageContract } from "./messageStorage.contract.ts"

storeMatrix(messageStorageContract)
