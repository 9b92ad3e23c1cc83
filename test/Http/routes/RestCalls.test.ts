import { EmbeddedStore } from "../../../src/index.ts"
import { routeStores } from "../../support/storeMatrix.ts"
import { apart, callsContract } from "./RestCalls.contract.ts"

routeStores((name, store) => callsContract(name, store))
callsContract("described apart", EmbeddedStore.layerMemory, apart)
