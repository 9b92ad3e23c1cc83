import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { streamLeaksContract } from "../contracts/streamLeaks.ts"

streamLeaksContract("memory", EmbeddedStore.layerMemory)
streamLeaksContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
