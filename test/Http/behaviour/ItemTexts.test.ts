import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { itemTextsContract } from "../contracts/itemTexts.ts"

itemTextsContract("memory", EmbeddedStore.layerMemory, { keeps: true, runs: 20 })
itemTextsContract("embedded", freshFolder(EmbeddedStore.layerWith), { keeps: true, runs: 10 })
onMongo("on a server", (layer) => itemTextsContract("mongodb", layer, { keeps: false, runs: 2 }))
