import { storeMatrix } from "../support/storeMatrix.ts"
import { repositoryValidityContract } from "./RepositoryValidity.contract.ts"

storeMatrix(repositoryValidityContract)
