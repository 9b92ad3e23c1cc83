import { Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { inFuture, onMongo } from "../support/mongo.ts"
import { signInsContract } from "./SignIns.contract.ts"

signInsContract("memory", EmbeddedStore.layerMemory)
signInsContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
onMongo("on a server", (store) => signInsContract("mongodb", inFuture(store)))
