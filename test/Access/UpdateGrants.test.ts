import { storeMatrix } from "../support/storeMatrix.ts"
import { updateGrantsContract } from "./UpdateGrants.contract.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 100)

storeMatrix((name, layer) => updateGrantsContract(name, layer, name === "memory" ? runs : Math.ceil(runs / 10)))
