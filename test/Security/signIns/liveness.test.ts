import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Liveness } from "../../../src/Security/signIns/liveness.ts"

describe("the answers of sign-ins", () => {
  it.effect("count no longer than the delay, also when the clock is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(7_200_000)
      const liveness = new Liveness()
      let [asked, hasEnded] = [0, false]
      const ask = Effect.sync(() => {
        asked += 1
        return hasEnded ? undefined : {}
      })
      const check = liveness.check({ id: "S1", subject: "U1" }, 1_000, ask)
      assert.isTrue(yield* check)
      // Another process has ended it.
      hasEnded = true
      yield* TestClock.setTime(3_600_000)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual([yield* check, asked], [true, 1])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual([yield* check, asked], [false, 2])
    }))
})
