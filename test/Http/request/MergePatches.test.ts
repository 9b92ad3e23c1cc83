import { routeStores } from "../../support/storeMatrix.ts"
import { mergePatchesContract } from "./MergePatches.contract.ts"

routeStores(mergePatchesContract)
