import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { viewsContract } from "./Views.contract.ts"
import { viewsModelContract } from "./ViewsModel.contract.ts"
import { viewsRacesContract } from "./ViewsRaces.contract.ts"

viewsContract("memory", EmbeddedStore.layerMemory)
viewsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => viewsContract("mongodb", layer))

viewsModelContract("memory", EmbeddedStore.layerMemory, 60)
onMongo("on a server", (layer) => viewsModelContract("mongodb", layer, 8))

viewsRacesContract("memory", EmbeddedStore.layerMemory)
viewsRacesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => viewsRacesContract("mongodb", layer))
