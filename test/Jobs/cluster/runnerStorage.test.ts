import { storeMatrix } from "../../support/storeMatrix.ts"
import { runnerStorageContract } from "./runnerStorage.contract.ts"

storeMatrix(runnerStorageContract)
