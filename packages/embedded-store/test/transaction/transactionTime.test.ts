import { assert, it } from "@effect/vitest"
import { Cause, Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { setImmediate } from "node:timers/promises"
import { freshFolder } from "../../../../test/support/folders.ts"
import * as DocumentStore from "../../../document-store/src/DocumentStore.ts"
import { RetryClock } from "../../../document-store/src/shared/retryOnConflict.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

/** Runs in a fiber that knows nothing of the transaction around. */
const outside = (effect: Effect.Effect<unknown, unknown>) => Effect.promise(() => Effect.runPromise(effect))

const aWhile = Effect.forEach(Array.from({ length: 20 }), () => Effect.promise(() => setImmediate()))

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(layer)(`the time of transactions / ${name}`, (it) => {
    it.effect(
      "gives up after 30 seconds of conflicts, and says that nothing was written",
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("counters", { _id: 1, n: 0 })
          let tries = 0
          const transaction = store.transaction(Effect.gen(function*() {
            tries += 1
            yield* store.findById("counters", 1)
            // It comes between, once it may, however often this is tried.
            yield* outside(store.updateOne("counters", { _id: 1 }, { $inc: { n: 1 } }))
            yield* store.insertOne("counters", { _id: "written" })
          }))
          const start = yield* Clock.currentTimeMillis
          const fiber = yield* Effect.forkChild(
            Effect.flip(Effect.provideService(transaction, RetryClock, yield* Clock.Clock))
          )
          while (fiber.pollUnsafe() === undefined) {
            yield* aWhile
            yield* TestClock.adjust("250 millis")
          }
          const took = (yield* Clock.currentTimeMillis) - start
          // Where the disk takes its time, the clock goes on meanwhile.
          assert.isTrue(took >= 30_000 && (name === "embedded" || took < 35_000), `${took}`)
          const error = yield* Fiber.join(fiber)
          assert.deepInclude({ ...error }, { _tag: "StoreUnavailable", operation: "transaction", retryable: true })
          assert.include(error.message, "nothing was written")
          assert.isAbove(tries, 1)
          assert.isUndefined(yield* store.findById("counters", "written"))
          assert.deepStrictEqual(yield* store.findById("counters", 1), { _id: 1, n: tries })
        })
    )

    it.effect(
      "writes everything if a timeout occurs during the commit, and nothing if it occurs before",
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          let isCommitting = false
          const many = Array.from({ length: 10_000 }, (_, _id) => ({ _id }))
          const insert = Effect.tap(store.insertMany("timed", many), () => Effect.sync(() => isCommitting = true))
          const within = store.transaction(
            Effect.timeout(Effect.andThen(store.insertMany("timed", many), Effect.never), "1 second")
          )
          const early = yield* Effect.forkChild(Effect.flip(within))
          while (early.pollUnsafe() === undefined) {
            yield* aWhile
            yield* TestClock.adjust("100 millis")
          }
          assert.isTrue(Cause.isTimeoutError(yield* Fiber.join(early)))
          assert.strictEqual(yield* store.count("timed", {}), 0)
          const late = yield* Effect.forkChild(Effect.flip(Effect.timeout(store.transaction(insert), "1 second")))
          // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- the transaction changes it
          while (!isCommitting) yield* Effect.promise(() => setImmediate())
          assert.isUndefined(late.pollUnsafe())
          yield* TestClock.adjust("2 seconds")
          assert.isTrue(Cause.isTimeoutError(yield* Fiber.join(late)))
          assert.strictEqual(yield* store.count("timed", {}), 10_000)
        })
    )
  })
}
