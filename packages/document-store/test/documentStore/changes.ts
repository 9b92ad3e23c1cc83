import { assert } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Effect, Result, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, Update } from "../../src/DocumentStore.ts"
import { collectionOf, day, plain, type Tests } from "./collection.ts"

/** What MongoDB's documentation says of updates, projections and stages. */
export const changesContract = (it: Tests, differs: Differs) => {
  it.effect.each<Change>([
    ["sets two fields of the matched item", { c: [{ k: 1, n: 1 }] }, { "c.k": 1 }, {
      $set: { "c.$.a": 1, "c.$.b": 2 }
    }, { c: [{ k: 1, n: 1, a: 1, b: 2 }] }],
    ["sets and increments", { c: [{ k: 0 }, { k: 1, n: 1 }] }, { "c.k": 1 }, {
      $set: { "c.$.a": 1 },
      $inc: { "c.$.n": 2 }
    }, { c: [{ k: 0 }, { k: 1, n: 3, a: 1 }] }],
    ["sets and unsets", { c: [{ k: 1, n: 1 }] }, { "c.k": 1 }, { $set: { "c.$.a": 1 }, $unset: { "c.$.n": "" } }, {
      c: [{ k: 1, a: 1 }]
    }],
    ["increments and takes the greater", { c: [{ k: 1, n: 1, m: 1 }] }, { "c.k": 1 }, {
      $inc: { "c.$.n": 1 },
      $max: { "c.$.m": "x" }
    }, { c: [{ k: 1, n: 2, m: "x" }] }],
    ["increments twice", { c: [{ k: 1, n: 1 }] }, { "c.k": 1 }, { $inc: { "c.$.n": 1, "c.$.m": 2 } }, {
      c: [{ k: 1, n: 2, m: 2 }]
    }],
    ["pushes onto a list of the matched item", { c: [{ k: 1, l: [1] }] }, { "c.k": 1 }, { $push: { "c.$.l": 2 } }, {
      c: [{ k: 1, l: [1, 2] }]
    }],
    ["replaces the matched value", { l: [5, 8, 9] }, { l: { $gt: 6 } }, { $set: { "l.$": 0 } }, { l: [5, 0, 9] }],
    ["changes items of items", { c: [{ k: 1, l: [1, 2] }] }, { "c.k": 1 }, { $inc: { "c.$.l.$[]": 1 } }, {
      c: [{ k: 1, l: [2, 3] }]
    }],
    ["computes decimals of the matched item", { c: [{ k: 1, n: decimal("0.1") }] }, { "c.k": 1 }, {
      $inc: { "c.$.n": decimal("0.2") }
    }, { c: [{ k: 1, n: decimal("0.3") }] }],
    ["multiplies decimals of the matched item", { c: [{ k: 1, n: decimal("0.1") }] }, { "c.k": 1 }, {
      $mul: { "c.$.n": decimal("0.2") }
    }, { c: [{ k: 1, n: decimal("0.02") }] }],
    [
      "compares types and decimals of the matched item",
      {
        c: [{ k: 1, a: "x", b: 5, d: decimal("1.5"), e: decimal("1.5"), f: null }]
      },
      { "c.k": 1 },
      {
        $min: { "c.$.a": 9, "c.$.b": "x", "c.$.d": 1 },
        $max: { "c.$.e": decimal("1.6"), "c.$.f": 0 }
      },
      { c: [{ k: 1, a: 9, b: 5, d: 1, e: decimal("1.6"), f: 0 }] }
    ],
    ...["x", null, day(1)].flatMap((n) =>
      ["$inc", "$mul"].map((operator): Change => [
        `refuses ${operator} of the matched item's ${String(n)}`,
        { c: [{ k: 1, n }] },
        { "c.k": 1 },
        { [operator]: { "c.$.n": 2 } },
        undefined
      ])
    ),
    ["refuses an overflowing long of the matched item", { c: [{ k: 1, n: Long.MAX_VALUE }] }, { "c.k": 1 }, {
      $inc: { "c.$.n": 1 }
    }, undefined],
    ["refuses an overflowing product of the matched item", { c: [{ k: 1, n: Long.MAX_VALUE }] }, { "c.k": 1 }, {
      $mul: { "c.$.n": 2 }
    }, undefined],
    ["refuses a $ that nothing matched", { c: [{ k: 1 }], d: 1 }, { d: 1 }, { $set: { "c.$.n": 1 } }, undefined],
    ["subtracts from a long exactly", { n: long("9007199254740993") }, {}, { $inc: { n: -3 } }, {
      n: 9007199254740990
    }],
    ["multiplies integers exactly", { n: 2147483647 }, {}, { $mul: { n: 2147483647 } }, {
      n: long("4611686014132420609")
    }],
    ["changes the bits of a long", { n: long("4294967296") }, {}, { $bit: { n: { or: 1 } } }, { n: 4294967297 }],
    ["changes bits several times", { n: 6 }, {}, { $bit: { n: { and: 4, or: 8 } } }, { n: 12 }],
    ["refuses other bits", { n: 6 }, {}, { $bit: { n: { not: 1 } } }, undefined],
    ["sorts by whole lists", { l: [{ x: [1, 9] }, { x: [0, 10] }] }, {}, {
      $push: { l: { $each: [], $sort: { x: -1 } } }
    }, {
      l: [{ x: [1, 9] }, { x: [0, 10] }]
    }],
    ["sorts by whole lists upwards", { l: [{ x: [2, 0] }, { x: [1, 9] }] }, {}, {
      $push: { l: { $each: [], $sort: { x: 1 } } }
    }, {
      l: [{ x: [1, 9] }, { x: [2, 0] }]
    }]
  ])("an update %s", ([, before, filter, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, ...before }])
      const done = yield* Effect.result(store.updateOne(name, filter, update))
      if (Result.isFailure(done)) assert.strictEqual(done.failure._tag, "QueryRejected")
      assert.strictEqual(Result.isFailure(done), after === undefined)
      assert.deepStrictEqual(plain(yield* all), plain([{ _id: 1, ...after ?? before }]))
    }))

  it.effect.each<[filter: Filter, inserted: Document | undefined]>([
    [{ _id: { $in: [7] }, n: { $in: [77] } }, { _id: 7, n: 77, b: 1, c: 1 }],
    [{ _id: { $all: [7] }, n: { $all: [77] } }, { _id: 7, n: 77, b: 1, c: 1 }],
    [{ _id: 7, n: { $in: [77, 78] } }, { _id: 7, b: 1, c: 1 }],
    [{ $and: [{ n: 1 }, { n: 1 }] }, undefined]
  ])("an upsert by %j", ([filter, inserted]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const done = yield* Effect.result(store.updateOne(name, filter, { $set: { c: 1, b: 1 } }, { upsert: true }))
      assert.strictEqual(Result.isFailure(done), inserted === undefined)
      // As texts: new fields are in the order of their names.
      assert.strictEqual(JSON.stringify(yield* all), JSON.stringify(inserted === undefined ? [] : [inserted]))
    }))

  it.effect.skipIf(differs("newFieldOrder"))(
    "an update adds fields in the order of their names",
    () =>
      Effect.gen(function*() {
        const updates: ReadonlyArray<Update> = [{ $set: { z: 1, y: 1 } }, { $inc: { z: 1, y: 1 } }, {
          $inc: { z: 1 },
          $set: { y: 1 }
        }]
        for (const update of updates) {
          const { all, name, store } = yield* collectionOf([{ _id: 1 }])
          yield* store.updateOne(name, {}, update)
          assert.strictEqual(JSON.stringify(yield* all), JSON.stringify([{ _id: 1, y: 1, z: 1 }]))
        }
      })
  )

  it.effect.each<[projection: Document, expected: Document | undefined, filter?: Filter]>([
    [{ b: { $slice: 1 } }, { _id: 1, n: 1, b: [1], nested: [{ k: [1, 2] }, { k: [3] }] }],
    [{ b: { $slice: 1 }, n: 0 }, { _id: 1, b: [1], nested: [{ k: [1, 2] }, { k: [3] }] }],
    [{ b: { $slice: -1 }, n: 0, nested: 0 }, { _id: 1, b: [3] }],
    [{ b: { $slice: [1, 1] }, n: 1 }, { _id: 1, n: 1, b: [2] }],
    [{ b: { $elemMatch: { $gte: 2 } } }, { _id: 1, b: [2] }],
    [{ b: { $elemMatch: { $gte: 9 } } }, { _id: 1 }],
    [{ "b.$": 1 }, { _id: 1, b: [2] }, { b: { $gte: 2 } }],
    [{ "b.$": 1 }, undefined, { n: 1 }],
    [{ n: 1, b: 0 }, undefined],
    [{ b: { $slice: "x" } }, undefined]
  ])("a find projects %j", ([projection, expected, filter = {}]) =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf([{ _id: 1, n: 1, b: [1, 2, 3], nested: [{ k: [1, 2] }, { k: [3] }] }])
      const found = yield* Effect.result(find({ filter, projection }))
      assert.deepStrictEqual(Result.getOrUndefined(found), expected === undefined ? undefined : [expected])
    }))

  it.effect.each<[stages: ReadonlyArray<Document>, expected: ReadonlyArray<Document> | undefined]>([
    [[{ $group: { _id: null, all: { $push: "$none" }, each: { $addToSet: "$none" } } }], [{
      _id: null,
      all: [],
      each: []
    }]],
    [[{ $group: { _id: null, pop: { $stdDevPop: "$none" }, samp: { $stdDevSamp: "$none" } } }], [
      { _id: null, pop: null, samp: null }
    ]],
    [[{ $match: { _id: 1 } }, { $group: { _id: null, samp: { $stdDevSamp: "$n" } } }], [{ _id: null, samp: null }]],
    [[{ $group: { _id: null, sum: { $sum: "$d" } } }], [{ _id: null, sum: decimal("0.3") }]],
    [
      [{ $match: { _id: 1 } }, { $project: { n: 1 } }, {
        $densify: { field: "n", range: { step: 1, bounds: [3, 8] } }
      }],
      [
        { n: 3 },
        { n: 4 },
        { _id: 1, n: 5 },
        { n: 6 },
        { n: 7 }
      ]
    ],
    [[{ $fill: { sortBy: { _id: 1 }, output: { m: { method: "linear" }, l: { method: "locf" } } } }, {
      $project: { m: 1, l: 1 }
    }], [{ _id: 1, m: 1, l: "a" }, { _id: 2, m: 2, l: "a" }, { _id: 3, m: 3, l: "c" }]],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6] } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6], default: 3 } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, "x"] } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6], default: "other" } }], [
      { _id: 0, count: 1 },
      { _id: "other", count: 2 }
    ]],
    [[{ $facet: { a: [{ $facet: { b: [] } }] } }], undefined],
    [[{ $unset: [] }], undefined],
    [[{ $sortByCount: "x" }], undefined],
    [[{ $match: { $expr: { $eq: [{ $year: "$none" }, null] } } }, { $count: "n" }], [{ n: 3 }]]
  ])("a pipeline %j", ([stages, expected]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 1, n: 5, d: decimal("0.1"), m: 1, l: "a", items: [{ k: 1 }, { k: 2 }], o: { a: 1 } },
        { _id: 2, n: 7, d: decimal("0.2"), m: null },
        { _id: 3, n: 9, m: 3, l: "c" }
      ])
      const made = yield* Effect.result(Stream.runCollect(store.aggregate(name, [{ $sort: { _id: 1 } }, ...stages])))
      if (Result.isFailure(made)) assert.strictEqual(made.failure._tag, "QueryRejected")
      assert.deepStrictEqual(plain(Result.getOrUndefined(made)), plain(expected))
    }))

  it.effect.skipIf(differs("laxWindows"))(
    "$fill takes no equal values to sort by for linear, and no list of partitions",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([{ _id: 1, k: 1, m: 1 }, { _id: 2, k: 1 }, { _id: 3, k: 2, m: 3 }])
        const linear = { sortBy: { k: 1 }, output: { m: { method: "linear" } } }
        const partitioned = { partitionBy: ["$k"], sortBy: { _id: 1 }, output: { m: { method: "locf" } } }
        for (const $fill of [linear, partitioned]) {
          const error = yield* Effect.flip(Stream.runCollect(store.aggregate(name, [{ $fill }])))
          assert.strictEqual(error._tag, "QueryRejected")
        }
      })
  )

  it.effect.skipIf(differs("elementOfPositional"))(
    "an update prefers the item of an $elemMatch",
    () =>
      Effect.gen(function*() {
        const { all, name, store } = yield* collectionOf([{ _id: 1, c: [{ k: 1 }, { k: 2 }] }])
        const filter = { "c.k": { $gte: 1 }, c: { $elemMatch: { k: 2 } } }
        yield* store.updateOne(name, filter, { $set: { "c.$.x": 1 } })
        assert.deepStrictEqual(yield* all, [{ _id: 1, c: [{ k: 1 }, { k: 2, x: 1 }] }])
      })
  )

  it.effect.skipIf(differs("pathsThroughLists"))(
    "a path leads through each item of a list",
    () =>
      Effect.gen(function*() {
        const { find, name, store } = yield* collectionOf([{ _id: 1, l: [{ k: [1, 2] }, { k: [3] }], o: { a: 1 } }])
        const projection = { "l.k": { $slice: 1 }, o: 0 } as const
        assert.deepStrictEqual(yield* find({ projection }), [{ _id: 1, l: [{ k: [1] }, { k: [3] }] }])
        const added = store.aggregate(name, [{ $addFields: { "l.x": 1, o: { b: 2 } } }])
        assert.deepStrictEqual(yield* Stream.runCollect(added), [
          { _id: 1, l: [{ k: [1, 2], x: 1 }, { k: [3], x: 1 }], o: { a: 1, b: 2 } }
        ])
      })
  )
}

// internal

/** What an update makes of a document; `undefined` if it is refused. */
type Change = [name: string, before: Document, filter: Filter, update: Update, after: Document | undefined]

const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const long = (text: string): Long => Long.fromString(text)
