/** What the explorer makes of values: numbers as people write them, what is sent, and the problems of parts. */
import { assert, describe, it } from "@effect/vitest"
import type { FieldDescription } from "../../react-admin/src/Description.ts"
import { KernelError } from "../../react-admin/src/KernelError.ts"
import { numberOf } from "../src/data/numberOf.ts"
import { sentenceOf } from "../src/data/sentences.ts"
import { anyProblemAt, isShownAt, problemAt } from "../src/inputs/problems.ts"

describe("Values of the explorer", () => {
  it("are numbers as the reader's language writes them, and text where they would be others", () => {
    const cases: ReadonlyArray<readonly [string, string, unknown]> = [
      ["1,500", ".", 1500],
      ["1,500.25", ".", 1500.25],
      ["1.500", ".", 1.5],
      ["1,5", ".", "1,5"],
      ["12,34,567", ".", "12,34,567"],
      ["1.500", ",", 1500],
      ["1.500,25", ",", 1500.25],
      ["1,500", ",", 1.5],
      ["1,5", ",", 1.5],
      ["1.5", ",", 1.5],
      ["1.5,5", ",", "1.5,5"],
      ["-1.000.000", ",", -1_000_000],
      ["9007199254740991", ".", 9007199254740991],
      ["9007199254740993", ".", "9007199254740993"],
      ["9.007.199.254.740.993", ",", "9.007.199.254.740.993"],
      ["1e3", ".", 1000],
      ["-", ".", "-"],
      ["  ", ".", null]
    ]
    for (const [text, point, expected] of cases) {
      assert.strictEqual(numberOf(text, point), expected, `${text} with ${point}`)
    }
  })

  it("have the problems of their parts where these have no inputs of their own", () => {
    const errors = {
      extra: { size: [undefined, { width: { message: "too small", ref: {} } }] },
      name: { message: "no" }
    }
    assert.strictEqual(problemAt(errors, "extra"), undefined)
    assert.strictEqual(anyProblemAt(errors, "extra"), "too small")
    assert.strictEqual(anyProblemAt(errors, "name"), "no")
    assert.strictEqual(anyProblemAt(errors, "other"), undefined)
  })

  it("have inputs that show their problems, but for what nobody enters, and lists of models and files", () => {
    const of = (name: string, more: Partial<FieldDescription> = {}): FieldDescription => ({
      name,
      path: name,
      label: name,
      type: "text",
      isRequired: false,
      isNullable: false,
      isReadOnly: false,
      isWriteOnly: false,
      isSetOnCreate: true,
      isSetOnUpdate: true,
      isFilterable: false,
      isSortable: false,
      ...more
    })
    const file = of("", { type: "file", file: { types: [], sizes: [] } })
    const line = [of("title"), of("sum", { isSetOnUpdate: false })]
    const fields = [
      of("name"),
      of("constructor"),
      of("code", { isSetOnUpdate: false }),
      of("extra", { type: "json" }),
      of("spot", { type: "model", fields: line }),
      of("tags", { type: "list", items: of("") }),
      of("free", { type: "list" }),
      of("sheets", { type: "list", items: file }),
      of("lines", { type: "list", items: of("", { type: "model", fields: line }) })
    ]
    const cases = {
      name: true,
      "name.0": false,
      constructor: false,
      code: true,
      other: false,
      "extra.deep.0": true,
      "spot.title": true,
      "spot.sum": false,
      "spot.other": false,
      "tags.1": true,
      "tags.x": false,
      "free.1": true,
      sheets: true,
      "sheets.1": false,
      lines: true,
      "lines.1": false,
      "lines.1.title": true,
      "lines.1.sum": false
    }
    for (const [path, expected] of Object.entries(cases)) {
      assert.strictEqual(isShownAt(fields, path, true), expected, path)
    }
    assert.isFalse(isShownAt(fields, "code", false))
  })

  it("are refused in sentences, with what is about no field", () => {
    const error = new KernelError(400, "Not valid", {
      errors: { name: "is empty", "root.serverError": "the sum is 3" }
    })
    assert.strictEqual(sentenceOf(error), "Not valid is empty the sum is 3")
  })
})
