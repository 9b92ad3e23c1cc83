import { routeStores } from "../../support/storeMatrix.ts"
import { aggregationContract } from "./Aggregation.contract.ts"
import { partsContract } from "./Parts.contract.ts"
import { queriesContract } from "./RestQueries.contract.ts"

routeStores(queriesContract)

routeStores(aggregationContract)

routeStores(partsContract)
