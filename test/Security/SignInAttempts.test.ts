import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import { SecurityError, SignInAttempts } from "../../src/index.ts"

const rates = {
  perAccount: { limit: 5, window: "5 minutes" },
  perAddress: { limit: 20, window: "10 minutes" }
} as const

const wrong = Effect.fail(new SecurityError.CredentialsInvalid({ reason: "secret" }))

const jane = { login: "jane@example.com", address: "203.0.113.9" }

const outcome = (attempt: SignInAttempts.Attempt, check: Effect.Effect<string, SecurityError.CredentialsInvalid>) =>
  Effect.gen(function*() {
    const attempts = yield* SignInAttempts.SignInAttempts
    return yield* attempts.attempt(attempt, check).pipe(
      Effect.catchTag("CredentialsInvalid", () => Effect.succeed("wrong")),
      Effect.catchTag("TooManyAttempts", ({ retryAfter }) => Effect.succeed(`after ${Duration.format(retryAfter)}`))
    )
  })

const guess = (attempt: SignInAttempts.Attempt, times: number) =>
  Effect.forEach(Array.from({ length: times }), () => outcome(attempt, wrong))

const right = (attempt: SignInAttempts.Attempt) => outcome(attempt, Effect.succeed("signed in"))

const effects = RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))

const failing = Layer.succeed(RateLimiter.RateLimiter, {
  [RateLimiter.TypeId]: RateLimiter.TypeId,
  consume: () =>
    Effect.fail(new RateLimiter.RateLimiterError({ reason: new RateLimiter.RateLimitStoreError({ message: "down" }) })),
  adaptiveConsume: () => Effect.die("unused"),
  adaptiveFeedback: () => Effect.die("unused")
})

const contract = (name: string, limiter: Layer.Layer<RateLimiter.RateLimiter> | undefined) =>
  describe(`SignInAttempts / ${name}`, () => {
    const own = SignInAttempts.layerWith(rates)
    const layer = limiter === undefined ? own : Layer.provide(own, limiter)

    it.effect("refuses an account from an address after failures, and allows one more after each part of the window", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* guess(jane, 6), [...Array.from({ length: 5 }, () => "wrong"), "after 1m"])
        assert.strictEqual(yield* right(jane), "after 1m")
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(yield* right(jane), "after 1s")
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(yield* right(jane), "signed in")
      }).pipe(Effect.provide(layer)))

    it.effect("lets the owner in from another address, and other accounts from the same one", () =>
      Effect.gen(function*() {
        yield* guess(jane, 10)
        assert.strictEqual(yield* right({ ...jane, address: "198.51.100.7" }), "signed in")
        assert.strictEqual(yield* right({ ...jane, login: "tom@example.com" }), "signed in")
      }).pipe(Effect.provide(layer)))

    it.effect("limits an address that tries many accounts as a whole, those of an IPv6 /64 together", () =>
      Effect.gen(function*() {
        for (const addressOf of [() => "203.0.113.9", (i: number) => `2001:db8::${i}`]) {
          const tries = yield* Effect.forEach(
            Array.from({ length: 25 }, (_, i) => i),
            (i) => outcome({ login: `user${i}`, address: addressOf(i) }, wrong)
          )
          assert.deepStrictEqual(tries.lastIndexOf("wrong"), 19, tries.join(" "))
        }
        assert.strictEqual(yield* right({ login: "tom", address: "2001:db8:0:1::1" }), "signed in")
        assert.strictEqual(yield* right({ login: "tom", address: "2001:db8::ffff" }), "after 30s")
        assert.strictEqual(yield* right({ login: "tom", address: "::ffff:203.0.113.9" }), "after 30s")
      }).pipe(Effect.provide(layer)))

    it.effect("counts the spellings of a name that differ in case as one", () =>
      Effect.gen(function*() {
        yield* guess(jane, 4)
        yield* guess({ ...jane, login: "JANE@example.com" }, 1)
        assert.strictEqual(yield* right(jane), "after 1m")
      }).pipe(Effect.provide(layer)))

    it.effect("checks no more than the limit of 200 wrong passwords at once", () =>
      Effect.gen(function*() {
        let checks = 0
        const slow = Effect.andThen(Effect.sync(() => checks++), Effect.andThen(Effect.yieldNow, wrong))
        const results = yield* Effect.forEach(
          Array.from({ length: 200 }),
          () => outcome(jane, slow),
          { concurrency: 200 }
        )
        assert.deepStrictEqual([checks, results.filter((result) => result === "wrong").length], [5, 5])
        const others = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, i) => i),
          (i) => outcome({ login: `user${i}`, address: "198.51.100.7" }, slow),
          { concurrency: 200 }
        )
        assert.deepStrictEqual([checks, others.filter((result) => result === "wrong").length], [25, 20])
      }).pipe(Effect.provide(layer)))

    it.effect("counts no attempt that succeeds: 200 at once of one caller, and any number after failures", () =>
      Effect.gen(function*() {
        yield* guess(jane, 4)
        const slow = Effect.as(Effect.yieldNow, "signed in")
        const results = yield* Effect.forEach(
          Array.from({ length: 200 }),
          () => outcome(jane, slow),
          { concurrency: 200 }
        )
        assert.deepStrictEqual([...new Set(results)], ["signed in"])
        assert.deepStrictEqual(yield* guess(jane, 2), ["wrong", "after 1m"])
      }).pipe(Effect.provide(layer)))

    it.effect("counts an attempt that its caller interrupts, and none that ends by a defect", () =>
      Effect.gen(function*() {
        const attempts = yield* SignInAttempts.SignInAttempts
        for (let i = 0; i < 20; i++) {
          const exit = yield* Effect.exit(attempts.attempt(jane, Effect.die("the store is down")))
          assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        }
        for (let i = 0; i < 5; i++) {
          const fiber = yield* Effect.forkChild(attempts.attempt(jane, Effect.never))
          yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
        }
        assert.strictEqual(yield* right(jane), "after 1m")
      }).pipe(Effect.provide(layer)))
  })

contract("in the process", undefined)
contract("with a RateLimiter", effects)
contract("with a RateLimiter whose store is down", failing)

/** The keys that are counted, and a limiter that tells them. */
const recorded = Effect.gen(function*() {
  const keys: Array<string> = []
  const limiter = yield* RateLimiter.make.pipe(Effect.provide(RateLimiter.layerStoreMemory))
  const recording: RateLimiter.RateLimiter = {
    ...limiter,
    consume: (options) => Effect.andThen(Effect.sync(() => keys.push(options.key)), limiter.consume(options))
  }
  return { keys, limiter: Layer.succeed(RateLimiter.RateLimiter, recording) }
})

describe("SignInAttempts / keys", () => {
  it.effect("stores no login name", () =>
    Effect.gen(function*() {
      const { keys, limiter } = yield* recorded
      yield* Effect.provide(guess(jane, 1), Layer.provide(SignInAttempts.layer, limiter))
      assert.strictEqual(keys.length, 2)
      for (const key of keys) assert.match(key, /^sign-in:[\w-]{43}$/u)
    }))

  it.effect("counts nothing for the accounts that an address tries while it is refused", () =>
    Effect.gen(function*() {
      const { keys, limiter } = yield* recorded
      const tries = Effect.forEach(
        Array.from({ length: 30 }, (_, i) => ({ ...jane, login: `user${i}` })),
        (attempt) => outcome(attempt, wrong)
      )
      yield* Effect.provide(tries, Layer.provide(SignInAttempts.layerWith(rates), limiter))
      // Its own, and those of the twenty that were checked.
      assert.strictEqual(new Set(keys).size, 21)
    }))
})
