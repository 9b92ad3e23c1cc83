import { EmbeddedStore } from "../../../../src/index.ts"
import { freshFolder } from "../../../support/folders.ts"
import { onMongo } from "../../../support/mongo.ts"
import { viewsContract } from "../../contracts/views.ts"
import { viewsModelContract } from "../../contracts/viewsModel.ts"
import { viewsRacesContract } from "../../contracts/viewsRaces.ts"

viewsContract("memory", EmbeddedStore.layerMemory)
viewsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => viewsContract("mongodb", layer))

viewsModelContract("memory", EmbeddedStore.layerMemory, 60)
onMongo("on a server", (layer) => viewsModelContract("mongodb", layer, 8))

viewsRacesContract("memory", EmbeddedStore.layerMemory)
viewsRacesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => viewsRacesContract("mongodb", layer))
