import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryDefaultsContract } from "./RepositoryDefaults.contract.ts"

repositoryDefaultsContract("memory", EmbeddedStore.layerMemory)
repositoryDefaultsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer, server) =>
  // SecantusDB takes no $and, $or or $nor for the first key of an $elemMatch, which MongoDB does.
  repositoryDefaultsContract("mongodb", layer, {
    runs: 20,
    takesLogicOfElements: !server.name.startsWith("SecantusDB")
  }))
