/** What the explorer makes of values: numbers as people write them, what is sent, and the problems of parts. */
import { assert, describe, it } from "@effect/vitest"
import { KernelError } from "../../react-admin/src/KernelError.ts"
import { numberOf } from "../src/data/numberOf.ts"
import { sentenceOf } from "../src/data/sentences.ts"
import { anyProblemAt, problemAt } from "../src/inputs/problems.ts"

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

  it("are refused in sentences, with what is about no field", () => {
    const error = new KernelError(400, "Not valid", {
      errors: { name: "is empty", "root.serverError": "the sum is 3" }
    })
    assert.strictEqual(sentenceOf(error), "Not valid is empty the sum is 3")
  })
})
