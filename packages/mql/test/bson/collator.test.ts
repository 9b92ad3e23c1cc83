import type { Collation } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { either } from "../../../../test/support/choices.ts"
import { anyCollation, text } from "../../../../test/support/collations.ts"
import type { Collator } from "../../src/bson/collator.ts"
import { EqualTexts } from "../../src/bson/equalTexts.ts"
import { ValueSet } from "../../src/bson/valueSet.ts"
import { parseCollation } from "../../src/text/collation.ts"

const collatorOf = (collation: Collation): Collator => {
  const collator = Result.getOrThrow(parseCollation(collation))
  assert.isDefined(collator)
  return collator
}

const anyText = either(text, text, Arbitrary.map(Arbitrary.schema(Schema.String), (text) => text.toWellFormed()))

describe("a collator", () => {
  it.effect.prop(
    "gives equal texts the same key, and no text a lesser one than the texts before it",
    [anyCollation, anyText, anyText],
    ([{ mongo }, a, b]) =>
      Effect.sync(() => {
        const collator = collatorOf(mongo)
        const [x, y] = [collator.keyOf(a), collator.keyOf(b)]
        const order = collator.compareTexts(a, b)
        if (order === 0) assert.strictEqual(x, y)
        else assert.isTrue(order < 0 ? x <= y : x >= y)
        // None begins like another one, so that keys of several fields are in order, too.
        assert.isTrue(x === y || !y.startsWith(x))
      }),
    { arbitrary: { runs: 300 } }
  )

  it("has different keys for most different words", () => {
    const collator = collatorOf({ locale: "en", strength: 2 })
    const words = [
      "jan@example.org",
      "jane@example.org",
      "Jan.Smith@example.org",
      "Ян",
      "Яна",
      "김철수",
      "이영희",
      "王",
      "李",
      "item 1",
      "item 2",
      `${"long ".repeat(20)}a`,
      `${"long ".repeat(20)}b`
    ]
    assert.strictEqual(new Set(words.map((word) => collator.keyOf(word))).size, words.length)
    assert.strictEqual(collator.keyOf("JANE@example.org"), collator.keyOf("jane@Example.org"))
  })

  it.effect.prop(
    "makes a set of values that has each once, whatever their order",
    [anyCollation, Arbitrary.array(anyText, { maxLength: 30 }), Arbitrary.array(anyText, { maxLength: 5 })],
    ([{ mongo }, texts, others]) =>
      Effect.sync(() => {
        const collator = collatorOf(mongo)
        const values = texts.map((text, i) => i % 3 === 0 ? [text, { text }] : text)
        const set = new ValueSet([], collator)
        const added = values.filter((value) => set.add(value))
        const different = values.filter((value, i) =>
          !values.slice(0, i).some((other) => collator.equals(other, value))
        )
        assert.deepStrictEqual(added, different)
        for (const other of others) {
          assert.strictEqual(set.has(other), values.some((value) => collator.equals(value, other)))
        }
      })
  )

  it("finds each of many different texts", () => {
    const texts = new EqualTexts(collatorOf({ locale: "en", strength: 1 }))
    const words = Array.from({ length: 3000 }, (_, i) => `${(i * 7919) % 3000} word`)
    for (const word of words) assert.strictEqual(texts.add(word), word)
    for (const word of words) assert.strictEqual(texts.find(word.toUpperCase()), word)
    assert.strictEqual(texts.find("another"), "another")
  })
})

describe("a collation", () => {
  it.each<[string, Collation]>([
    ["a collation of strength 4", { locale: "en", strength: 4 }],
    ["a collation of strength 5", { locale: "en", strength: 5 }],
    ["a collation of strength 2 with a caseLevel", { locale: "en", strength: 2, caseLevel: true }],
    ["a collation whose maxVariable is space", { locale: "en", alternate: "shifted", maxVariable: "space" }],
    ["a collation of \"fr\" whose backwards is true", { locale: "fr", backwards: true }],
    ["a collation of \"fr_CA\" whose backwards is false", { locale: "fr_CA", backwards: false }],
    ["a collation of the locale \"de@collation=search\"", { locale: "de@collation=search" }],
    ["a collation of the locale \"en_US_POSIX\"", { locale: "en_US_POSIX" }]
  ])("that Intl can't compare by is refused by name: %s", (text, collation) => {
    assert.deepStrictEqual(parseCollation(collation), Result.fail({ kind: "unsupported", text }))
  })

  it("of Canadian French compares accents from the end", () => {
    const { compareTexts } = collatorOf({ locale: "fr_CA", backwards: true })
    assert.deepStrictEqual(["côté", "coté", "côte", "cote"].toSorted(compareTexts), ["cote", "côte", "coté", "côté"])
  })
})
