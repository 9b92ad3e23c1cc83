import { storeMatrix } from "../support/storeMatrix.ts"
import { repositoryDefaultsContract } from "./RepositoryDefaults.contract.ts"

storeMatrix((name, store, server) =>
  // SecantusDB takes no $and, $or or $nor for the first key of an $elemMatch, which MongoDB does.
  repositoryDefaultsContract(name, store, {
    ...server && { runs: 20 },
    takesLogicOfElements: server?.name.startsWith("SecantusDB") !== true
  })
)
