import { EmbeddedStore } from "../../../src/index.ts"
import { onMongo } from "../../support/mongo.ts"
import { writeGrantsContract } from "./WriteGrants.contract.ts"

writeGrantsContract("memory", EmbeddedStore.layerMemory, 120)
onMongo("on a server", (layer) => writeGrantsContract("mongodb", layer, 15))
