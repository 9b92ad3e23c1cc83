import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Deadline } from "../../src/index.ts"
import { millisLeft, withEarlierDeadline } from "../../src/internal/deadline.ts"

describe("a deadline", () => {
  it.effect("passes with the time, also when the wall clock is set, and is the earliest of several", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* millisLeft)
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* millisLeft, 2_000)
        assert.strictEqual(yield* withEarlierDeadline(millisLeft, 3_000), 2_000)
        assert.strictEqual(yield* withEarlierDeadline(millisLeft, 500), 500)
        yield* TestClock.adjust("1500 millis")
        assert.strictEqual(yield* millisLeft, 500)
        yield* TestClock.setTime(0)
        assert.strictEqual(yield* millisLeft, 500)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* millisLeft, 0)
      }).pipe(Deadline.within("2 seconds"))
      assert.deepStrictEqual(yield* Deadline.remaining, Option.none())
    }))
})
