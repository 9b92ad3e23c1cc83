import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { unstorableContract } from "./RestUnstorable.contract.ts"

unstorableContract("memory", EmbeddedStore.layerMemory)
unstorableContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => unstorableContract("mongodb", layer))
