import { routeStores } from "../../support/storeMatrix.ts"
import { unstorableContract } from "./RestUnstorable.contract.ts"

routeStores(unstorableContract)
