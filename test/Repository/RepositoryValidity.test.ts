import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryValidityContract } from "./RepositoryValidity.contract.ts"

repositoryValidityContract("memory", EmbeddedStore.layerMemory)
repositoryValidityContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => repositoryValidityContract("mongodb", layer))
