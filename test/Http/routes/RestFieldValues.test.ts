import { routeStores } from "../../support/storeMatrix.ts"
import { fieldValuesContract } from "./RestFieldValues.contract.ts"

routeStores(fieldValuesContract)
