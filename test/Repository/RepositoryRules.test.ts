import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryRulesContract } from "./contracts/repositoryRules.ts"

repositoryRulesContract("memory", EmbeddedStore.layerMemory)
repositoryRulesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => repositoryRulesContract("mongodb", layer))
