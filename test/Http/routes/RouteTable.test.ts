import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { routeTableContract } from "./RouteTable.contract.ts"

routeTableContract("memory", EmbeddedStore.layerMemory)
routeTableContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("routes on a server", (store) => routeTableContract("mongodb", store))
