import { Layer } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { changesContract } from "../contracts/changes.ts"

changesContract("memory", EmbeddedStore.layerMemory)
changesContract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
