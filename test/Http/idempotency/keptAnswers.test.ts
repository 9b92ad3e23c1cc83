/** What is kept of answers over time, and of transactions that run at once, as in several processes. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeKeptAnswers } from "../../../src/Http/idempotency/keptAnswers.ts"
import { DocumentStore } from "../../../src/index.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const asked = { id: "a", request: "one" }

const made = Effect.flatMap(
  DocumentStore.DocumentStore,
  (store) => Effect.map(makeKeptAnswers(store, { keep: Duration.hours(24) }), (kept) => ({ kept, store }))
)

storeMatrix((name, store) =>
  it.layer(Layer.fresh(store))(`kept answers / ${name}`, (it) => {
    it.effect("are there until they expire, and nothing of what is rolled back or discarded", () =>
      Effect.gen(function*() {
        const { kept, store } = yield* made
        yield* Effect.ignore(store.transaction(Effect.andThen(kept.begin(asked), Effect.fail("refused"))))
        assert.isUndefined(yield* kept.find(asked))
        yield* store.transaction(Effect.andThen(kept.begin(asked), kept.discard("a")))
        assert.isUndefined(yield* kept.find(asked))
        yield* store.transaction(Effect.andThen(kept.begin(asked), kept.complete("a", "answer")))
        assert.deepStrictEqual(yield* kept.find(asked), { _tag: "Answered", answer: "answer" })
        assert.deepStrictEqual(yield* kept.find({ ...asked, request: "another" }), { _tag: "Reused" })
        yield* TestClock.adjust("25 hours")
        assert.isUndefined(yield* kept.find(asked))
        yield* store.transaction(
          Effect.andThen(kept.begin({ ...asked, request: "another" }), kept.complete("a", undefined))
        )
        assert.deepStrictEqual(yield* kept.find({ ...asked, request: "another" }), {
          _tag: "Answered",
          answer: undefined
        })
      }))

    it.effect("of transactions that run at once, one is committed", () =>
      Effect.gen(function*() {
        const { kept, store } = yield* made
        const own = { id: "b", request: "one" }
        const results = yield* TestClock.withLive(Effect.forEach(
          Array.from({ length: 12 }, (_, i) => i),
          (i) =>
            Effect.result(store.transaction(Effect.gen(function*() {
              const found = yield* kept.find(own)
              if (found !== undefined) return found
              yield* kept.begin(own)
              yield* Effect.sleep("5 millis")
              yield* store.insertOne("writes", { _id: `${i}` })
              yield* kept.complete("b", `${i}`)
              return `${i}`
            }))),
          { concurrency: 12 }
        ))
        const written = yield* store.find("writes", { filter: {}, limit: 100 })
        assert.lengthOf(written, 1)
        const [first] = written
        for (const result of results) {
          // One that has met too many conflicts may be asked for again.
          if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "StoreUnavailable")
          else if (typeof result.success === "string") assert.strictEqual(result.success, first?.["_id"])
          else assert.deepStrictEqual(result.success, { _tag: "Answered", answer: String(first?.["_id"]) })
        }
      }))
  })
)
