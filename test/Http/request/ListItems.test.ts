import { routeStores } from "../../support/storeMatrix.ts"
import { listItemsContract } from "./ListItems.contract.ts"

routeStores((name, layer) => listItemsContract(name, layer, { memory: 20, mongodb: 2 }[name]))
