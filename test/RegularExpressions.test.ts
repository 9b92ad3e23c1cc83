/** Regular expressions of the sources: every one of them takes time in proportion to the length of what it is fed. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { parseAst } from "vitest/node"
import { compilePattern } from "../packages/mql/src/text/regularExpression.ts"
import { parseFilterValue } from "../src/Http/query/filterSyntax.ts"
import { threadTime } from "./support/turns.ts"

const length = 65_536

/** In milliseconds. A few are in proportion; where the time is the square, it takes seconds. */
const limit = 400

/** Texts that take their time with expressions that are of this kind, by what makes the difference. */
const prefixes = [
  "",
  "\"",
  "[",
  "a",
  "a@",
  "a@a",
  "/",
  "^",
  "{",
  ":",
  "1",
  "1.",
  "a=\"",
  "a;\"",
  "\\",
  "$pbkdf2-sha256$1$",
  "W/\""
]
const endings = ["", "\u0000", "!b", "\"", ","]

describe("regular expressions", () => {
  it("are all listed, and built from strings only where they match no external input", () => {
    assert.isAbove(literals.length, 80)
    assert.deepStrictEqual([...new Set(constructions)].toSorted(), [
      // Values of documents, which are kept and not matched by.
      "packages/mql/src/bson/decoder.ts",
      "packages/mql/src/bson/normalise.ts",
      // Of the names of the months, and of the days of the week.
      "packages/mql/src/dates/dateText.ts",
      // Of the parts of dates and numbers, for what the document says of them.
      "src/Http/openapi/jsonForms.ts",
      // Of the patterns that models declare, for their JSON schema and its samples.
      "src/Http/openapi/sampleText.ts",
      // Of the names of the codings that a cache may add to an entity tag.
      "src/Http/request/entityTags.ts",
      "src/Model/jsonSchema/dialect.ts",
      "src/Model/jsonSchema/keywords.ts",
      "src/Model/shape/unicodePattern.ts"
    ])
  })

  it("take linear time for their worst-case text", () => {
    const slow: Array<string> = []
    for (const { expression, file } of literals) {
      // Where the time is the square, the whole text takes 64 times as long as an eighth of it.
      const textOf = textsFor(expression).find((textOf) =>
        timeOf(expression, textOf(length / 8)) > limit / 100 && timeOf(expression, textOf(length)) > limit
      )
      if (textOf !== undefined) slow.push(`${file} ${String(expression)} with ${JSON.stringify(textOf(30))}`)
    }
    assert.deepStrictEqual(slow, [])
  })

  it("reading a pattern of a caller takes time in proportion to its length", () => {
    for (const pattern of [`[${")".repeat(32_000)}]|`, "\\pL".repeat(10_000), "+".repeat(32_000), "(".repeat(32_000)]) {
      const before = threadTime()
      compilePattern(pattern, "i")
      assert.isBelow(threadTime() - before, limit, pattern.slice(0, 10))
    }
  })

  it("reading a list from the URL takes time in proportion to its length", () => {
    const worst = [" ", "\"", "\\", ",", "\" ", "\",", "\\\"", " ,", "a ", "\"a ,", "\"\\\",", "\"\"a,"]
    for (const unit of worst) {
      for (const [first, last] of [["", ""], ["a", "b"], ["\"", "b"], ["\"a\"", "b"], ["\"", "\""]]) {
        const before = threadTime()
        parseFilterValue(`[${first}${unit.repeat(length / unit.length)}${last}]`, true)
        assert.isBelow(threadTime() - before, limit, JSON.stringify([first, unit, last]))
      }
    }
  })
})

interface Literal {
  readonly file: string
  readonly expression: RegExp
}

const literals: Array<Literal> = []
const constructions: Array<string> = []

const visit = (file: string, node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  const { callee, regex, type } = node as {
    readonly type?: string
    readonly regex?: { readonly pattern: string; readonly flags: string }
    readonly callee?: { readonly name?: string }
  }
  if (type === "Literal" && regex !== undefined) {
    literals.push({ file, expression: new RegExp(regex.pattern, regex.flags) })
  }
  if ((type === "NewExpression" || type === "CallExpression") && callee?.name === "RegExp") constructions.push(file)
  for (const part of Object.values(node)) visit(file, part)
}

for (const file of globSync("{src,packages/*/src}/**/*.ts")) {
  // oxlint-disable-next-line typescript/no-deprecated -- what replaces it is not exported by the test runner
  visit(file, parseAst(readFileSync(file, "utf8"), { lang: "ts" }))
}

const timeOf = (expression: RegExp, text: string): number => {
  const before = threadTime()
  expression.lastIndex = 0
  if (expression.global) text.replaceAll(expression, "")
  else expression.exec(text)
  return threadTime() - before
}

/** By their length, repetitions of what the expression names itself, and of what most expressions make a difference of. */
const textsFor = (expression: RegExp): ReadonlyArray<(length: number) => string> => {
  const own = [...new Set(expression.source.replaceAll(/\\[a-zA-Z]|[()[\]|?:]/gu, ""))].slice(0, 10)
  const singles = [
    ...new Set([" ", "\t", "\n", "a", "A", "0", ".", "-", "\"", "\\", ",", "{", "\u0301", "(", ")", "]", ...own])
  ]
  const pairs = own.flatMap((first) => ["a", " ", "0", "\\", "\"", ","].map((second) => first + second))
  const starting = prefixes.filter((prefix) => prefix === "" || expression.source.startsWith("^"))
  return [
    ...starting.flatMap((prefix) =>
      singles.flatMap((unit) =>
        (prefix === "" ? endings.slice(0, 3) : ["\u0000"]).map((ending) => (length: number) =>
          prefix + unit.repeat(length) + ending
        )
      )
    ),
    ...pairs.flatMap((unit) => endings.map((ending) => (length: number) => unit.repeat(length / unit.length) + ending))
  ]
}
