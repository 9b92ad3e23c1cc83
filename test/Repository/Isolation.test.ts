import { isolationContract } from "../../packages/document-store/test/Isolation.contract.ts"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"

isolationContract("memory", EmbeddedStore.layerMemory, { isSerializable: true })
isolationContract("embedded", freshFolder(EmbeddedStore.layerWith), { isSerializable: true })
onMongo("on a server", (layer) => isolationContract("mongodb", layer, { isSerializable: false }))
