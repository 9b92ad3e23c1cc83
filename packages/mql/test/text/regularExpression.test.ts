import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result } from "effect"
import { oneOf } from "../../../../test/support/choices.ts"
import { compilePattern } from "../../src/text/regularExpression.ts"

const textOf = (characters: ReadonlyArray<string>, maxLength: number) =>
  Arbitrary.map(Arbitrary.array(oneOf(...characters), { maxLength }), (chosen) => chosen.join(""))

describe("regularExpression", () => {
  it.effect.prop(
    "tests a text as it finds a match in it, whether or not the pattern is only a text",
    [
      textOf(["", "^"], 1),
      textOf(["a", "b", "B", " ", "-", "é", ".", "$"], 4),
      textOf(["i", "m", "s", "x", "u"], 2),
      textOf(["a", "b", "B", " ", "-", "é", "\n"], 12)
    ],
    ([anchor, rest, options, text]) =>
      Effect.sync(() => {
        const { find, test } = Result.getOrThrow(compilePattern(`${anchor}${rest}`, options))
        assert.strictEqual(test(text), find(text, 0) !== undefined)
      }),
    { arbitrary: { runs: 500 } }
  )
})
