import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryModifyContract } from "./RepositoryModify.contract.ts"

repositoryModifyContract("memory", EmbeddedStore.layerMemory, { writers: 500 })
repositoryModifyContract("embedded", freshFolder(EmbeddedStore.layerWith), { writers: 500 })
onMongo("on a server", (layer) => repositoryModifyContract("mongodb", layer, { writers: 80 }))
