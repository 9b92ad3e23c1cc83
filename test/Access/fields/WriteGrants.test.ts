import { EmbeddedStore } from "../../../src/index.ts"
import { onMongo } from "../../support/mongo.ts"
import { writeGrantsContract } from "./WriteGrants.contract.ts"

writeGrantsContract("memory", EmbeddedStore.layerMemory, 60)
onMongo("on a server", (layer) => writeGrantsContract("mongodb", layer, 15))
