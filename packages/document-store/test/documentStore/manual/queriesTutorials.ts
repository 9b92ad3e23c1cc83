import { assert } from "@effect/vitest"
import { Effect, Stream, Struct } from "effect"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"
import { findPagesOf, projectionPagesOf, rejected } from "./queriesPage.ts"

const sized = (h: number, w: number, uom: string) => ({ h, w, uom })
const stock = (warehouse: string, qty: number) => ({ warehouse, qty })

/** Documents that are named by their item. */
const items = <F extends Document>(...list: ReadonlyArray<readonly [item: string, fields: F]>) =>
  list.map(([item, fields]) => ({ _id: item, item, ...fields }))

const inventory = items(
  ["journal", { qty: 25, size: sized(14, 21, "cm"), status: "A" }],
  ["notebook", { qty: 50, size: sized(8.5, 11, "in"), status: "A" }],
  ["paper", { qty: 100, size: sized(8.5, 11, "in"), status: "D" }],
  ["planner", { qty: 75, size: sized(22.85, 30, "cm"), status: "D" }],
  ["postcard", { qty: 45, size: sized(10, 15.25, "cm"), status: "A" }]
)

const projected = items(
  ["journal", { status: "A", size: sized(14, 21, "cm"), instock: [stock("A", 5)] }],
  ["notebook", { status: "A", size: sized(8.5, 11, "in"), instock: [stock("C", 5)] }],
  ["paper", { status: "D", size: sized(8.5, 11, "in"), instock: [stock("A", 60)] }],
  ["planner", { status: "D", size: sized(22.85, 30, "cm"), instock: [stock("A", 40)] }],
  ["postcard", { status: "A", size: sized(10, 15.25, "cm"), instock: [stock("B", 15), stock("C", 35)] }]
)

/** The projected documents of the status "A", with what a projection leaves of them. */
const shown = (fields: (document: typeof projected[number]) => Document) =>
  projected.filter(({ status }) => status === "A").map(fields)

const withUnit = ({ _id, item, size, status }: typeof projected[number]) => ({
  _id,
  item,
  status,
  size: { uom: size.uom }
})

const updated = items(
  ["canvas", { qty: 100, size: sized(28, 35.5, "cm"), status: "A" }],
  ["journal", { qty: 25, size: sized(14, 21, "cm"), status: "A" }],
  ["mat", { qty: 85, size: sized(27.9, 35.5, "cm"), status: "A" }],
  ["mousepad", { qty: 25, size: sized(19, 22.85, "cm"), status: "P" }],
  ["notebook", { qty: 50, size: sized(8.5, 11, "in"), status: "P" }],
  ["paper", { qty: 100, size: sized(8.5, 11, "in"), status: "D" }],
  ["postcard", { qty: 45, size: sized(10, 15.25, "cm"), status: "A" }]
)

/** The manual's tutorials of queries, projections, updates and deletions, and its pages of `$comment` and `$rand`. */
export const queryTutorialPages = (it: Tests, differs: Differs) => {
  const page = findPagesOf(it, differs)
  const projections = projectionPagesOf(it, differs)

  page(
    "the tutorial of queries",
    inventory,
    [{}, ["journal", "notebook", "paper", "planner", "postcard"]],
    [{ status: "D" }, ["paper", "planner"]],
    [{ status: { $in: ["A", "D"] } }, ["journal", "notebook", "paper", "planner", "postcard"]],
    [{ status: "A", qty: { $lt: 30 } }, ["journal"]],
    [{ $or: [{ status: "A" }, { qty: { $lt: 30 } }] }, ["journal", "notebook", "postcard"]],
    [{ status: "A", $or: [{ qty: { $lt: 30 } }, { item: /^p/ }] }, ["journal", "postcard"]]
  )
  page(
    "the tutorial of embedded documents",
    inventory,
    [{ size: sized(14, 21, "cm") }, ["journal"]],
    [{ size: { w: 21, h: 14, uom: "cm" } }, []],
    [{ "size.uom": "in" }, ["notebook", "paper"]],
    [{ "size.h": { $lt: 15 } }, ["journal", "notebook", "paper", "postcard"]],
    [{ "size.h": { $lt: 15 }, "size.uom": "in", status: "D" }, ["paper"]]
  )
  page(
    "the tutorial of arrays",
    items(
      ["journal", { qty: 25, tags: ["blank", "red"], dim_cm: [14, 21] }],
      ["notebook", { qty: 50, tags: ["red", "blank"], dim_cm: [14, 21] }],
      ["paper", { qty: 100, tags: ["red", "blank", "plain"], dim_cm: [14, 21] }],
      ["planner", { qty: 75, tags: ["blank", "red"], dim_cm: [22.85, 30] }],
      ["postcard", { qty: 45, tags: ["blue"], dim_cm: [10, 15.25] }]
    ),
    [{ tags: ["red", "blank"] }, ["notebook"]],
    [{ tags: { $all: ["red", "blank"] } }, ["journal", "notebook", "paper", "planner"]],
    [{ tags: "red" }, ["journal", "notebook", "paper", "planner"]],
    [{ dim_cm: { $gt: 25 } }, ["planner"]],
    [{ dim_cm: { $gt: 15, $lt: 20 } }, ["journal", "notebook", "paper", "postcard"]],
    [{ dim_cm: { $elemMatch: { $gt: 22, $lt: 30 } } }, ["planner"]],
    [{ "dim_cm.1": { $gt: 25 } }, ["planner"]],
    [{ tags: { $size: 3 } }, ["paper"]]
  )
  page(
    "the tutorial of arrays of embedded documents",
    items(
      ["journal", { instock: [stock("A", 5), stock("C", 15)] }],
      ["notebook", { instock: [stock("C", 5)] }],
      ["paper", { instock: [stock("A", 60), stock("B", 15)] }],
      ["planner", { instock: [stock("A", 40), stock("B", 5)] }],
      ["postcard", { instock: [stock("B", 15), stock("C", 35)] }]
    ),
    [{ instock: stock("A", 5) }, ["journal"]],
    [{ instock: { qty: 5, warehouse: "A" } }, []],
    [{ "instock.qty": { $lte: 20 } }, ["journal", "notebook", "paper", "planner", "postcard"]],
    [{ "instock.0.qty": { $lte: 20 } }, ["journal", "notebook", "postcard"]],
    [{ instock: { $elemMatch: { qty: 5, warehouse: "A" } } }, ["journal"]],
    [{ instock: { $elemMatch: { qty: { $gt: 10, $lte: 20 } } } }, ["journal", "paper", "postcard"]],
    [{ "instock.qty": { $gt: 10, $lte: 20 } }, ["journal", "paper", "planner", "postcard"]],
    [{ "instock.qty": 5, "instock.warehouse": "A" }, ["journal", "planner"]]
  )
  page(
    "the tutorial of null and missing fields",
    [{ _id: 1, item: null }, { _id: 2 }],
    [{ item: null }, [1, 2]],
    [{ item: { $ne: null } }, []],
    [{ item: { $type: 10 } }, [1]],
    [{ item: { $exists: false } }, [2]]
  )

  projections(
    "the tutorial of projections",
    projected,
    [{ status: "A" }, {}, shown((document) => document)],
    [{ status: "A" }, { item: 1, status: 1 }, shown(({ _id, item }) => ({ _id, item, status: "A" }))],
    [{ status: "A" }, { item: 1, status: 1, _id: 0 }, shown(({ item }) => ({ item, status: "A" }))],
    [{ status: "A" }, { status: 0, instock: 0 }, shown(({ _id, item, size }) => ({ _id, item, size }))],
    [{ status: "A" }, { item: 1, status: 1, "size.uom": 1 }, shown(withUnit)],
    [{ status: "A" }, { item: 1, status: 1, size: { uom: 1 } }, shown(withUnit), "nestedProjections"],
    [{ status: "A" }, { "size.uom": 0 }, shown(({ size: { h, w }, ...rest }) => ({ ...rest, size: { h, w } }))],
    [
      { status: "A" },
      { item: 1, status: 1, "instock.qty": 1 },
      shown(({ _id, instock, item }) => ({ _id, item, status: "A", instock: instock.map(({ qty }) => ({ qty })) }))
    ],
    [
      { status: "A" },
      { item: 1, status: 1, instock: { $slice: -1 } },
      shown(({ _id, instock, item }) => ({ _id, item, status: "A", instock: instock.slice(-1) }))
    ],
    [{ status: "A" }, { item: 1, status: 0 }, rejected],
    // The number is a field's name, not a place.
    [{ _id: "journal" }, { "instock.0": 1 }, [{ _id: "journal", instock: [{}] }]],
    [
      { _id: "journal" },
      {
        _id: 0,
        item: 1,
        status: { $switch: { branches: [{ case: { $eq: ["$status", "A"] }, then: "Available" }], default: "?" } },
        area: {
          $concat: [{ $toString: { $multiply: ["$size.h", "$size.w"] } }, " ", "$size.uom"]
        },
        reportNumber: { $literal: 1 }
      },
      [{ item: "journal", status: "Available", area: "294 cm", reportNumber: 1 }]
    ]
  )

  it.effect("updates and replaces as the manual's tutorial", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(updated)
      yield* store.updateOne(name, { item: "paper" }, {
        $set: { "size.uom": "cm", status: "P" },
        $currentDate: { lastModified: true }
      })
      yield* store.updateMany(name, { qty: { $lt: 50 } }, {
        $set: { "size.uom": "in", status: "P" },
        $currentDate: { lastModified: true }
      })
      const found = yield* all
      const changed = ["journal", "mousepad", "paper", "postcard"]
      assert.deepStrictEqual(
        found.flatMap(({ item, lastModified }) => lastModified instanceof Date ? [item] : []),
        changed
      )
      const expected = updated.map((document) =>
        changed.includes(document.item)
          ? { ...document, status: "P", size: { ...document.size, uom: document.item === "paper" ? "cm" : "in" } }
          : document
      )
      assert.deepStrictEqual(plain(found.map(Struct.omit(["lastModified"]))), plain(expected))
      const replacement = { item: "paper", instock: [stock("A", 60), stock("B", 40)] }
      yield* store.replaceOne(name, { item: "paper" }, replacement)
      assert.deepStrictEqual(yield* store.findById(name, "paper"), { _id: "paper", ...replacement })
    }))

  it.effect("deletes as the manual's tutorial", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(inventory)
      assert.strictEqual(yield* store.deleteMany(name, { status: "A" }), 3)
      assert.strictEqual(yield* store.deleteOne(name, { status: "D" }), 1)
      assert.strictEqual(yield* store.deleteMany(name, {}), 1)
    }))

  it.effect("finds as the manual's examples of $comment", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf([1, 2, 3, 4].map((_id) => ({ _id, x: _id })))
      assert.deepStrictEqual(yield* ids({ x: { $mod: [2, 0] }, $comment: "Find even values." }), [2, 4])
      const groups = yield* Stream.runCollect(store.aggregate(name, [
        { $match: { x: { $gt: 0 }, $comment: "Don't allow negative inputs." } },
        { $group: { _id: { $mod: ["$x", 2] }, total: { $sum: "$x" } } },
        { $sort: { _id: 1 } }
      ]))
      assert.deepStrictEqual(groups, [{ _id: 0, total: 6 }, { _id: 1, total: 4 }])
    }))

  it.effect("finds and updates as the manual's examples of $rand", () =>
    Effect.gen(function*() {
      const donors = yield* collectionOf([1000, 1001, 1002, 1003, 1004].map((_id) => ({ _id, amount: 0 })))
      yield* donors.store.updateMany(donors.name, {}, [
        { $set: { amount: { $floor: { $multiply: [{ $rand: {} }, 100] } } } }
      ])
      for (const { amount } of yield* donors.all) {
        assert.isTrue(Number.isInteger(amount) && Number(amount) >= 0 && Number(amount) < 100, String(amount))
      }
      const voters = yield* collectionOf(
        Array.from({ length: 200 }, (_, _id) => ({ _id, district: _id < 100 ? 3 : 4 }))
      )
      const found = yield* voters.ids({ district: 3, $expr: { $lt: [0.5, { $rand: {} }] } })
      assert.isTrue(
        found.length > 0 && found.length < 100 && found.every((id) => Number(id) < 100),
        String(found.length)
      )
    }))
}
