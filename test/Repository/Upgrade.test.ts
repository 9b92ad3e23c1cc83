import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { versionsContract } from "./contracts/versions.ts"

versionsContract("memory", EmbeddedStore.layerMemory)
versionsContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => versionsContract("mongodb", layer))
