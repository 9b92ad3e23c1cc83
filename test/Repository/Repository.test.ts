import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryContract } from "./contracts/repository.ts"
import { repositoryOperationsContract } from "./contracts/repositoryOperations.ts"

for (const contract of [repositoryContract, repositoryOperationsContract]) {
  contract("memory", EmbeddedStore.layerMemory)
  contract("embedded", freshFolder(EmbeddedStore.layerWith))
  onMongo("on a server", (layer) => contract("mongodb", layer))
}
