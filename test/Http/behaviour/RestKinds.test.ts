import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { everyKindContract } from "../contracts/everyKind.ts"

everyKindContract("memory", EmbeddedStore.layerMemory)
everyKindContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => everyKindContract("mongodb", layer))
