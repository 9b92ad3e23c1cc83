import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { apart, callsContract } from "./RestCalls.contract.ts"
import { routingContract } from "./Routing.contract.ts"

callsContract("memory", EmbeddedStore.layerMemory)
callsContract("described apart", EmbeddedStore.layerMemory, apart)
callsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => callsContract("mongodb", layer))

routingContract("memory", EmbeddedStore.layerMemory)
routingContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => routingContract("mongodb", layer))
