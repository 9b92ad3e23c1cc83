import { isolationContract } from "../../packages/document-store/test/Isolation.contract.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

storeMatrix((name, layer) => isolationContract(name, layer, { isSerializable: name !== "mongodb" }))
