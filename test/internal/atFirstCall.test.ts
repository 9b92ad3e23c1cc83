import { assert, it } from "@effect/vitest"
import { atFirstCall } from "../../src/internal/atFirstCall.ts"

it("atFirstCall makes a function when it is first called, once, and gives it all arguments", () => {
  const made: Array<string> = []
  const sum = atFirstCall(() => {
    made.push("sum")
    return (first: number, second?: number) => first + (second ?? 1)
  })
  assert.deepStrictEqual(made, [])
  assert.strictEqual(sum(1, 2), 3)
  assert.strictEqual(sum(1), 2)
  assert.deepStrictEqual(made, ["sum"])
})
