import { storeMatrix } from "../../support/storeMatrix.ts"
import { aggregationContract } from "./Aggregation.contract.ts"
import { partsContract } from "./Parts.contract.ts"
import { queriesContract } from "./RestQueries.contract.ts"

storeMatrix(queriesContract)

storeMatrix(aggregationContract)

storeMatrix(partsContract)
