import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { asUnicode } from "../../../src/Model/shape/unicodePattern.ts"

const parts = [
  "^",
  "$",
  "a",
  "b",
  "@",
  "-",
  ".",
  "[^a]",
  "[^@]",
  "[ab]",
  "\\w",
  "\\S",
  "\\W",
  "\\b",
  "\\B",
  "+",
  "*",
  "?",
  "{2}",
  "{1,}",
  "(",
  "(?:",
  "(?=",
  "(?!",
  "(?<=",
  ")",
  "|",
  "🔑",
  "\\u{61}",
  "\\1"
] as const

const key = "🔑"

describe("A pattern without the flag `u`", () => {
  it.each([
    /^[A-Z]{3}-\d{4}$/,
    /^(?:[a-z]+|\w\s)?$/,
    /^[^@]+@[^@]+$/,
    /^(?=.*[A-Z])(?=.*\d).+$/,
    /^.*$/,
    /^\S+$/,
    /^https?:\/\/[^/]+\/.*$/,
    /^é+$/,
    /^\u00e9[\x20-\x7e]*$/
  ])("means the same with it: %s", (pattern) => {
    assert.strictEqual(asUnicode(pattern).flags, "u")
    assert.strictEqual(asUnicode(pattern).source, pattern.source)
  })

  it.each([
    /^a$/i,
    /^a$/m,
    /^.$/,
    /^.{3}$/,
    /^[^a]b$/,
    /^.+[^a]$/,
    /^.+x?.+$/,
    /^[^b]+(?!b)/,
    /^[^b]+\B/,
    new RegExp(String.raw`^\p{L}$`),
    new RegExp(String.raw`^\-$`),
    /^🔑+$/,
    new RegExp(`^[${key}]$`),
    /(.)\1/
  ])(
    "is left as it is where it may mean something else: %s",
    (pattern) => assert.strictEqual(asUnicode(pattern), pattern)
  )

  it.prop(
    "takes the same texts with it, wherever it is given it",
    [Schema.Array(Schema.Literals(parts)), Schema.Array(Schema.Literals(["a", "b", "@", "-", "é", "🔑", "🔒", "\n"]))],
    ([parts, characters]) => {
      const made = Result.try(() => new RegExp(parts.join("")))
      if (Result.isFailure(made)) return
      const [pattern, text] = [made.success, characters.join("")]
      assert.strictEqual(asUnicode(pattern).test(text), pattern.test(text), `${pattern.source} and ${text}`)
    },
    { arbitrary: { runs: 2000 } }
  )
})
