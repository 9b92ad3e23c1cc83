import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../../support/folders.ts"
import { changeLogContract } from "../contracts/changeLog.ts"

changeLogContract("memory", EmbeddedStore.layerMemory)
changeLogContract("embedded", freshFolder(EmbeddedStore.layerWith))
