import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { auditLogContract } from "./auditLog.contract.ts"

auditLogContract("memory", EmbeddedStore.layerMemory)
auditLogContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (layer) => auditLogContract("mongodb", layer))
