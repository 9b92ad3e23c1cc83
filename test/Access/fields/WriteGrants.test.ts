import { EmbeddedStore } from "../../../src/index.ts"
import { onMongo } from "../../support/mongo.ts"
import { writeGrantsContract } from "./WriteGrants.contract.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 60)

writeGrantsContract("memory", EmbeddedStore.layerMemory, runs)
onMongo("on a server", (layer) => writeGrantsContract("mongodb", layer, Math.ceil(runs / 4)))
