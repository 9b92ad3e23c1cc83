import * as EmbeddedStore from "../src/EmbeddedStore.ts"
import { hostilePipelines } from "./HostilePipelines.contract.ts"

hostilePipelines("memory", EmbeddedStore.layerMemory)
