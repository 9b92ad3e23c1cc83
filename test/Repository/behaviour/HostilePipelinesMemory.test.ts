import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { hostilePipelines } from "../contracts/hostilePipelines.ts"

hostilePipelines("memory", EmbeddedStore.layerMemory)
