import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { streamLeaksContract } from "./StreamLeaks.contract.ts"

streamLeaksContract("memory", EmbeddedStore.layerMemory)
streamLeaksContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))

onMongo("on a server", (layer, { name }) => {
  // Other servers have no images of documents, and change streams keep them from other work.
  describe.skipIf(!name.startsWith("MongoDB"))("with images", () => {
    streamLeaksContract("mongodb", layer, { isEmbedded: false })
  })
})
