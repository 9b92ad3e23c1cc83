import { routeStores } from "../../support/storeMatrix.ts"
import { engineTestContract } from "./EngineTest.contract.ts"

routeStores(engineTestContract)
