import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryContract } from "./contracts/repository.ts"

repositoryContract("memory", EmbeddedStore.layerMemory)
repositoryContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => repositoryContract("mongodb", layer))
