import { it } from "@effect/vitest"
import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { changesContract, languageContract } from "../contracts/documentStore/language.ts"

it.layer(EmbeddedStore.layerMemory)("MongoDB's language / memory", (it) => {
  languageContract(it)
  changesContract(it)
})
