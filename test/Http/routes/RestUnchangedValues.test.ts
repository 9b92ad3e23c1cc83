import { routeStores } from "../../support/storeMatrix.ts"
import { unchangedValuesContract } from "./RestUnchangedValues.contract.ts"

routeStores(unchangedValuesContract)
