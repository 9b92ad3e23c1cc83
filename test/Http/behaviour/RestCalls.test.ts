import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { apart, callsContract } from "../contracts/calls.ts"
import { routingContract } from "../contracts/routing.ts"

callsContract("memory", EmbeddedStore.layerMemory)
callsContract("described apart", EmbeddedStore.layerMemory, apart)
callsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => callsContract("mongodb", layer))

routingContract("memory", EmbeddedStore.layerMemory)
routingContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => routingContract("mongodb", layer))
