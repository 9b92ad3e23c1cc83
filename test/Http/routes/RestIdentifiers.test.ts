import { routeStores } from "../../support/storeMatrix.ts"
import { identifiersContract } from "./RestIdentifiers.contract.ts"

routeStores(identifiersContract)
