import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Result } from "effect"
import { catchRejection } from "../../src/limits/queryProblem.ts"
import { remainderCondition } from "../../src/predicate/comparisonOperators.ts"

const long = (text: string) => Long.fromString(text)
const decimal = (text: string) => Decimal128.fromString(text)

describe("$mod of filters", () => {
  it.each<readonly [value: unknown, divisor: unknown, rest: unknown, matches: boolean]>([
    [7, 4, 3, true],
    [-7, 4, -3, true],
    [-4, 4, 0, true],
    [7.9, 4, 3, true],
    [7, 4.9, 3.2, true],
    [long("9007199254740993"), 2, 1, true],
    [long("9007199254740993"), long("9007199254740993"), 0, true],
    [2 ** 53, long("9007199254740993"), 0, false],
    [long("-9223372036854775808"), -1, 0, true],
    [decimal("10000000000000000001.5"), 3, 0, false],
    [decimal("1000000000000000001.5"), 2, 1, true],
    [decimal("9E6111"), 2, 0, false],
    [1e300, 2, 0, false],
    [NaN, 2, 0, false],
    [-Infinity, 2, 0, false],
    ["4", 2, 0, false]
  ])("%s mod %s is %s: %s", (value, divisor, rest, matches) => {
    assert.strictEqual(remainderCondition([divisor, rest])(value), matches)
  })

  it.each<[unknown, unknown]>([[0, 1], [0.5, 1], [NaN, 1], [2, Infinity], [1e300, 1], [2, decimal("1E30")], ["2", 1]])(
    "refuses a divisor %s with a remainder %s",
    (...operand) => {
      assert.isTrue(Result.isFailure(catchRejection(() => remainderCondition(operand))))
    }
  )
})
