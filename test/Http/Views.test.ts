import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { viewsContract } from "./contracts/views.ts"

viewsContract("memory", EmbeddedStore.layerMemory)
viewsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => viewsContract("mongodb", layer))
