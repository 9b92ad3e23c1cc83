import { storeMatrix } from "../support/storeMatrix.ts"
import { repositoryModifyContract } from "./RepositoryModify.contract.ts"

storeMatrix((name, layer) => repositoryModifyContract(name, layer, { writers: name === "mongodb" ? 80 : 500 }))
