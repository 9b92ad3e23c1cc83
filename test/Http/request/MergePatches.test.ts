import { storeMatrix } from "../../support/storeMatrix.ts"
import { mergePatchesContract } from "./MergePatches.contract.ts"

storeMatrix(mergePatchesContract)
