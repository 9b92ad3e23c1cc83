import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { callerLinksContract } from "./contracts/callerLinks.ts"

callerLinksContract("memory", EmbeddedStore.layerMemory, 25)
callerLinksContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)), 5)
onMongo("on a server", (layer) => callerLinksContract("mongodb", layer, 5))
