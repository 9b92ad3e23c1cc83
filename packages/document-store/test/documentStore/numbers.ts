import { assert } from "@effect/vitest"
import { Decimal128, Double, Int32, Long, Timestamp } from "bson"
import { Effect, Result, Stream } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

const most = 2 ** 31 - 1
const long = (value: number) => Long.fromNumber(value)
const double = (value: number) => new Double(value)
const decimal = (text: string) => Decimal128.fromString(text)

/** An expression and the type of its value, or `rejected`. */
type Case = readonly [expression: unknown, type: string, difference?: Difference]

/** Numbers keep their types where they are stored and computed; they are read as JavaScript's numbers. */
export const numberContract = (it: Tests, differs: Differs) => {
  const stored: ReadonlyArray<Document> = [
    { _id: 1, n: 1 },
    { _id: 2, n: double(1) },
    { _id: 3, n: long(1) },
    { _id: 4, n: 1n },
    { _id: 5, n: new Int32(1) },
    { _id: 6, n: [{ n: long(1) }, double(2 ** 31)] },
    { _id: 7, n: 2 ** 31 },
    { _id: 8, n: -0 },
    { _id: 9, n: decimal("1") },
    { _id: 10, n: double(-0) }
  ]

  it.effect("stores a number by its type: int, long, double or decimal", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf(stored)
      const types = Effect.fnUntraced(function*() {
        const found: { [type: string]: ReadonlyArray<unknown> } = {}
        for (const type of ["int", "long", "double", "decimal"]) found[type] = yield* ids({ n: { $type: type } })
        return { ...found, items: yield* ids({ "n.n": { $type: "long" } }) }
      })
      const expected = { int: [1, 5], long: [3, 4], double: [2, 6, 7, 8, 10], decimal: [9], items: [6] }
      assert.deepStrictEqual(yield* types(), expected)
      yield* store.updateMany(name, {}, { $set: { other: 1 } })
      assert.deepStrictEqual(yield* types(), expected)
      assert.deepStrictEqual(yield* ids({ n: 1 }), [1, 2, 3, 4, 5, 9])
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
      assert.deepStrictEqual(yield* ids({ n: long(1) }), [1, 2, 3, 4, 5, 9])
      assert.deepStrictEqual(yield* types(), expected)
    }))

  it.effect.each([new Int32(-1), double(-1), long(-1), decimal("-1")])(
    "sorts and indexes by a direction of %s",
    (down) =>
      Effect.gen(function*() {
        const { find, name, store } = yield* collectionOf([{ _id: 1 }, { _id: 2 }])
        // The types only have JavaScript's numbers.
        const key = { _id: down } as unknown as { readonly _id: -1 }
        assert.deepStrictEqual(yield* find({ sort: key }), [{ _id: 2 }, { _id: 1 }])
        const described = [{ name: "n", key: { n: key._id } }]
        yield* store.createIndexes(name, described)
        yield* store.createIndexes(name, [{ name: "n", key: { n: -1 } }])
        assert.deepStrictEqual(yield* store.listIndexes(name), [{ name: "n", key: { n: -1 } }])
        assert.deepStrictEqual(yield* store.syncIndexes(name, described), { created: [], rebuilt: [], dropped: [] })
      })
  )

  it.effect("reads numbers of all types but decimals as JavaScript's", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(stored.slice(0, 6))
      const numbers = [1, 1, 1, 1, 1, [{ n: 1 }, 2 ** 31]]
      assert.deepStrictEqual((yield* all).map(({ n }) => n), numbers)
      const stages = [{ $sort: { _id: 1 } }, { $project: { n: 1, q: { m: ["$n"] } } }]
      const computed = yield* Stream.runCollect(store.aggregate(name, stages))
      assert.deepStrictEqual(computed.map(({ n, q }) => [n, q]), numbers.map((n) => [n, { m: [n] }]))
      assert.deepStrictEqual(yield* store.findById(name, 3), { _id: 3, n: 1 })
      const update = { $set: { m: long(2) } }
      const changed = yield* store.findOneAndUpdate(name, { _id: 2 }, update, { returnDocument: "after" })
      assert.deepStrictEqual(changed, { _id: 2, n: 1, m: 2 })
      assert.deepStrictEqual(yield* store.findOneAndDelete(name, { _id: 3 }), { _id: 3, n: 1 })
      if (!differs("distinctInLists")) assert.deepStrictEqual(yield* store.distinct(name, "n.n", {}), [1])
      const upserted = yield* store.updateOne(name, { _id: long(20) }, { $set: { n: 1 } }, { upsert: true })
      assert.strictEqual(upserted.upsertedId, 20)
    }))

  const cases: ReadonlyArray<Case> = [
    [{ $add: [1, 1] }, "int"],
    [{ $add: [most, 1] }, "long"],
    [{ $add: [1, long(1)] }, "long"],
    [{ $add: [1, double(1)] }, "double"],
    [{ $add: [0.5, 0.5] }, "double"],
    [{ $add: [long(1), decimal("1")] }, "decimal"],
    [{ $add: [Long.MAX_VALUE, 1] }, "double"],
    [{ $subtract: [1, long(1)] }, "long"],
    [{ $subtract: [double(3), 1] }, "double"],
    [{ $subtract: [day(2), day(1)] }, "long"],
    [{ $multiply: [1.5, 2] }, "double"],
    [{ $multiply: [65_536, 65_536] }, "long"],
    [{ $multiply: [long(2), 2] }, "long"],
    [{ $divide: [4, 2] }, "double"],
    [{ $divide: [long(4), long(2)] }, "double"],
    [{ $divide: [4, decimal("2")] }, "decimal"],
    [{ $mod: [5, 3] }, "int"],
    [{ $mod: [5, long(3)] }, "long"],
    [{ $mod: [5, double(3)] }, "double"],
    [{ $abs: long(-1) }, "long"],
    [{ $abs: double(-1) }, "double"],
    [{ $abs: -(2 ** 31) }, "long"],
    [{ $ceil: 1.5 }, "double"],
    [{ $floor: long(5) }, "long"],
    [{ $round: [1.5, 0] }, "double"],
    [{ $round: [long(15), -1] }, "long"],
    [{ $trunc: 5 }, "int"],
    [{ $sqrt: 4 }, "double"],
    [{ $pow: [2, 2] }, "int"],
    [{ $pow: [2, 31] }, "long"],
    [{ $pow: [long(2), 2] }, "long"],
    [{ $pow: [2, 64] }, "double"],
    [{ $pow: [double(2), 2] }, "double"],
    [{ $toInt: "5" }, "int"],
    [{ $toInt: double(5) }, "int"],
    [{ $toLong: 5 }, "long"],
    [{ $toLong: true }, "long"],
    [{ $toLong: day(1) }, "long"],
    [{ $toDouble: 5 }, "double"],
    [{ $toDouble: "5" }, "double"],
    [{ $toDouble: false }, "double"],
    [{ $sum: [1, 1] }, "int"],
    [{ $sum: [most, 1] }, "long"],
    [{ $sum: [1, double(1)] }, "double"],
    [{ $sum: [1, long(1)] }, "long"],
    [{ $avg: [1, 3] }, "double"],
    [{ $stdDevPop: [1, 3] }, "double"],
    [{ $max: [1, double(2)] }, "double"],
    [{ $size: [[1]] }, "int"],
    [{ $strLenCP: "a" }, "int"],
    [{ $year: day(1) }, "int"],
    [{ $dateDiff: { startDate: day(1), endDate: day(2), unit: "day" } }, "long"],
    [{ $tsSecond: new Timestamp({ t: 3, i: 7 }) }, "long"],
    [{ $bitAnd: [1, 3] }, "int"],
    [{ $bitAnd: [1, long(3)] }, "long"],
    [{ $bitAnd: [1, double(3)] }, "rejected"],
    [{ $literal: double(1) }, "double"],
    [{ $arrayElemAt: [[long(1)], double(0)] }, "long"]
  ]

  it.effect.each(
    cases
      .filter(([, , difference]) => difference === undefined || !differs(difference))
      .map(([expression, type]) => [JSON.stringify(expression), type, expression] as const)
  )("computes %s as %s", ([, type, expression]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1 }])
      const answer = yield* Effect.result(
        Stream.runCollect(store.aggregate(name, [{ $project: { _id: 0, type: { $type: expression } } }]))
      )
      assert.deepStrictEqual(
        Result.isSuccess(answer) ? answer.success : "rejected",
        type === "rejected" ? type : [{ type }]
      )
    }))

  it.effect.each<
    readonly [stored: unknown, update: Document | ReadonlyArray<Document>, expected: unknown, type: string]
  >([
    [1, { $inc: { n: 1 } }, 2, "int"],
    [most, { $inc: { n: 1 } }, 2 ** 31, "long"],
    [long(1), { $inc: { n: 1 } }, 2, "long"],
    [1, { $inc: { n: double(1) } }, 2, "double"],
    [double(1), { $inc: { n: 1 } }, 2, "double"],
    [1.5, { $mul: { n: 2 } }, 3, "double"],
    [long(3), { $mul: { n: 2 } }, 6, "long"],
    [1, { $max: { n: long(2) } }, 2, "long"],
    ...(differs("bitsOfLongs")
      ? []
      : [
        [long(5), { $bit: { n: { and: 4 } } }, 4, "long"],
        [5, { $bit: { n: { or: long(2) } } }, 7, "long"],
        [undefined, { $bit: { n: { or: long(2) } } }, 2, "long"]
      ] as const),
    [5, { $bit: { n: { and: 4 } } }, 4, "int"],
    [1, { $push: { l: double(1) } }, 1, "int"],
    [1, [{ $set: { n: { $divide: [4, 2] } } }], 2, "double"]
  ])("updates %s by %j to %s of the type %s", ([n, update, expected, type]) =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf([{ _id: 1, n }])
      yield* store.updateOne(name, { _id: 1 }, update)
      assert.strictEqual((yield* store.findById(name, 1))?.["n"], expected)
      assert.deepStrictEqual(yield* ids({ n: { $type: type } }), [1])
    }))

  it.effect.each<readonly [stored: unknown, update: Document]>([
    [Long.MAX_VALUE, { $inc: { n: 1 } }],
    [Long.MIN_VALUE, { $mul: { n: -1 } }],
    [double(4), { $bit: { n: { and: 4 } } }]
  ])("rejects an update of %s by %j", ([n, update]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n }])
      const before = yield* all
      assert.strictEqual((yield* Effect.flip(store.updateOne(name, { _id: 1 }, update)))._tag, "QueryRejected")
      assert.deepStrictEqual(yield* all, before)
    }))

  it.effect("groups numbers by their values, and sums them by their types", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 1, k: 1, n: 1 },
        { _id: 2, k: double(1), n: long(1) },
        { _id: 3, k: 2, n: 1 },
        { _id: 4, k: long(2), n: double(1) }
      ])
      const groups = yield* Stream.runCollect(store.aggregate(name, [
        { $sort: { _id: 1 } },
        { $group: { _id: "$k", sum: { $sum: "$n" }, mean: { $avg: "$n" }, count: { $sum: 1 } } },
        { $sort: { _id: 1 } },
        { $set: { types: [{ $type: "$sum" }, { $type: "$mean" }, { $type: "$count" }] } }
      ]))
      assert.deepStrictEqual(groups, [
        { _id: 1, sum: 2, mean: 1, count: 2, types: ["long", "double", "int"] },
        { _id: 2, sum: 2, mean: 1, count: 2, types: ["double", "double", "int"] }
      ])
    }))

  it.effect("takes numbers of any type for counts, places and directions", () =>
    Effect.gen(function*() {
      const { find, name, store } = yield* collectionOf([1, 2, 3].map((_id) => ({ _id, l: [3, 1, 2] })))
      const down = differs("typedDirections") ? -1 : long(-1)
      const run = (...stages: ReadonlyArray<Document>) => Stream.runCollect(store.aggregate(name, stages))
      const results = yield* run(
        { $sort: { _id: down } },
        { $skip: long(1) },
        { $limit: double(1) },
        { $project: { l: { $slice: ["$l", long(2)] }, s: { $sortArray: { input: "$l", sortBy: down } } } }
      )
      assert.deepStrictEqual(results, [{ _id: 2, l: [3, 1], s: [3, 2, 1] }])
      const [found] = yield* find({ filter: { l: { $size: long(3) } }, projection: { l: { $slice: double(1) } } })
      assert.deepStrictEqual(found, { _id: 1, l: [3] })
      yield* store.updateOne(name, { _id: 1 }, { $push: { l: { $each: [9], $position: long(0), $slice: long(2) } } })
      yield* store.updateOne(name, { _id: 1 }, { $pop: { l: long(1) } })
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, l: [9] })
    }))
}
