import { hostilePipelines } from "../../../document-store/test/contracts/hostilePipelines.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

hostilePipelines("memory", EmbeddedStore.layerMemory)
