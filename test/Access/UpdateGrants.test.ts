import { storeMatrix } from "../support/storeMatrix.ts"
import { updateGrantsContract } from "./UpdateGrants.contract.ts"

storeMatrix((name, layer) => updateGrantsContract(name, layer, name === "memory" ? 100 : 10))
