import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryContract } from "./Repository.contract.ts"
import { repositoryHistoryContract } from "./RepositoryHistory.contract.ts"
import { repositoryMetricsContract } from "./RepositoryMetrics.contract.ts"
import { repositoryOperationsContract } from "./RepositoryOperations.contract.ts"
import {
  repositorySoftDeletionContract,
  repositorySoftDeletionSearchContract
} from "./RepositorySoftDeletion.contract.ts"

const contracts = [
  repositoryContract,
  repositoryOperationsContract,
  repositorySoftDeletionContract,
  repositoryMetricsContract
]

for (const contract of contracts) {
  contract("memory", EmbeddedStore.layerMemory)
  contract("embedded", freshFolder(EmbeddedStore.layerWith))
  onMongo("on a server", (layer) => contract("mongodb", layer))
}

// A server in Python takes a while, and has no text indexes.
const isSmall = (name: string) => name.startsWith("SecantusDB")

repositoryHistoryContract("memory", EmbeddedStore.layerMemory)
repositoryHistoryContract("embedded", freshFolder(EmbeddedStore.layerWith))
repositorySoftDeletionSearchContract("memory", EmbeddedStore.layerMemory)
repositorySoftDeletionSearchContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer, { name }) => {
  repositoryHistoryContract("mongodb", layer, isSmall(name) ? 1_000 : 10_000)
  if (!isSmall(name)) repositorySoftDeletionSearchContract("mongodb", layer)
})
