import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeStopwatch } from "../../src/shared/timeLimit.ts"

describe("the time limit of a read", () => {
  it.effect("is the time that passes in the store, also when the clock is set", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(7_200_000)
      const stopwatch = makeStopwatch(yield* Clock.Clock, "2 seconds")
      stopwatch.start()
      yield* TestClock.setTime(3_600_000)
      assert.strictEqual(stopwatch.left(), 2_000)
      yield* TestClock.adjust("500 millis")
      stopwatch.stop()
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(stopwatch.left(), 1_500)
      stopwatch.start()
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("1500 millis")
      assert.isTrue(stopwatch.isOver())
    }))
})
