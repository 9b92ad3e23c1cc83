import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { longQueriesContract } from "./LongQueries.contract.ts"
import { hostileContract } from "./RestHostile.contract.ts"

hostileContract("memory", EmbeddedStore.layerMemory)
hostileContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => hostileContract("mongodb", layer))

// A server of its own looks for itself; these two run where requests are answered.
longQueriesContract("memory", EmbeddedStore.layerMemory)
longQueriesContract("embedded", freshFolder(EmbeddedStore.layerWith))
