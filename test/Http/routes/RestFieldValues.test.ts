import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { fieldValuesContract } from "./RestFieldValues.contract.ts"

fieldValuesContract("memory", EmbeddedStore.layerMemory)
fieldValuesContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => fieldValuesContract("mongodb", layer))
