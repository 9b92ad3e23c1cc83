import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

/** Aggregation pipelines. */
export const pipelineContract = (it: Tests) => {
  it.effect.each<[string, ReadonlyArray<Document>, ReadonlyArray<Document>]>([
    ["passes everything through without stages", [], sales],
    ["matches", [{ $match: { city: "Bern", amount: { $gt: 5 } } }], sales.filter(({ _id }) => _id === 3)],
    ["sorts, skips and limits in the order of the stages", [
      { $sort: { amount: -1, _id: 1 } },
      { $skip: 1 },
      { $limit: 2 },
      { $project: { amount: 1 } }
    ], [{ _id: 3, amount: 10 }, { _id: 1, amount: 5 }]],
    ["limits before it sorts when it is told to", [
      { $sort: { _id: 1 } },
      { $limit: 2 },
      { $sort: { _id: -1 } },
      { $project: { _id: 1 } }
    ], [{ _id: 2 }, { _id: 1 }]],
    ["counts", [{ $match: { city: "Bern" } }, { $count: "n" }], [{ n: 2 }]],
    ["groups by a field", [
      {
        $group: {
          _id: "$city",
          n: { $sum: 1 },
          total: { $sum: "$amount" },
          mean: { $avg: "$amount" },
          least: { $min: "$amount" },
          latest: { $max: "$placed" }
        }
      },
      { $sort: { _id: 1 } }
    ], [
      { _id: null, n: 1, total: 0, mean: null, least: null, latest: day(5) },
      { _id: "Bern", n: 2, total: 15, mean: 7.5, least: 5, latest: day(3) },
      { _id: "Chur", n: 2, total: 20.5, mean: 10.25, least: 0.5, latest: day(4) }
    ]],
    ["groups everything", [{ $group: { _id: null, total: { $sum: "$amount" }, n: { $sum: 1 } } }], [
      { _id: null, total: 35.5, n: 5 }
    ]],
    ["groups by several fields", [
      { $group: { _id: { city: "$city", large: { $gte: ["$amount", 10] } }, n: { $sum: 1 } } },
      { $sort: { "_id.city": 1, "_id.large": 1 } }
    ], [
      { _id: { large: false }, n: 1 },
      { _id: { city: "Bern", large: false }, n: 1 },
      { _id: { city: "Bern", large: true }, n: 1 },
      { _id: { city: "Chur", large: false }, n: 1 },
      { _id: { city: "Chur", large: true }, n: 1 }
    ]],
    ["gathers the values of a group", [
      { $sort: { _id: 1 } },
      { $match: { city: "Bern" } },
      { $group: { _id: "$city", all: { $push: "$amount" }, first: { $first: "$_id" }, last: { $last: "$_id" } } }
    ], [{ _id: "Bern", all: [5, 10], first: 1, last: 3 }]],
    ["projects fields, nested fields and expressions", [
      { $match: { _id: 1 } },
      {
        $project: {
          _id: 0,
          "buyer.name": 1,
          double: { $multiply: ["$amount", 2] },
          rest: { $subtract: ["$amount", 1] },
          label: { $concat: ["$city", ": ", "$buyer.name"] },
          loud: { $toUpper: "$city" },
          size: { $cond: [{ $gte: ["$amount", 10] }, "large", "small"] },
          day: { $dateToString: { date: "$placed", format: "%Y-%m-%d" } },
          lines: { $size: "$lines" },
          note: { $ifNull: ["$note", "none"] },
          fixed: { $literal: "$city" }
        }
      }
    ], [{
      buyer: { name: "Jane" },
      double: 10,
      rest: 4,
      label: "Bern: Jane",
      loud: "BERN",
      size: "small",
      day: "2026-01-01",
      lines: 2,
      note: "none",
      fixed: "$city"
    }]],
    ["leaves out fields", [{ $match: { _id: 5 } }, { $project: { placed: 0 } }], [{ _id: 5, lines: [] }]],
    ["adds and overwrites fields", [
      { $match: { _id: 3 } },
      { $addFields: { amount: { $add: ["$amount", 1] }, "buyer.known": true, none: "$nothing" } }
    ], [{ ...sales[2], amount: 11, buyer: { known: true } }]],
    ["unwinds lists", [
      { $unwind: "$lines" },
      { $group: { _id: "$lines.item", count: { $sum: "$lines.count" } } },
      { $sort: { count: -1, _id: 1 } }
    ], [{ _id: "pen", count: 6 }, { _id: "ink", count: 3 }, { _id: "cup", count: 1 }]],
    ["unwinds empty and missing lists when it is told to", [
      { $unwind: { path: "$lines", preserveNullAndEmptyArrays: true, includeArrayIndex: "place" } },
      { $sort: { _id: 1, place: 1 } },
      { $project: { place: 1, item: "$lines.item" } }
    ], [
      { _id: 1, item: "pen", place: 0 },
      { _id: 1, item: "ink", place: 1 },
      { _id: 2, item: "pen", place: 0 },
      { _id: 3, item: "cup", place: 0 },
      { _id: 4, place: null },
      { _id: 5, place: null }
    ]],
    ["answers several questions at once", [
      {
        $facet: {
          cities: [{ $match: { city: { $ne: null } } }, { $group: { _id: "$city" } }, { $sort: { _id: 1 } }],
          total: [{ $count: "n" }],
          page: [{ $sort: { _id: -1 } }, { $limit: 1 }, { $project: { _id: 1 } }],
          none: [{ $match: { _id: 0 } }]
        }
      }
    ], [{ cities: [{ _id: "Bern" }, { _id: "Chur" }], total: [{ n: 5 }], page: [{ _id: 5 }], none: [] }]],
    ["matches what an earlier stage made", [
      { $group: { _id: "$city", n: { $sum: 1 } } },
      { $match: { n: { $lt: 2 } } }
    ], [{ _id: null, n: 1 }]]
  ])("%s", ([, pipeline, expected]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(sales)
      const aggregated = store.aggregate(name, pipeline)
      assert.deepStrictEqual(yield* Stream.runCollect(aggregated), expected)
      assert.deepStrictEqual(yield* Stream.runCollect(aggregated), expected)
      assert.deepStrictEqual(yield* all, sales)
    }))

  it.effect("$facet returns one document for an empty collection, and $group none", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const answered = yield* Stream.runCollect(store.aggregate(name, [{ $facet: { none: [{ $limit: 1 }] } }]))
      assert.deepStrictEqual(answered, [{ none: [] }])
      assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, [{ $group: { _id: null } }])), [])
    }))

  it.effect("aggregates more documents than one batch holds", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 2_500 }, (_, _id) => ({ _id, k: _id % 5 })))
      const sums = yield* Stream.runCollect(
        store.aggregate(name, [{ $group: { _id: "$k", sum: { $sum: "$_id" } } }, { $sort: { _id: 1 } }])
      )
      assert.deepStrictEqual(sums, [0, 1, 2, 3, 4].map((k) => ({ _id: k, sum: 623_750 + 500 * k })))
      const passed = yield* Stream.runCollect(store.aggregate(name, [{ $sort: { _id: 1 } }, { $skip: 1 }]))
      assert.deepStrictEqual(passed.map(({ _id }) => _id), Array.from({ length: 2_499 }, (_, index) => index + 1))
    }))
}

const sales: ReadonlyArray<Document> = [
  {
    _id: 1,
    city: "Bern",
    amount: 5,
    placed: day(1),
    buyer: { name: "Jane" },
    lines: [{ item: "pen", count: 4 }, { item: "ink", count: 3 }]
  },
  { _id: 2, city: "Chur", amount: 20, placed: day(2), lines: [{ item: "pen", count: 2 }] },
  { _id: 3, city: "Bern", amount: 10, placed: day(3), lines: [{ item: "cup", count: 1 }] },
  { _id: 4, city: "Chur", amount: 0.5, placed: day(4) },
  { _id: 5, placed: day(5), lines: [] }
]
