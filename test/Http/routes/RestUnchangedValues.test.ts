import { storeMatrix } from "../../support/storeMatrix.ts"
import { unchangedValuesContract } from "./RestUnchangedValues.contract.ts"

storeMatrix(unchangedValuesContract)
