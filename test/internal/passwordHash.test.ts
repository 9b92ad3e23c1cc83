/** Which hashes go first. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { make, verifyAndStrengthen } from "../../src/internal/passwordHash.ts"
import { heldHashes } from "../support/heldHashes.ts"

const salt = new Uint8Array(16)

const write = (text: string) => Effect.forkChild(make(text, salt, 1_000), { startImmediately: true })

describe("hashes", () => {
  it.effect("of writes wait for checks of passwords, two run at once, and of nine that wait one is a write's", () =>
    Effect.gen(function*() {
      const stored = yield* make("right", salt, 1_000)
      const check = (text: string) =>
        Effect.forkChild(verifyAndStrengthen(text, stored, 1_000), { startImmediately: true })
      const { begun, hold, layer, release } = heldHashes()
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* hold
          const writes = yield* Effect.forEach(["w1", "w2", "w3", "w4"], write)
          const checks = yield* Effect.forEach(Array.from({ length: 10 }, (_, i) => `c${i}`), check)
          yield* release(Fiber.awaitAll([...writes, ...checks]))
        }),
        layer
      )
      assert.deepStrictEqual(begun, [
        "w1",
        "w2",
        "c0",
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
        "c6",
        "c7",
        "w3",
        "c8",
        "c9",
        "w4"
      ])
    }))

  it.effect("that nobody waits for any more leave their place, and a check goes on alone", () =>
    Effect.gen(function*() {
      const { begun, hold, layer, release } = heldHashes()
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* hold
          const first = yield* Effect.forEach(["w1", "w2"], write)
          const left = yield* Effect.forEach(["w3", "w4"], write)
          const last = yield* write("w5")
          // The two that run have to end first.
          const interrupted = yield* Effect.forkChild(Fiber.interruptAll([...first, ...left]))
          yield* release(Effect.andThen(Fiber.await(last), Fiber.join(interrupted)))
          yield* make("w6", salt, 1_000)
        }),
        layer
      )
      assert.deepStrictEqual(begun, ["w1", "w2", "w5", "w6"])
    }))
})
