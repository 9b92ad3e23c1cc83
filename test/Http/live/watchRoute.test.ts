import { describe } from "@effect/vitest"
import { onMongo } from "../../support/mongo.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"
import { watchedChangesContract } from "./watchRoute.contract.ts"

embeddedStores(watchedChangesContract)

onMongo("on a server", (layer, { name }) => {
  // Other servers have no images of documents, and change streams keep them from other work.
  describe.skipIf(!name.startsWith("MongoDB"))("with images", () => {
    watchedChangesContract("mongodb", layer)
  })
})
