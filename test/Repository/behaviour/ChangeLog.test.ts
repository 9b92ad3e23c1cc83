import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../../support/folders.ts"
import { changeLogContract } from "../contracts/changeLog.ts"
import { repositoryChangesContract } from "../contracts/repositoryChanges.ts"

changeLogContract("memory", EmbeddedStore.layerMemory)
changeLogContract("embedded", freshFolder(EmbeddedStore.layerWith))

repositoryChangesContract("memory", EmbeddedStore.layerMemory)
repositoryChangesContract("embedded", freshFolder(EmbeddedStore.layerWith))
