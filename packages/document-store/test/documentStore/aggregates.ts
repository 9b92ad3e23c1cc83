import { assert } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter } from "../../src/DocumentStore.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

/** Distinct values, estimates, and reads that take too long. */
export const aggregateContract = (it: Tests, differs: Differs) => {
  const documents: ReadonlyArray<Document> = [
    { _id: 1, s: "a", n: { x: 1 }, l: [1, 2], items: [{ k: "p" }, { k: "q", d: [5, 6] }] },
    { _id: 2, s: "b", n: { x: null }, l: [2, [3]], items: [{ k: "q" }, 7] },
    { _id: 3, s: "a", n: {}, l: [], items: { k: "r" } },
    { _id: 4, n: 5, l: 2, when: day(1) },
    { _id: 5, s: null, when: day(1) }
  ]

  const distinct = (
    name: string,
    path: string,
    filter: Filter,
    expected: ReadonlyArray<unknown>,
    difference?: Difference
  ) =>
    it.effect.skipIf(difference !== undefined && differs(difference))(
      `finds distinct values ${name}`,
      () =>
        Effect.gen(function*() {
          const { name, store } = yield* collectionOf(documents)
          for (const indexes of [[], [{ name: "path", key: { [path]: 1 as const, _id: 1 as const } }]]) {
            if (path !== "_id") yield* store.createIndexes(name, indexes)
            assert.sameDeepMembers([...(yield* store.distinct(name, path, filter))], [...expected])
          }
        })
    )

  distinct("of a field, null included", "s", {}, ["a", "b", null])
  distinct("of those that match", "s", { _id: { $lt: 3 } }, ["a", "b"])
  distinct("of those that match by their identifier", "s", { _id: 2 }, ["b"])
  distinct("of a nested field", "n.x", {}, [1, null])
  distinct("of lists, their items", "l", {}, [1, 2, [3]])
  distinct("of a place in lists", "l.0", {}, [1, 2])
  distinct("of documents in lists", "items.k", {}, ["p", "q", "r"], "distinctInLists")
  distinct("of lists of documents in lists", "items.d", {}, [5, 6], "distinctInLists")
  distinct("of a place in lists of documents", "items.0.k", {}, ["p", "q"])
  distinct("of identifiers", "_id", { s: "a" }, [1, 3])
  distinct("that are dates", "when", {}, [day(1)])
  distinct("of nothing", "none", {}, [])
  distinct("of no documents", "s", { s: "z" }, [])

  it.effect.skipIf(differs("distinctNumbers"))(
    "takes numbers that are equal for one value",
    () =>
      Effect.gen(function*() {
        const values = [1, Long.fromNumber(1), Decimal128.fromString("1.0"), 2, 2.5, Decimal128.fromString("2.5"), "1"]
        const { name, store } = yield* collectionOf(values.map((v, _id) => ({ _id, v })))
        assert.strictEqual((yield* store.distinct(name, "v", {})).length, 4)
      })
  )

  it.effect("finds many distinct values", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(
        Array.from({ length: 3_000 }, (_, _id) => ({ _id, v: _id % 1_000, text: `${"x".repeat(600)}${_id % 3}` }))
      )
      assert.strictEqual((yield* store.distinct(name, "v", {})).length, 1_000)
      assert.strictEqual((yield* store.distinct(name, "text", { v: { $lt: 100 } })).length, 3)
    }))

  it.effect("rejects distinct with a malformed filter or an empty path", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(documents)
      for (const call of [store.distinct(name, "s", { $foo: 1 }), store.distinct(name, "", {})]) {
        const error = yield* Effect.flip(call)
        assert.strictEqual(error._tag, "QueryRejected")
      }
    }))

  it.effect("estimates the number of documents", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      assert.strictEqual(yield* store.estimatedCount(name), 0)
      yield* store.insertMany(name, Array.from({ length: 2_100 }, (_, _id) => ({ _id })))
      assert.strictEqual(yield* store.estimatedCount(name), 2_100)
      yield* store.deleteMany(name, { _id: { $lt: 100 } })
      yield* store.insertOne(name, { _id: "one more" })
      assert.strictEqual(yield* store.estimatedCount(name), 2_001)
      assert.strictEqual(yield* store.estimatedCount("nothing at all"), 0)
    }))

  it.effect("completes within its time limit", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(documents)
      const limit = { timeLimit: "1 minute" } as const
      assert.strictEqual((yield* store.find(name, limit)).length, 5)
      assert.strictEqual((yield* Stream.runCollect(store.stream(name, limit))).length, 5)
      assert.strictEqual(yield* store.count(name, {}, limit), 5)
      assert.strictEqual((yield* store.distinct(name, "_id", {}, limit)).length, 5)
      assert.strictEqual((yield* Stream.runCollect(store.aggregate(name, [], limit))).length, 5)
    }))

  it.effect("does not count the consumer's time against a stream's time limit", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 1_500 }, (_, _id) => ({ _id })))
      let seen = 0
      yield* Stream.runForEachArray(store.stream(name, { timeLimit: "5 seconds" }), (some) =>
        Effect.andThen(
          TestClock.adjust("10 seconds"),
          Effect.sync(() => {
            seen += some.length
          })
        ))
      assert.strictEqual(seen, 1_500)
    }))

  it.effect("cancels other interrupted reads, and stays usable", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 1_500 }, (_, _id) => ({ _id })))
      for (const read of [store.distinct(name, "_id", {}), store.estimatedCount(name)]) {
        const fiber = yield* Effect.forkChild(read, { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* store.count(name, {}), 1_500)
      }
    }))

  const series: ReadonlyArray<[granularity: string, bounds: ReadonlyArray<number>]> = [
    ["R5", [0, 25, 63, 100]],
    ["R10", [0, 20, 40, 63, 100]],
    ["R20", [0, 20, 40, 63, 90, 100]],
    ["R40", [0, 20, 40, 60, 80, 100]],
    ["R80", [0, 19.5, 41.2, 61.5, 82.5, 103]],
    ["1-2-5", [0, 20, 50, 100]],
    ["E6", [0, 22, 47, 68, 100]],
    ["E12", [0, 22, 47, 68, 100]],
    ["E24", [0, 20, 43, 68, 91, 100]],
    ["E48", [0, 19.6, 40.2, 61.900000000000006, 82.5, 100]],
    ["E96", [0, 19.1, 39.2, 60.400000000000006, 80.60000000000001, 100]],
    ["E192", [0, 19.1, 39.2, 59.7, 79.60000000000001, 100]],
    ["POWERSOF2", [0, 32, 64, 128]]
  ]
  it.effect.each(differs("granularity") ? [] : series)(
    "$bucketAuto ends buckets at the preferred numbers of %s",
    ([granularity, bounds]) =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(Array.from({ length: 100 }, (_, _id) => ({ _id })))
        const made = yield* Stream.runCollect(
          store.aggregate(name, [{ $bucketAuto: { groupBy: "$_id", buckets: 5, granularity } }])
        )
        const expected = bounds.slice(1).map((max, i): Document => {
          const min = bounds[i] ?? 0
          const inside = Array.from({ length: 100 }, (_, n) => n).filter((n) => n >= min && n < max)
          return { _id: { min, max }, count: inside.length }
        })
        assert.deepStrictEqual(made, expected)
      })
  )

  it.effect.skipIf(differs("granularity"))(
    "$bucketAuto keeps the types of preferred numbers, and takes no others",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(
          ["0.00021", "3.2", "470"].map((text, _id) => ({ _id, d: Decimal128.fromString(text), s: text, n: _id - 1 }))
        )
        const bucketed = (groupBy: string, granularity: string) =>
          Stream.runCollect(store.aggregate(name, [{ $bucketAuto: { groupBy, buckets: 3, granularity } }]))
        const decimals = yield* bucketed("$d", "E6")
        assert.deepStrictEqual(
          decimals.map(({ _id }) => Object.values(Object(_id)).map((value) => Number(String(value)))),
          [[0.00015, 0.00022], [0.00022, 3.3], [3.3, 680]]
        )
        assert.isTrue(
          decimals.every(({ _id }) => Object.values(Object(_id)).every((value) => typeof value === "object"))
        )
        for (const [groupBy, granularity] of [["$s", "E6"], ["$n", "E6"], ["$none", "E6"], ["$d", "E7"]] as const) {
          assert.strictEqual((yield* Effect.flip(bucketed(groupBy, granularity)))._tag, "QueryRejected")
        }
      })
  )

  it.effect("$bucketAuto keeps null in the lists that it makes", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, n: null }, { _id: 2 }])
      const stage = { $bucketAuto: { groupBy: "$_id", buckets: 1, output: { all: { $push: "$n" } } } }
      assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, [stage])), [
        { _id: { min: 1, max: 2 }, all: [null] }
      ])
    }))

  it.effect("$bucketAuto has as much to compute for each document as $group", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 80 }, (_, _id) => ({ _id })))
      const output = { sum: { $sum: { $size: { $range: [0, 100_000] } } } }
      const results = (stage: Document) => Stream.runCollect(store.aggregate(name, [stage]))
      assert.deepStrictEqual(yield* results({ $group: { _id: 1, ...output } }), [{ _id: 1, sum: 8_000_000 }])
      assert.deepStrictEqual(yield* results({ $bucketAuto: { groupBy: "$_id", buckets: 1, output } }), [
        { _id: { min: 0, max: 79 }, sum: 8_000_000 }
      ])
    }))
}
