import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { callerRulesContract } from "./contracts/callerRules.ts"

callerRulesContract("memory", EmbeddedStore.layerMemory)
callerRulesContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (layer) => callerRulesContract("mongodb", layer))
