import { storeMatrix } from "../../support/storeMatrix.ts"
import { engineTestContract } from "./EngineTest.contract.ts"

storeMatrix(engineTestContract)
