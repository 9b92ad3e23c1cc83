import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { handlerRowsContract } from "./HandlerRows.contract.ts"

handlerRowsContract("memory", EmbeddedStore.layerMemory)
handlerRowsContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (layer) => handlerRowsContract("mongodb", layer))
