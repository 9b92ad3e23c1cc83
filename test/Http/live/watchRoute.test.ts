import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { watchedChangesContract } from "./watchRoute.contract.ts"

watchedChangesContract("memory", EmbeddedStore.layerMemory)
watchedChangesContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))

onMongo("on a server", (layer, { name }) => {
  // Other servers have no images of documents, and change streams keep them from other work.
  describe.skipIf(!name.startsWith("MongoDB"))("with images", () => {
    watchedChangesContract("mongodb", layer)
  })
})
