import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { streamLeaksContract } from "../contracts/streamLeaks.ts"

streamLeaksContract("memory", EmbeddedStore.layerMemory)
streamLeaksContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))

onMongo("on a server", (layer, { name }) => {
  // Another server looks up the documents after an update when they are read.
  streamLeaksContract("mongodb", layer, { hasImages: name.startsWith("MongoDB"), isEmbedded: false })
})
