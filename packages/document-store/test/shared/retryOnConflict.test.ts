import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { makeRetry, RetryClock } from "../../src/shared/retryOnConflict.ts"

describe("retries", () => {
  it.effect("end after 30 seconds, also when the clock is set back all the time", () =>
    Effect.gen(function*() {
      let [millis, attempts] = [0, 0]
      const clock: Clock.Clock = {
        ...yield* Clock.Clock,
        currentTimeMillisUnsafe: () => -millis,
        monotonicTimeNanosUnsafe: () => BigInt(Math.round(millis * 1e6)),
        sleep: (duration) =>
          Effect.suspend(() => {
            // The end of a turn, which is none of these retries, never comes.
            if (Duration.toMillis(duration) >= 1_000) return Effect.never
            millis += Duration.toMillis(duration)
            return Effect.yieldNow
          })
      }
      const write = Effect.suspend(() => {
        attempts += 1
        return attempts < 1_000 ? Effect.fail("conflict") : Effect.succeed("written")
      })
      const result = makeRetry()("a", () => true, write)
      assert.strictEqual(yield* Effect.flip(Effect.provideService(result, RetryClock, clock)), "conflict")
      assert.isAtLeast(millis, 30_000)
    }))
})
