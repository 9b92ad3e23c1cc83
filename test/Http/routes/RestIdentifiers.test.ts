import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { identifiersContract } from "./RestIdentifiers.contract.ts"

identifiersContract("memory", EmbeddedStore.layerMemory)
identifiersContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => identifiersContract("mongodb", layer))
