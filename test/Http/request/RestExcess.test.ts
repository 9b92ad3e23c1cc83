import { routeStores } from "../../support/storeMatrix.ts"
import { excessContract } from "./RestExcess.contract.ts"

routeStores(excessContract)
