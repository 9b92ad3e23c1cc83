import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { restContract } from "./contracts/rest.ts"

restContract("memory", EmbeddedStore.layerMemory)
restContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => restContract("mongodb", layer))
