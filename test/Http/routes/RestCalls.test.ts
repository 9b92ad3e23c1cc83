import { EmbeddedStore } from "../../../src/index.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { apart, callsContract } from "./RestCalls.contract.ts"
import { routingContract } from "./Routing.contract.ts"

storeMatrix((name, store) => callsContract(name, store))
callsContract("described apart", EmbeddedStore.layerMemory, apart)
storeMatrix(routingContract)
