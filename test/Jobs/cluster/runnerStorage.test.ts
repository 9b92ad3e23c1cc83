import { assert, it } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, Repository } from "../../../src/index.ts"
import { storedRunners } from "../../../src/Jobs/cluster/runnerStorage.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

/** What Effect's cluster asks of a storage of runners, whichever store it is on. */
const runnerStorageContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(store)(`Runners / ${name}`, (it) => {
    it.effect("are known while they give signs of life, each by one number", () =>
      Effect.gen(function*() {
        const runners = yield* storedRunners(yield* DocumentStore.DocumentStore, Duration.seconds(30))
        const [one, other] = [yield* runners.register("a:1", "A", true), yield* runners.register("b:1", "B", true)]
        assert.notStrictEqual(one, other)
        assert.strictEqual(yield* runners.register("a:1", "A", true), one)
        yield* runners.setRunnerHealth("b:1", false)
        assert.deepStrictEqual(yield* runners.getRunners, [["A", true], ["B", false]])
        yield* TestClock.adjust("20 seconds")
        yield* runners.refresh("b:1", [])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* runners.getRunners, [["B", false]])
        yield* runners.unregister("b:1")
        assert.deepStrictEqual(yield* runners.getRunners, [])
        // The one that gave no sign of life is not kept for ever.
        assert.notInclude([one, other], yield* runners.register("c:1", "C", true))
        const store = yield* DocumentStore.DocumentStore
        const left = yield* store.find("appkernel_runners", { filter: {}, sort: { _id: 1 } })
        assert.deepStrictEqual(left.map(({ _id }) => _id), ["c:1", "machines"])
        yield* runners.unregister("c:1")
      }))

    it.effect("have shards one at a time, until they release them or give no sign of life", () =>
      Effect.gen(function*() {
        const runners = yield* storedRunners(yield* DocumentStore.DocumentStore, Duration.seconds(30))
        const shards = ["s:1", "s:2", "s:3"] as const
        const both = yield* Effect.all([runners.acquire("a:1", [...shards]), runners.acquire("b:1", [...shards])], {
          concurrency: 2
        })
        // Whoever comes first has a shard, and nobody else.
        assert.deepStrictEqual(both.flat().toSorted(), [...shards])
        yield* runners.releaseAll("a:1")
        yield* runners.releaseAll("b:1")
        assert.lengthOf(yield* runners.acquire("a:1", [...shards]), 3)
        yield* runners.release("b:1", "s:1")
        yield* runners.release("a:1", "s:3")
        assert.deepStrictEqual(yield* runners.acquire("b:1", [...shards]), ["s:3"])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* runners.refresh("a:1", ["s:1", "s:3"]), ["s:1"])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual((yield* runners.acquire("b:1", [...shards])).toSorted(), ["s:2", "s:3"])
        // A runner that comes back does not have what another one has taken since.
        assert.deepStrictEqual(yield* runners.refresh("a:1", [...shards]), ["s:1"])
      }))

    it.effect("keep what they have, whatever becomes of the transaction that asks for it", () =>
      Effect.gen(function*() {
        const runners = yield* storedRunners(yield* DocumentStore.DocumentStore, Duration.seconds(30))
        yield* runners.register("t:1", "T", true)
        yield* runners.acquire("t:1", ["t:1"])
        yield* TestClock.adjust("20 seconds")
        const rolledBack = Effect.andThen(runners.refresh("t:1", ["t:1"]), Effect.fail("no"))
        assert.strictEqual(yield* Effect.flip(Repository.transaction(rolledBack)), "no")
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* runners.getRunners, [["T", true]])
        assert.deepStrictEqual(yield* runners.acquire("u:1", ["t:1"]), [])
      }))
  })

storeMatrix(runnerStorageContract)
