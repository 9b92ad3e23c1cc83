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
  const hasImages = name.startsWith("MongoDB")
  changeLogContract("mongodb", layer, { hasImages, isEmbedded: false })
  // Another server looks up the documents after an update when they are read.
  if (hasImages) repositoryChangesContract("mongodb", layer)
})
