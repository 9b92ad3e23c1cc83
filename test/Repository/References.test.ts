import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { referencesContract } from "./References.contract.ts"

referencesContract("memory", EmbeddedStore.layerMemory)
referencesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => referencesContract("mongodb", layer))
