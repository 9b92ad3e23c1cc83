/** The package's own texts, which no start checks. */
import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { compile } from "../../../src/Http/messages/catalogue.ts"
import { de } from "../../../src/internal/catalogues/de.ts"
import { en } from "../../../src/internal/catalogues/en.ts"

describe("The package's own messages", () => {
  it.each([["en", en], ["de", de]] as const)("in %s have the arguments that there are", (tag, catalogue) => {
    const entries = Object.entries(catalogue).map(([key, text]) => [key, { text, file: "own.json" }] as const)
    assert.isUndefined(Option.getOrUndefined(Result.getFailure(compile(new Map(entries), tag))))
  })
})
