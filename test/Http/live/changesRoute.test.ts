import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { changesContract } from "../contracts/changes.ts"

changesContract("memory", EmbeddedStore.layerMemory)
changesContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))

onMongo("on a server", (layer, { name }) => {
  // Another server looks up the documents after an update when they are read.
  changesContract("mongodb", layer, { hasImages: name.startsWith("MongoDB") })
})
