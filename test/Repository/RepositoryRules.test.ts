import { storeMatrix } from "../support/storeMatrix.ts"
import { repositoryRulesContract } from "./RepositoryRules.contract.ts"
import { repositoryRulesRacesContract } from "./RepositoryRulesRaces.contract.ts"
import { repositoryRulesStatesContract } from "./RepositoryRulesStates.contract.ts"

storeMatrix(repositoryRulesContract)
storeMatrix(repositoryRulesStatesContract)
storeMatrix((name, store) =>
  repositoryRulesRacesContract(name, store, name === "mongodb" ? { documents: 7, runs: 20 } : undefined)
)
