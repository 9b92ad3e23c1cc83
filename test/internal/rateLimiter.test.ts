import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import { makeQuotas, type Rate } from "../../src/internal/rateLimiter.ts"

const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A bucket that gains one token each time that its part of the window has passed, in fractions. */
const bucketOf = ({ limit }: Rate, windowMillis: number) => {
  // Tokens in parts of `windowMillis`, so that all numbers are integers.
  let parts = limit * windowMillis
  return {
    pass: (millis: number) => {
      parts = Math.min(limit * windowMillis, parts + millis * limit)
    },
    take: () => {
      if (parts < windowMillis) return { isExceeded: true, retryAfter: Math.ceil((windowMillis - parts) / limit) }
      parts -= windowMillis
      return { isExceeded: false, retryAfter: 0 }
    },
    giveBack: () => {
      parts = Math.min(limit * windowMillis, parts + windowMillis)
    },
    get remaining() {
      return Math.floor(parts / windowMillis)
    },
    get resetAfter() {
      return Math.ceil((limit * windowMillis - parts) / limit)
    }
  }
}

describe("quotas in memory", () => {
  it.effect.prop(
    "are those of a token bucket, for any limit and window, and any times",
    [
      integer(1, 12),
      integer(1_000, 5_000),
      Schema.Array(Schema.Struct({ wait: integer(0, 1_500), isReturned: Schema.Boolean }))
    ],
    ([limit, window, steps]) =>
      Effect.gen(function*() {
        const { giveBack, take } = yield* makeQuotas
        const rate = { limit, window }
        const bucket = bucketOf(rate, window)
        for (const { isReturned, wait } of steps) {
          yield* TestClock.adjust(wait)
          bucket.pass(wait)
          const { isExceeded, remaining, resetAfter, retryAfter } = yield* take("one", rate)
          const expected = bucket.take()
          assert.deepStrictEqual({ isExceeded, retryAfter }, expected)
          assert.deepStrictEqual({ remaining, resetAfter }, {
            remaining: bucket.remaining,
            resetAfter: bucket.resetAfter
          })
          if (!isReturned || isExceeded) continue
          yield* giveBack("one", rate)
          bucket.giveBack()
        }
      })
  )

  it.effect("forget the keys that were used longest ago, so that nobody escapes by using many", () =>
    Effect.gen(function*() {
      const { take } = yield* makeQuotas
      const rate = { limit: 1, window: "1 hour" } as const
      yield* take("attacker", rate)
      yield* take("long ago", rate)
      for (let i = 0; i < 60_000; i++) {
        yield* take(`other ${i}`, rate)
        if (i % 20_000 === 0) assert.isTrue((yield* take("attacker", rate)).isExceeded)
      }
      assert.isTrue((yield* take("attacker", rate)).isExceeded)
      assert.isFalse((yield* take("long ago", rate)).isExceeded)
    }))

  it.effect("forget no other key for one that has everything back", () =>
    Effect.gen(function*() {
      const { giveBack, take } = yield* makeQuotas
      const rate = { limit: 1, window: "1 hour" } as const
      yield* take("attacker", rate)
      for (let i = 0; i < 60_000; i++) {
        yield* take(`other ${i}`, rate)
        yield* giveBack(`other ${i}`, rate)
      }
      assert.isTrue((yield* take("attacker", rate)).isExceeded)
    }))

  it.effect("come back with the time that passes, also when the clock is set", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(7_200_000)
      const { take } = yield* makeQuotas
      const rate = { limit: 1, window: "1 minute" } as const
      yield* take("a", rate)
      yield* TestClock.setTime(3_600_000)
      yield* TestClock.adjust("59 seconds")
      assert.isTrue((yield* take("a", rate)).isExceeded)
      yield* TestClock.adjust("1 second")
      assert.isFalse((yield* take("a", rate)).isExceeded)
    }))

  it.effect("do not wait for a shared limiter that is gone, but for a second of every five", () =>
    Effect.gen(function*() {
      let asked = 0
      const gone = RateLimiter.RateLimiter.of(
        {
          consume: () =>
            Effect.suspend(() => {
              asked++
              return Effect.never
            })
        } as unknown as RateLimiter.RateLimiter
      )
      const { take } = yield* Effect.provideService(makeQuotas, RateLimiter.RateLimiter, gone)
      const rate = { limit: 2, window: "1 day" } as const
      const first = yield* Effect.forkChild(take("a", rate), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(first)).remaining, 1)
      assert.deepStrictEqual([(yield* take("a", rate)).isExceeded, (yield* take("a", rate)).isExceeded], [false, true])
      assert.strictEqual(asked, 1)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("5 seconds")
      const later = yield* Effect.forkChild(take("a", rate), { startImmediately: true })
      assert.strictEqual(asked, 2)
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* Fiber.join(later)).isExceeded)
    }))
})
