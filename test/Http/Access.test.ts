import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { accessContract } from "./contracts/access.ts"

accessContract("memory", EmbeddedStore.layerMemory)
accessContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (layer) => accessContract("mongodb", layer))
