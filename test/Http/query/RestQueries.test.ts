import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { aggregationContract } from "./Aggregation.contract.ts"
import { partsContract } from "./Parts.contract.ts"
import { queriesContract } from "./RestQueries.contract.ts"

queriesContract("memory", EmbeddedStore.layerMemory)
queriesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => queriesContract("mongodb", layer))

aggregationContract("memory", EmbeddedStore.layerMemory)
aggregationContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => aggregationContract("mongodb", layer))

partsContract("memory", EmbeddedStore.layerMemory)
partsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => partsContract("mongodb", layer))
