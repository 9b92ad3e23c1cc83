import { assert } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { collectionOf, type Tests } from "./collection.ts"

/** What many fibers do at the same time. */
export const concurrencyContract = (it: Tests) => {
  const times = <A>(n: number, make: (index: number) => A): ReadonlyArray<A> =>
    Array.from({ length: n }, (_, index) => make(index))

  it.effect("exactly one of many concurrent inserts of a unique value succeeds", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }])
      const outcomes = yield* Effect.all(
        times(50, (_id) =>
          Effect.match(store.insertOne(name, { _id, v: "same" }), {
            onSuccess: () => ({ _id }),
            onFailure: ({ _tag }) => _tag
          })),
        { concurrency: 50 }
      )
      const winners = outcomes.filter((outcome) => typeof outcome === "object")
      assert.strictEqual(winners.length, 1)
      assert.strictEqual(outcomes.filter((outcome) => outcome === "DuplicateKey").length, 49)
      assert.deepStrictEqual(yield* all, [{ ...winners[0], v: "same" }])
    }))

  it.effect("loses no concurrent increment", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 0 }])
      const results = yield* Effect.all(
        times(200, () => store.updateOne(name, { _id: 1 }, { $inc: { n: 1 } })),
        { concurrency: 200 }
      )
      assert.strictEqual(results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0), 200)
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 200 }])
    }))

  it.effect("one of many concurrent writers of a version succeeds", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, version: 1 }])
      const results = yield* Effect.all(
        times(30, (by) =>
          Effect.map(
            store.replaceOne(name, { _id: 1, version: 1 }, { version: 2, by }),
            ({ matchedCount, modifiedCount }) => ({ by, matchedCount, modifiedCount })
          )),
        { concurrency: 30 }
      )
      const winners = results.filter(({ matchedCount }) => matchedCount === 1)
      assert.deepStrictEqual(winners.map(({ modifiedCount }) => modifiedCount), [1])
      assert.deepStrictEqual(yield* all, [{ _id: 1, version: 2, by: winners[0]?.by }])
    }))

  it.effect("concurrent upserts insert one document", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const upsert = store.updateOne(name, { _id: "n" }, { $inc: { n: 1 } }, { upsert: true })
      const outcomes = yield* Effect.all(times(30, () => Effect.result(upsert)), { concurrency: 30 })
      const succeeded = outcomes.filter(({ _tag }) => _tag === "Success").length
      assert.deepStrictEqual(yield* all, [{ _id: "n", n: succeeded }])
    }))

  it.effect("removes each document once", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(times(20, (_id) => ({ _id })))
      const removed = yield* Effect.all(times(40, () => store.deleteOne(name, {})), { concurrency: 40 })
      assert.strictEqual(removed.reduce((sum, count) => sum + count, 0), 20)
      assert.deepStrictEqual(yield* all, [])
    }))

  it.effect("reads its own writes during concurrent writes", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
      yield* Effect.forEach(times(40, (_id) => _id), (_id) =>
        Effect.gen(function*() {
          yield* store.insertOne(name, { _id, n: _id })
          assert.deepStrictEqual(yield* store.findById(name, _id), { _id, n: _id })
          yield* store.updateOne(name, { _id }, { $inc: { n: 1_000 } })
          assert.deepStrictEqual(yield* store.find(name, { filter: { n: 1_000 + _id } }), [{ _id, n: 1_000 + _id }])
          assert.strictEqual(yield* store.count(name, { n: _id }), 0)
        }), { concurrency: 20 })
      assert.strictEqual(yield* store.count(name, { n: { $gte: 1_000 } }), 40)
    }))

  it.effect("accepts the same indexes from concurrent callers", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, a: 1 }])
      const indexes = [{ name: "a", key: { a: 1 as const }, unique: true }, { name: "b", key: { b: -1 as const } }]
      yield* Effect.all(times(10, () => store.createIndexes(name, indexes)), { concurrency: 10 })
      assert.sameDeepMembers([...(yield* store.listIndexes(name))], [
        { name: "a", key: { a: 1 }, unique: true },
        { name: "b", key: { b: -1 } }
      ])
    }))

  it.effect("builds a unique index during concurrent reads and writes, without missing a document", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(times(1_000, (_id) => ({ _id, v: _id })))
      const together = { concurrency: 40 } as const
      const [, counts] = yield* Effect.all([
        store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }]),
        Effect.all(times(20, () => store.count(name, { v: { $gt: 800, $lt: 1_000 } })), together),
        Effect.all(times(40, (n) => store.insertOne(name, { _id: 1_000 + n, v: 1_000 + n })), together),
        Effect.all(times(40, (n) => store.updateOne(name, { _id: n * 20 }, { $inc: { v: 10_000 } })), together),
        Effect.all(times(40, (n) => store.deleteOne(name, { _id: n * 20 + 1 })), together)
      ], together)
      assert.deepStrictEqual(counts, Array.from({ length: 20 }, () => 199))
      assert.strictEqual(yield* store.count(name, { v: { $gte: 0 } }), 1_000)
      assert.strictEqual(yield* store.count(name, { v: { $gte: 10_000 } }), 40)
      for (const v of [10_000, 1_039, 22]) {
        const error = yield* Effect.flip(store.insertOne(name, { _id: "again", v }))
        assert.strictEqual(error._tag, "DuplicateKey")
      }
      yield* store.insertOne(name, { _id: "free", v: 1 })
    }))

  it.effect("builds a unique index while duplicates are changed, which leaves the entries of the others", () =>
    Effect.gen(function*() {
      const last = 20_000
      const { name, store } = yield* collectionOf(times(last, (_id) => ({ _id, v: _id })))
      yield* store.insertMany(name, times(20, (v) => ({ _id: last + v, v })))
      const building = yield* Effect.forkScoped(
        Effect.exit(store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }])),
        { startImmediately: true }
      )
      // Some of it is built.
      yield* Effect.promise(() => new Promise(setImmediate))
      yield* Effect.forEach(
        times(20, (v) => v),
        (v) => store.updateOne(name, { _id: last + v }, { $inc: { v: last } }),
        { concurrency: 20, discard: true }
      )
      // Or it was faster than the changes.
      if (Exit.isFailure(yield* Fiber.join(building))) return
      for (const v of times(20, (v) => v)) {
        assert.deepStrictEqual(yield* store.find(name, { filter: { v } }), [{ _id: v, v }])
        assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: "again", v })))._tag, "DuplicateKey")
      }
    }).pipe(Effect.scoped))

  it.effect("counts documents that are not deleted correctly under concurrent deletes, restores, inserts and removals", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(times(1_000, (_id) => ({ _id })))
      const deletion = { $set: { deleted: 1 } }
      const together = { concurrency: 40 } as const
      const [totals] = yield* Effect.all([
        Effect.all(times(20, () => store.count(name, { deleted: null })), together),
        Effect.all(times(40, (n) => store.updateOne(name, { _id: 25 * n }, deletion)), together),
        Effect.all(
          times(40, (n) => store.insertOne(name, { _id: 1_000 + n, deleted: n % 2 === 0 ? null : 1 })),
          together
        ),
        Effect.all(times(40, (n) => store.deleteOne(name, { _id: 25 * n + 1 })), together),
        store.transaction(Effect.all([
          store.updateMany(name, { _id: { $in: times(10, (n) => 25 * n + 2) } }, deletion),
          store.insertOne(name, { _id: "new" }),
          store.deleteOne(name, { _id: 3 })
        ], { discard: true }))
      ], together)
      for (const total of totals) assert.isTrue(total >= 1_000 - 91 && total <= 1_021, String(total))
      const expected = 1_000 - 40 + 20 - 40 - 10 + 1 - 1
      for (const filter of [{ deleted: null }, { deleted: { $in: [null] } }]) {
        assert.strictEqual(yield* store.count(name, filter), expected)
      }
      yield* store.updateMany(name, { _id: { $lt: 100 } }, { $unset: { deleted: "" } })
      yield* Effect.flip(store.transaction(Effect.andThen(store.deleteMany(name, {}), Effect.fail("no"))))
      for (const filter of [{ deleted: null }, { deleted: { $in: [null] } }]) {
        assert.strictEqual(yield* store.count(name, filter), expected + 4 + 4)
      }
      assert.strictEqual(yield* store.count(name, {}), 1_000 + 40 - 40 + 1 - 1)
    }))

  it.effect("waits for a write that is interrupted", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([1, 2, 3, 4, 5, 6].map((_id) => ({ _id, a: _id })))
      const writes = [
        store.insertOne(name, { _id: 7 }),
        store.insertMany(name, [{ _id: 8 }, { _id: 9 }]),
        store.replaceOne(name, { _id: 1 }, { b: 1 }),
        store.updateOne(name, { _id: 2 }, { $set: { a: "two" } }),
        store.updateMany(name, { _id: { $in: [3, 4] } }, { $unset: { a: "" } }),
        store.deleteOne(name, { _id: 5 }),
        store.deleteMany(name, { a: 6 })
      ]
      for (const write of writes) {
        const fiber = yield* Effect.forkChild(write, { startImmediately: true })
        yield* Fiber.interrupt(fiber)
      }
      assert.deepStrictEqual(yield* all, [
        { _id: 1, b: 1 },
        { _id: 2, a: "two" },
        { _id: 3 },
        { _id: 4 },
        { _id: 7 },
        { _id: 8 },
        { _id: 9 }
      ])
    }))

  it.effect("cancels interrupted reads, and stays usable", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(times(1_500, (_id) => ({ _id })))
      const reads: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        store.find(name, {}),
        store.count(name, {}),
        store.findById(name, 1),
        Stream.runDrain(store.stream(name, {})),
        Stream.runDrain(store.aggregate(name, [{ $sort: { _id: -1 } }])),
        Stream.runForEach(store.stream(name, {}), () => Effect.never)
      ]
      for (const read of reads) {
        const fiber = yield* Effect.forkChild(read, { startImmediately: true })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(
          yield* store.updateMany(name, {}, { $inc: { n: 1 } }).pipe(Effect.map((_) => _.matchedCount)),
          1_500
        )
      }
      assert.strictEqual(yield* store.count(name, { n: reads.length }), 1_500)
    }))
}
