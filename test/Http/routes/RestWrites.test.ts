import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { creationsContract } from "./Creations.contract.ts"
import { preconditionsContract } from "./Preconditions.contract.ts"
import { writesContract } from "./RestWrites.contract.ts"

writesContract("memory", EmbeddedStore.layerMemory)
writesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => writesContract("mongodb", layer))

preconditionsContract("memory", EmbeddedStore.layerMemory)
preconditionsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => preconditionsContract("mongodb", layer))

creationsContract("memory", EmbeddedStore.layerMemory)
creationsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => creationsContract("mongodb", layer))
