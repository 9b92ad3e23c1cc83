import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { updateGrantsContract } from "./UpdateGrants.contract.ts"

updateGrantsContract("memory", EmbeddedStore.layerMemory, 100)
updateGrantsContract("embedded", freshFolder(EmbeddedStore.layerWith), 10)
onMongo("on a server", (layer) => updateGrantsContract("mongodb", layer, 10))
