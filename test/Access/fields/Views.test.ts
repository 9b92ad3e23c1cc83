import { EmbeddedStore } from "../../../src/index.ts"
import { onMongo } from "../../support/mongo.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { viewsContract } from "./Views.contract.ts"
import { viewsModelContract } from "./ViewsModel.contract.ts"
import { viewsRacesContract } from "./ViewsRaces.contract.ts"

storeMatrix(viewsContract)

viewsModelContract("memory", EmbeddedStore.layerMemory, 40)
onMongo("on a server", (layer) => viewsModelContract("mongodb", layer, 8))

storeMatrix(viewsRacesContract)
