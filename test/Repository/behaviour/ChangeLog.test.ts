import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { changeLogContract } from "../contracts/changeLog.ts"
import { repositoryChangesContract } from "../contracts/repositoryChanges.ts"

changeLogContract("memory", EmbeddedStore.layerMemory)
changeLogContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo(
  "on a server",
  (layer, { name }) => changeLogContract("mongodb", layer, { hasImages: name.startsWith("MongoDB"), isEmbedded: false })
)

repositoryChangesContract("memory", EmbeddedStore.layerMemory)
repositoryChangesContract("embedded", freshFolder(EmbeddedStore.layerWith))
// Another server looks up the documents after an update when they are read.
onMongo("on a server", (layer, { name }) => {
  if (name.startsWith("MongoDB")) repositoryChangesContract("mongodb", layer)
})
