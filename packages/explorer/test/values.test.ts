/** What the explorer makes of values: numbers as people write them, what is sent, and the problems of parts. */
import { assert, describe, it } from "@effect/vitest"
import type { FieldDescription } from "../../react-admin/src/Description.ts"
import { KernelError } from "../../react-admin/src/KernelError.ts"
import { fromLocalInput, toLocalInput } from "../src/data/dateTime.ts"
import { regional } from "../src/data/formats.ts"
import { jsonOf, Unparsed } from "../src/data/jsonOf.ts"
import { numberOf, separatorsOf } from "../src/data/numberOf.ts"
import { numberText } from "../src/data/numberText.ts"
import { sentenceOf } from "../src/data/sentences.ts"
import { anyProblemAt, isShownAt, problemAt } from "../src/inputs/problems.ts"

describe("Values of the explorer", () => {
  it("are numbers as the reader's language writes them, and text where they would be others", () => {
    const cases: ReadonlyArray<readonly [string, string, unknown]> = [
      ["1,500", "en", 1500],
      ["1,500.25", "en", 1500.25],
      ["1.500", "en", 1.5],
      ["1,5", "en", "1,5"],
      ["12,34,567", "en", "12,34,567"],
      ["1.500", "de", 1500],
      ["1.500,25", "de", 1500.25],
      ["1,500", "de", 1.5],
      ["1,5", "de", 1.5],
      ["1.5", "de", 1.5],
      ["1.5,5", "de", "1.5,5"],
      ["-1.000.000", "de", -1_000_000],
      ["9007199254740991", "en", 9007199254740991],
      ["9007199254740993", "en", "9007199254740993"],
      ["9.007.199.254.740.993", "de", "9.007.199.254.740.993"],
      ["1.250", "de-CH", 1.25],
      ["1'250.50", "de-CH", 1250.5],
      ["-1’234’567.5", "de-CH", -1_234_567.5],
      ["1'25.5", "de-CH", "1'25.5"],
      ["1,250", "de-CH", "1,250"],
      ["1 250,5", "de-AT", 1250.5],
      ["1'250,5", "de", 1250.5],
      ["0x10", "en", "0x10"],
      ["0b1", "en", "0b1"],
      ["Infinity", "en", "Infinity"],
      ["1e400", "en", "1e400"],
      ["12345678901234567.5", "en", "12345678901234567.5"],
      ["0.1", "en", 0.1],
      ["1.10", "en", 1.1],
      [".5", "en", 0.5],
      ["1e3", "en", 1000],
      ["-", "en", "-"],
      ["  ", "en", null]
    ]
    for (const [text, locale, expected] of cases) {
      assert.strictEqual(numberOf(text, separatorsOf(new Intl.NumberFormat(locale))), expected, `${text} in ${locale}`)
    }
  })

  it("are formatted as where the reader is, in the language that is shown", () => {
    assert.strictEqual(regional("en", ["de-CH", "en-GB", "en"]), "en-GB")
    assert.strictEqual(regional("de", ["de-CH", "en-GB", "en"]), "de-CH")
    assert.strictEqual(regional("de", ["en-GB", "dexx"]), "de")
  })

  it("are numbers that have no more than some twenty digits in a row", () => {
    const shown = [1_234.5, 9_007_199_254_740_991, 1e20, 1e21, -1e300, 0.000001, 1.5e-7, 0].map((value) =>
      numberText("en", value)
    )
    assert.deepStrictEqual(shown, [
      "1,234.5",
      "9,007,199,254,740,991",
      "100,000,000,000,000,000,000",
      "1E21",
      "-1E300",
      "0.000001",
      "1.5E-7",
      "0"
    ])
    assert.deepStrictEqual([numberText("en", 3, 2), numberText("en", 3e30, 2)], ["3.00", "3E30"])
  })

  it("are JSON whose numbers are kept as they were written", () => {
    const kept = ["9007199254740991", "0.1", "-1.50", "1e300", "0.10000000000000001", "1e23", "0", "-0.00", "5e-324"]
    for (const text of kept) assert.deepStrictEqual(jsonOf(`{"a":[${text}]}`), { a: [Number(text)] }, text)
    for (
      const text of ["12345678901234567890", "9007199254740993", "12345678901234567.5", "1e400", "1e-400"]
    ) {
      assert.deepStrictEqual(jsonOf(`[${text}]`), new Unparsed(`[${text}]`, "inexact"), text)
    }
    assert.deepStrictEqual(jsonOf("\"12345678901234567890\""), "12345678901234567890")
    assert.deepStrictEqual(jsonOf("{"), new Unparsed("{", "noJson"))
    assert.isNull(jsonOf(" "))
  })

  it("are times that stay as they are until somebody enters another one", () => {
    const { TZ } = process.env
    process.env["TZ"] = "Europe/Zurich"
    try {
      // On this day, the hour from two to three comes twice.
      const first = "2026-10-25T00:30:00.250Z"
      const second = "2026-10-25T01:30:00.250Z"
      const text = "2026-10-25T02:30"
      assert.deepStrictEqual([toLocalInput(first), toLocalInput(second)], [text, text])
      assert.deepStrictEqual([fromLocalInput(text, first), fromLocalInput(text, second)], [first, second])
      assert.strictEqual(fromLocalInput(`${text}:00`, second), second)
      assert.strictEqual(fromLocalInput("2026-10-25T02:31", second), "2026-10-25T01:31:00.000Z")
      assert.strictEqual(fromLocalInput("2026-10-25T02:31", first), "2026-10-25T00:31:00.000Z")
      assert.strictEqual(fromLocalInput("2026-07-01T12:00", second), "2026-07-01T10:00:00.000Z")
      assert.strictEqual(fromLocalInput("2026-03-29T02:30", second), "2026-03-29T01:30:00.000Z")
      assert.strictEqual(fromLocalInput(text), "2026-10-25T00:30:00.000Z")
      assert.strictEqual(fromLocalInput("2026-10-26T02:30", null), "2026-10-26T01:30:00.000Z")
      assert.isNull(fromLocalInput("", second))
    } finally {
      if (TZ === undefined) delete process.env["TZ"]
      else process.env["TZ"] = TZ
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
    const translate = (key: string) => `translated ${key}`
    assert.strictEqual(sentenceOf(error, translate), "Not valid is empty the sum is 3")
    assert.strictEqual(sentenceOf(new KernelError(0, "Failed to fetch"), translate), "translated explorer.unreachable")
  })
})
