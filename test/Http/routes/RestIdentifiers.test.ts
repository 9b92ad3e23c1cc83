import { storeMatrix } from "../../support/storeMatrix.ts"
import { identifiersContract } from "./RestIdentifiers.contract.ts"

storeMatrix(identifiersContract)
