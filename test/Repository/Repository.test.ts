import { storeMatrix } from "../support/storeMatrix.ts"
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

for (const contract of contracts) storeMatrix(contract)

// A server in Python takes a while, and has no text indexes.
storeMatrix((name, store, server) => {
  const isSmall = server?.name.startsWith("SecantusDB") === true
  repositoryHistoryContract(name, store, isSmall ? 1_000 : 10_000)
  if (!isSmall) repositorySoftDeletionSearchContract(name, store)
})
