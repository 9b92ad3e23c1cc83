import { storeMatrix } from "../../support/storeMatrix.ts"
import { listItemsContract } from "./ListItems.contract.ts"

storeMatrix((name, layer) => listItemsContract(name, layer, { memory: 20, embedded: 10, mongodb: 2 }[name]))
