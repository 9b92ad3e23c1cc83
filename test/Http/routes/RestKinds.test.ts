import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { everyKindContract } from "./RestKinds.contract.ts"

everyKindContract("memory", EmbeddedStore.layerMemory)
everyKindContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => everyKindContract("mongodb", layer))
