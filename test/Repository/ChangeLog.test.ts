import { changeLogContract } from "../../packages/document-store/test/ChangeLog.contract.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { differencesOf } from "../support/serverDifferences.ts"
import { repositoryChangesContract } from "./RepositoryChanges.contract.ts"

changeLogContract("memory", EmbeddedStore.layerMemory)
changeLogContract("embedded", freshFolder(EmbeddedStore.layerWith))
repositoryChangesContract("memory", EmbeddedStore.layerMemory)
repositoryChangesContract("embedded", freshFolder(EmbeddedStore.layerWith))

onMongo("on a server", (layer, server) => {
  changeLogContract("mongodb", layer, { isEmbedded: false, differs: differencesOf(server) })
  repositoryChangesContract("mongodb", layer)
})
