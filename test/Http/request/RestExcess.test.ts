import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { excessContract } from "./RestExcess.contract.ts"

excessContract("memory", EmbeddedStore.layerMemory)
excessContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => excessContract("mongodb", layer))
