import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Store, type Tests } from "./collection.ts"

type Case = [name: string, pipeline: (others: string) => ReadonlyArray<Document>, result: ReadonlyArray<Document>]

/** Stages that read other documents than the pipeline's: `$lookup` with pipelines, `$unionWith`, `$documents`. */
export const lookupContract = (it: Tests, differs: Differs) => {
  const count = { $group: { _id: null, n: { $sum: 1 } } }
  it.effect.each<Case>([
    ["documents by a variable", (from) => [
      {
        $lookup: {
          from,
          let: { item: "$item", wanted: "$ordered" },
          pipeline: [
            { $match: { $expr: { $and: [{ $eq: ["$stock_item", "$$item"] }, { $gte: ["$instock", "$$wanted"] }] } } },
            { $project: { stock_item: 0, _id: 0 } }
          ],
          as: "stock"
        }
      },
      { $project: { stock: 1 } }
    ], [
      { _id: 1, stock: [{ warehouse: "A", instock: 120 }, { warehouse: "B", instock: 60 }] },
      { _id: 2, stock: [{ warehouse: "A", instock: 80 }] },
      { _id: 3, stock: [{ warehouse: "A", instock: 40 }, { warehouse: "B", instock: 80 }] }
    ]],
    ["all documents of a pipeline without variables", (from) => [
      { $match: { _id: { $lte: 2 } } },
      {
        $lookup: {
          from,
          pipeline: [{ $match: { warehouse: "B" } }, { $sort: { instock: -1 } }, { $project: { _id: 1 } }],
          as: "b"
        }
      },
      { $project: { b: 1 } }
    ], [{ _id: 1, b: [{ _id: 15 }, { _id: 12 }] }, { _id: 2, b: [{ _id: 15 }, { _id: 12 }] }]],
    ["documents by a field and a pipeline", (from) => [
      {
        $lookup: {
          from,
          localField: "item",
          foreignField: "stock_item",
          let: { wanted: "$ordered" },
          pipeline: [{ $match: { $expr: { $gt: ["$instock", { $multiply: ["$$wanted", 2] }] } } }, count],
          as: "enough"
        }
      },
      { $project: { enough: 1 } }
    ], [{ _id: 1, enough: [{ _id: null, n: 2 }] }, { _id: 2, enough: [{ _id: null, n: 1 }] }, {
      _id: 3,
      enough: [{ _id: null, n: 1 }]
    }]],
    ["documents by a field, limited for each document", (from) => [
      {
        $lookup: {
          from,
          localField: "item",
          foreignField: "stock_item",
          pipeline: [{ $sort: { instock: 1 } }, { $limit: 1 }, { $project: { instock: 1 } }],
          as: "least"
        }
      },
      { $project: { least: 1 } }
    ], [
      { _id: 1, least: [{ _id: 12, instock: 60 }] },
      { _id: 2, least: [{ _id: 13, instock: 80 }] },
      { _id: 3, least: [{ _id: 14, instock: 40 }] }
    ]],
    ["documents by a variable in the fields of a stage", (from) => [
      { $match: { _id: 1 } },
      {
        $lookup: {
          from,
          let: { n: "$ordered" },
          pipeline: [
            { $match: { warehouse: "B" } },
            { $addFields: { more: { $subtract: ["$instock", "$$n"] } } },
            { $group: { _id: "$$n", more: { $push: "$more" } } },
            { $set: { names: { $map: { input: "$more", as: "m", in: { $add: ["$$m", "$$n"] } } } } }
          ],
          as: "b"
        }
      },
      { $project: { b: 1 } }
    ], [{ _id: 1, b: [{ _id: 2, more: [58, 78], names: [60, 80] }] }]],
    ["documents with documents of their own", (from) => [
      { $match: { _id: 1 } },
      {
        $lookup: {
          from,
          let: { item: "$item", order: "$_id" },
          pipeline: [
            { $match: { $expr: { $eq: ["$stock_item", "$$item"] } } },
            {
              $lookup: {
                from,
                let: { warehouse: "$warehouse" },
                pipeline: [
                  { $match: { $expr: { $eq: ["$warehouse", "$$warehouse"] } } },
                  { $match: { $expr: { $ne: ["$stock_item", "$$item"] } } },
                  { $project: { _id: 1, order: "$$order" } }
                ],
                as: "neighbours"
              }
            },
            { $project: { neighbours: 1 } }
          ],
          as: "stock"
        }
      },
      { $project: { stock: 1 } }
    ], [{
      _id: 1,
      stock: [
        { _id: 11, neighbours: [{ _id: 13, order: 1 }, { _id: 14, order: 1 }] },
        { _id: 12, neighbours: [{ _id: 15, order: 1 }] }
      ]
    }]],
    ["documents within a facet", (from) => [
      {
        $facet: {
          some: [
            { $match: { _id: 2 } },
            { $lookup: { from, pipeline: [count], as: "all" } },
            { $project: { all: 1 } }
          ],
          count: [count]
        }
      }
    ], [{ some: [{ _id: 2, all: [{ _id: null, n: 5 }] }], count: [{ _id: null, n: 3 }] }]],
    ["documents of a collection with a pipeline, after the others", (coll) => [
      { $project: { _id: 1 } },
      { $unionWith: { coll, pipeline: [{ $match: { warehouse: "B" } }, { $project: { _id: 1 } }] } },
      { $sort: { _id: -1 } }
    ], [{ _id: 15 }, { _id: 12 }, { _id: 3 }, { _id: 2 }, { _id: 1 }]],
    ...differs("documentsInStages") ? [] : [
      ["literal documents", () => [
        { $match: { _id: 3 } },
        { $unionWith: { pipeline: [{ $documents: [{ _id: 8 }, { _id: 9 }] }, { $match: { _id: { $gt: 8 } } }] } },
        {
          $lookup: {
            localField: "_id",
            foreignField: "place",
            pipeline: [{ $documents: [{ place: 9, name: "nine" }, { place: 3, name: "three" }] }],
            as: "names"
          }
        },
        { $project: { names: "$names.name" } }
      ], [{ _id: 3, names: ["three"] }, { _id: 9, names: ["nine"] }]] satisfies Case
    ]
  ])("joins %s", ([, pipeline, result]) =>
    Effect.gen(function*() {
      const { all, name } = yield* shop
      assert.deepStrictEqual(yield* all(pipeline(name)), result)
    }))

  it.effect("joins nothing from a collection that does not exist", () =>
    Effect.gen(function*() {
      const { all } = yield* shop
      const stages = [{ $lookup: { from: "no such collection", pipeline: [], as: "none" } }, { $project: { none: 1 } }]
      assert.deepStrictEqual(yield* all(stages), [1, 2, 3].map((_id) => ({ _id, none: [] })))
    }))

  it.effect("joins by a variable what an equality of fields joins, whatever the values", () =>
    Effect.gen(function*() {
      const values = [1, 2.5, "1", null, true, [1, 2], { a: 1 }, new Date(0)]
      const { name, store } = yield* collectionOf([...values, ...values].map((v, _id) => ({ _id, v })))
      const joined = yield* Stream.runCollect(store.aggregate(name, [
        { $sort: { _id: 1 } },
        {
          $lookup: {
            from: name,
            let: { v: "$v" },
            pipeline: [{ $match: { $expr: { $eq: ["$v", "$$v"] } } }, { $sort: { _id: 1 } }],
            as: "same"
          }
        }
      ]))
      assert.deepStrictEqual(
        joined.map(({ same }) => idsOf(same as ReadonlyArray<Document>)),
        [...values, ...values].map((_, i) => [i % values.length, i % values.length + values.length])
      )
    }))

  it.effect.each<[string, Document]>([
    ["a $lookup without a collection", { $lookup: { pipeline: [], as: "a" } }],
    ["a $lookup without an as", { $lookup: { from: "a", pipeline: [] } }],
    ["a $lookup with one of two fields", { $lookup: { from: "a", localField: "a", as: "a" } }],
    ["a $lookup with an unknown argument", { $lookup: { from: "a", pipeline: [], as: "a", other: 1 } }],
    ["a $lookup with an unknown stage", { $lookup: { from: "a", pipeline: [{ $nope: {} }], as: "a" } }],
    ["a $lookup with an unknown variable", {
      $lookup: { from: "a", pipeline: [{ $match: { $expr: { $eq: ["$a", "$$none"] } } }], as: "a" }
    }],
    ["a $unionWith without a collection", { $unionWith: { pipeline: [{ $match: {} }] } }],
    ...differs("nestedPipelines") ? [] : [
      ["a $lookup with a variable in capitals", { $lookup: { from: "a", let: { Big: 1 }, pipeline: [], as: "a" } }],
      ["a $lookup that writes", { $lookup: { from: "a", pipeline: [{ $out: "b" }], as: "a" } }],
      ["a $lookup that merges", { $lookup: { from: "a", pipeline: [{ $merge: { into: "b" } }], as: "a" } }],
      ["a $unionWith that writes", { $unionWith: { coll: "a", pipeline: [{ $out: "b" }] } }],
      ["a $facet that writes", { $facet: { a: [{ $out: "b" }] } }]
    ] satisfies ReadonlyArray<[string, Document]>,
    ["$documents over a collection", { $documents: [{ a: 1 }] }],
    ["$documents that are none", { $unionWith: { pipeline: [{ $documents: [1] }] } }]
  ])("refuses %s", ([, stage]) =>
    Effect.gen(function*() {
      const { all } = yield* shop
      assert.strictEqual((yield* Effect.flip(all([stage])))._tag, "QueryRejected")
    }))
}

// internal

/** The orders and the warehouses of MongoDB's manual. */
const shop = Effect.gen(function*() {
  const orders = yield* collectionOf([
    { _id: 1, item: "almonds", price: 12, ordered: 2 },
    { _id: 2, item: "pecans", price: 20, ordered: 1 },
    { _id: 3, item: "cookies", price: 10, ordered: 30 }
  ])
  const { name } = yield* collectionOf([
    { _id: 11, stock_item: "almonds", warehouse: "A", instock: 120 },
    { _id: 13, stock_item: "pecans", warehouse: "A", instock: 80 },
    { _id: 12, stock_item: "almonds", warehouse: "B", instock: 60 },
    { _id: 14, stock_item: "cookies", warehouse: "A", instock: 40 },
    { _id: 15, stock_item: "cookies", warehouse: "B", instock: 80 }
  ])
  const store: Store = orders.store
  return {
    name,
    all: (pipeline: ReadonlyArray<Document>) =>
      Stream.runCollect(store.aggregate(orders.name, pipeline)).pipe(Effect.map((documents) => Array.from(documents)))
  }
})
