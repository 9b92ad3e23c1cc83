import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { listItemsContract } from "./ListItems.contract.ts"

listItemsContract("memory", EmbeddedStore.layerMemory, 20)
listItemsContract("embedded", freshFolder(EmbeddedStore.layerWith), 10)
onMongo("on a server", (layer) => listItemsContract("mongodb", layer, 2))
