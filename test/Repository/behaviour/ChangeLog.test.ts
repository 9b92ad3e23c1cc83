import { describe } from "@effect/vitest"
import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { changeLogContract } from "../contracts/changeLog.ts"
import { repositoryChangesContract } from "../contracts/repositoryChanges.ts"

changeLogContract("memory", EmbeddedStore.layerMemory)
changeLogContract("embedded", freshFolder(EmbeddedStore.layerWith))
repositoryChangesContract("memory", EmbeddedStore.layerMemory)
repositoryChangesContract("embedded", freshFolder(EmbeddedStore.layerWith))

onMongo("on a server", (layer, { name }) => {
  // Other servers have no images of documents, and change streams keep them from other work.
  describe.skipIf(!name.startsWith("MongoDB"))("with images", () => {
    changeLogContract("mongodb", layer, { isEmbedded: false })
    repositoryChangesContract("mongodb", layer)
  })
})
