import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { inFuture, onMongo } from "../support/mongo.ts"
import { tokensContract } from "./Tokens.contract.ts"

tokensContract("memory", EmbeddedStore.layerMemory)
tokensContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (store) => tokensContract("mongodb", inFuture(store)))
