import { storeMatrix } from "../../support/storeMatrix.ts"
import { routeTableContract } from "./RouteTable.contract.ts"

storeMatrix(routeTableContract)
