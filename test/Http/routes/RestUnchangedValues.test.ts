import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { unchangedValuesContract } from "./RestUnchangedValues.contract.ts"

unchangedValuesContract("memory", EmbeddedStore.layerMemory)
unchangedValuesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => unchangedValuesContract("mongodb", layer))
