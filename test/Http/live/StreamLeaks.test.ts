import { describe } from "@effect/vitest"
import { onMongo } from "../../support/mongo.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"
import { streamLeaksContract } from "./StreamLeaks.contract.ts"

embeddedStores(streamLeaksContract)

onMongo("on a server", (layer, { name }) => {
  // Other servers have no images of documents, and change streams keep them from other work.
  describe.skipIf(!name.startsWith("MongoDB"))("with images", () => {
    streamLeaksContract("mongodb", layer, { isEmbedded: false })
  })
})
