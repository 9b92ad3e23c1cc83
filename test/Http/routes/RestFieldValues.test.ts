import { storeMatrix } from "../../support/storeMatrix.ts"
import { fieldValuesContract } from "./RestFieldValues.contract.ts"

storeMatrix(fieldValuesContract)
