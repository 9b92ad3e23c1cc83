import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { repositoryRulesContract } from "./RepositoryRules.contract.ts"
import { repositoryRulesRacesContract } from "./RepositoryRulesRaces.contract.ts"
import { repositoryRulesStatesContract } from "./RepositoryRulesStates.contract.ts"

for (const contract of [repositoryRulesContract, repositoryRulesStatesContract]) {
  contract("memory", EmbeddedStore.layerMemory)
  contract("embedded", freshFolder(EmbeddedStore.layerWith))
  onMongo("on a server", (layer) => contract("mongodb", layer))
}

repositoryRulesRacesContract("memory", EmbeddedStore.layerMemory)
repositoryRulesRacesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => repositoryRulesRacesContract("mongodb", layer, { documents: 7, runs: 20 }))
