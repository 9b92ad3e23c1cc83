import { routeStores } from "../../support/storeMatrix.ts"
import { routeTableContract } from "./RouteTable.contract.ts"

routeStores(routeTableContract)
