import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { engineTestContract } from "./EngineTest.contract.ts"

engineTestContract("memory", EmbeddedStore.layerMemory)
engineTestContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => engineTestContract("mongodb", layer))
