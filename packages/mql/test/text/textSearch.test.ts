import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { beginEvaluation } from "../../src/limits/costBudget.ts"
import { catchRejection } from "../../src/limits/queryProblem.ts"
import { indexedWords, parseTextSearch } from "../../src/text/textSearch.ts"

describe("textSearch", () => {
  const fields = [{ path: ["title"], weight: 10 }, { path: ["parts", "text"], weight: 1 }]

  const words = (document: Document) => Array.from(indexedWords(document, fields))

  const search = ($search: string, options: Document = {}) => parseTextSearch({ $search, ...options })

  const matches = (text: string, $search: string, options: Document = {}) =>
    search($search, options).matches({ title: text }, fields)

  it("indexes the words of all texts at its paths, without case and diacritics", () => {
    assert.deepStrictEqual(words({ title: "Crème brûlée, ÉTÉ 2024!", other: "no" }), ["creme", "brulee", "ete", "2024"])
    assert.deepStrictEqual(
      words({ parts: [{ text: ["one", 2, "two"] }, { text: { three: "no" } }, { text: "four" }] }),
      [
        "one",
        "two",
        "four"
      ]
    )
    assert.deepStrictEqual(words({ title: 5, parts: { text: "" } }), [])
  })

  it("splits words at characters other than letters, digits, marks and underscores", () => {
    assert.deepStrictEqual(words({ title: "e-mail jane.doe@example.com, l'été; snake_case" }), [
      "e",
      "mail",
      "jane",
      "doe",
      "example",
      "com",
      "l",
      "ete",
      "snake_case"
    ])
  })

  it("splits text without spaces into words", () => {
    assert.includeMembers(words({ title: "東京都に住んでいます" }), ["東京"])
    assert.isTrue(matches("東京都に住んでいます", "東京"))
    // A vowel of Hindi is a mark, but no diacritic.
    assert.deepStrictEqual(words({ title: "हिन्दी İstanbul" }).at(-1), "istanbul")
    assert.isFalse(matches("की", "कि"))
  })

  it.each<[string, string, boolean]>([
    ["green tea", "tea", true],
    ["green tea", "TÉA coffee", true],
    ["green tea", "te", false],
    ["green tea", "", false],
    ["green tea", "!?", false],
    ["green tea", "tea -green", false],
    ["green tea", "-coffee", false],
    ["green tea", "tea -coffee", true],
    ["green-tea", "black-tea", true],
    ["green tea", "coffee-tea", true],
    ["green tea", "\"green tea\"", true],
    ["green tea", "\"tea green\"", false],
    ["green tea", "coffee \"green tea\"", true],
    ["green tea", "tea \"black tea\"", false],
    ["green tea", "\"green\" \"tea\"", true],
    ["green tea", "\"green\" \"black\"", false],
    ["green tea", "tea -\"green tea\"", false],
    ["green tea", "tea -\"black tea\"", true],
    ["green tea", "\"green tea", true],
    ["green teas", "\"green tea\" teas", true],
    ["grëen, tea", "\"green tea\"", false],
    ["grëen tea", "\"GREEN TEA\"", true]
  ])("of \"%s\", \"%s\" finds it: %s", (text, $search, isMatch) => {
    assert.strictEqual(matches(text, $search), isMatch)
  })

  it("distinguishes case and diacritics on request", () => {
    assert.isTrue(matches("Été", "été"))
    assert.isFalse(matches("Été", "été", { $caseSensitive: true }))
    assert.isTrue(matches("Été", "Ete", { $caseSensitive: true }))
    assert.isFalse(matches("Été", "ete", { $diacriticSensitive: true }))
    assert.isTrue(matches("Été", "été", { $diacriticSensitive: true }))
    assert.isFalse(matches("Été", "\"été\"", { $caseSensitive: true, $diacriticSensitive: true }))
    assert.isTrue(matches("Green tea", "tea -green", { $caseSensitive: true }))
    assert.isTrue(matches("Green tea", "tea -\"green\"", { $caseSensitive: true }))
    // However it is written.
    assert.isTrue(matches("E\u0301te\u0301", "Été", { $caseSensitive: true, $diacriticSensitive: true }))
  })

  it("scores like MongoDB, by a word's frequency, its share of the text, and its field's weight", () => {
    const score = (document: Document, text: string) => search(text).score(document, fields)
    assert.strictEqual(score({ title: "tea" }, "tea"), 10 * 1.1)
    assert.strictEqual(score({ title: "green tea" }, "tea"), 7.5)
    assert.strictEqual(score({ parts: { text: "green tea" } }, "green tea coffee"), 1.5)
    assert.strictEqual(score({ parts: { text: "tea tea coffee" } }, "tea"), 1.5 * (0.5 * 2 / 3 + 0.5))
    assert.strictEqual(score({ title: "coffee" }, "tea"), 0)
  })

  it("scores many words in a long text", () => {
    const text = Array.from({ length: 200_000 }, (_, i) => `x${i}`).join(" ")
    const many = Array.from({ length: 200_000 }, (_, i) => `w${i}`).join(" ")
    // To compare each word with each would take minutes.
    const score = search(`x7 ${many}`).score({ title: text }, fields)
    assert.strictEqual(score, search("x7").score({ title: text }, fields))
  })

  it("limits the phrases that it looks for in a text", () => {
    const text = "green tea ".repeat(50_000)
    const phrases = (count: number) => Array.from({ length: count }, (_, i) => `-"tea ${i}"`).join(" ")
    const found = (count: number) => {
      beginEvaluation()
      return catchRejection(() => matches(text, `tea ${phrases(count)}`))
    }
    assert.deepStrictEqual(found(10), Result.succeed(true))
    assert.isTrue(Result.isFailure(found(1000)))
    beginEvaluation()
    assert.isTrue(matches(text, `"tea" ${"\"green tea\" ".repeat(1000)}`))
  })

  it("takes a phrase of any number of words", () => {
    assert.strictEqual(search(`"${"tea green ".repeat(100_000)}"`).words.length, 2)
  })

  it.each<[unknown]>([
    ["tea"],
    [{}],
    [{ $search: 5 }],
    [{ $search: "tea", $foo: 1 }],
    [{ $search: "tea", $caseSensitive: 1 }],
    [{ $search: "tea", $language: 1 }]
  ])("refuses %j", (operand) => {
    assert.isTrue(Result.isFailure(catchRejection(() => parseTextSearch(operand))))
  })
})
