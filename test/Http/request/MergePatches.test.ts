import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { mergePatchesContract } from "./MergePatches.contract.ts"

mergePatchesContract("memory", EmbeddedStore.layerMemory)
mergePatchesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => mergePatchesContract("mongodb", layer))
