import { assert } from "@effect/vitest"
import { Decimal128, Long, ObjectId } from "bson"
import { Effect } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, Update, UpdatePipeline } from "../../src/DocumentStore.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

type Case = [name: string, before: Document, update: Update, after: Document]

/** Update operators, and what an update says that it did. */
export const updateContract = (it: Tests, differs: Differs) => {
  it.effect.each<Case>([
    ["sets fields, new ones and old ones", { a: 1 }, { $set: { a: 2, b: "x" } }, { a: 2, b: "x" }],
    ["sets a nested field and leaves its neighbours", { n: { x: 1, y: 2 } }, { $set: { "n.x": 3 } }, {
      n: { x: 3, y: 2 }
    }],
    ["sets a whole nested document", { n: { x: 1, y: 2 } }, { $set: { n: { x: 3 } } }, { n: { x: 3 } }],
    ["sets a nested field of nothing", {}, { $set: { "a.b.c": 1 } }, { a: { b: { c: 1 } } }],
    ["sets an item by its place", { l: [1, 2, { x: 1 }] }, { $set: { "l.0": 9, "l.2.x": 8 } }, { l: [9, 2, { x: 8 }] }],
    ["sets an item behind the end", { l: [1] }, { $set: { "l.3": 4 } }, { l: [1, null, null, 4] }],
    ["sets a key that is a number in a document", { n: {} }, { $set: { "n.0": 1 } }, { n: { 0: 1 } }],
    ["sets null", { a: 1 }, { $set: { a: null } }, { a: null }],
    ["sets another type", { a: 1 }, { $set: { a: [day(1)] } }, { a: [day(1)] }],
    ["unsets fields, nested ones too", { a: 1, n: { x: 1, y: 2 } }, { $unset: { a: "", "n.x": 1 } }, { n: { y: 2 } }],
    ["leaves null behind when an item is unset", { l: [1, 2] }, { $unset: { "l.0": "" } }, { l: [null, 2] }],
    ["increments", { a: 1, n: { x: 1.5 } }, { $inc: { a: 2, "n.x": -3 } }, { a: 3, n: { x: -1.5 } }],
    ["increments what is missing from 0", {}, { $inc: { "n.x": 5 } }, { n: { x: 5 } }],
    ["increments longs exactly", { a: Long.fromString("9007199254740993") }, { $inc: { a: 2 } }, {
      a: Long.fromString("9007199254740995")
    }],
    ["increments beyond 32 bits", { a: 2147483647 }, { $inc: { a: 1 } }, { a: 2147483648 }],
    ["adds decimals exactly", { a: Decimal128.fromString("0.1") }, { $inc: { a: Decimal128.fromString("0.2") } }, {
      a: Decimal128.fromString("0.3")
    }],
    ["multiplies", { a: 3 }, { $mul: { a: 1.5 } }, { a: 4.5 }],
    ["multiplies what is missing to 0", { a: 1 }, { $mul: { b: 5 } }, { a: 1, b: 0 }],
    ["multiplies whole numbers to a whole 0", { a: -1 }, { $mul: { a: 0, b: -1 } }, { a: 0, b: 0 }],
    ["takes the lesser", { a: 5, d: day(3) }, { $min: { a: 3, d: day(2), c: 1 } }, { a: 3, d: day(2), c: 1 }],
    ["takes the greater", { a: 5, d: day(3) }, { $max: { a: 7, d: day(4), c: 1 } }, { a: 7, d: day(4), c: 1 }],
    ["compares types when it takes the lesser", { a: "x" }, { $min: { a: 9 } }, { a: 9 }],
    ["renames", { a: 1, n: { x: 1 } }, { $rename: { a: "b", "n.x": "n.y" } }, { b: 1, n: { y: 1 } }],
    ["renames over what is there", { a: 1, b: 2 }, { $rename: { a: "b" } }, { b: 1 }],
    ["pushes an item", { l: [1] }, { $push: { l: 2 } }, { l: [1, 2] }],
    ["pushes a list as one item", { l: [1] }, { $push: { l: [2, 3] } }, { l: [1, [2, 3]] }],
    ["pushes each of several items", { l: [1] }, { $push: { l: { $each: [2, 1] } } }, { l: [1, 2, 1] }],
    ["pushes onto what is missing", {}, { $push: { "n.l": { x: 1 } } }, { n: { l: [{ x: 1 }] } }],
    ["pushes and keeps the last", { l: [1, 2] }, { $push: { l: { $each: [3, 4], $slice: -3 } } }, { l: [2, 3, 4] }],
    ["pushes at a place", { l: [1, 2] }, { $push: { l: { $each: [8, 9], $position: 1 } } }, { l: [1, 8, 9, 2] }],
    ["pushes and sorts", { l: [{ n: 3 }, { n: 1 }] }, { $push: { l: { $each: [{ n: 2 }], $sort: { n: -1 } } } }, {
      l: [{ n: 3 }, { n: 2 }, { n: 1 }]
    }],
    ["adds what a list doesn't have", { l: [1, { x: 1 }] }, { $addToSet: { l: { x: 2 } } }, {
      l: [1, { x: 1 }, { x: 2 }]
    }],
    ["adds each of several that a list doesn't have", { l: [1] }, { $addToSet: { l: { $each: [1, 2, 2, "1"] } } }, {
      l: [1, 2, "1"]
    }],
    ["adds to a list that is missing", {}, { $addToSet: { l: 1 } }, { l: [1] }],
    ["pulls every item of a value", { l: [1, 2, 1, "1"] }, { $pull: { l: 1 } }, { l: [2, "1"] }],
    ["pulls what keeps a bound", { l: [1, 5, 9, "x"] }, { $pull: { l: { $gte: 5 } } }, { l: [1, "x"] }],
    ["pulls any of several", { l: ["a", "b", "c"] }, { $pull: { l: { $in: ["a", "c", "z"] } } }, { l: ["b"] }],
    [
      "pulls documents by some of their fields",
      { l: [{ x: 1, y: 1 }, { x: 2, y: 1 }, 1] },
      { $pull: { l: { x: 1 } } },
      {
        l: [{ x: 2, y: 1 }, 1]
      }
    ],
    ["pulls documents by bounds", { l: [{ x: 1, y: 1 }, { x: 3, y: 1 }] }, { $pull: { l: { x: { $gt: 2 }, y: 1 } } }, {
      l: [{ x: 1, y: 1 }]
    }],
    ["pops the last item", { l: [1, 2, 3] }, { $pop: { l: 1 } }, { l: [1, 2] }],
    ["pops the first item", { n: { l: [1, 2, 3] } }, { $pop: { "n.l": -1 } }, { n: { l: [2, 3] } }],
    ["does several things at once", { a: 1, b: 1, l: [1] }, {
      $set: { c: 1 },
      $inc: { a: 1 },
      $unset: { b: "" },
      $push: { l: 2 },
      $setOnInsert: { d: 1 }
    }, { a: 2, l: [1, 2], c: 1 }]
  ])("%s", ([, before, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, ...before }, { _id: 2, untouched: true }])
      const changed = { matchedCount: 1, modifiedCount: 1 }
      assert.deepStrictEqual(yield* store.updateOne(name, { _id: 1 }, update), changed)
      assert.deepStrictEqual(yield* all, [{ _id: 1, ...after }, { _id: 2, untouched: true }])
      yield* store.replaceOne(name, { _id: 1 }, before)
      assert.deepStrictEqual(yield* store.updateMany(name, { _id: 1 }, update), changed)
      assert.deepStrictEqual(yield* all, [{ _id: 1, ...after }, { _id: 2, untouched: true }])
    }))

  it.effect.each<[string, Update]>([
    ["the same value", { $set: { a: 1, s: "x", "n.x": 1, l: [1, { y: 2 }] } }],
    ["the same identifier", { $set: { _id: 1 } }],
    ["the same date", { $set: { d: day(1) } }],
    ["no value", { $unset: { none: "", "n.none": "", "a.b": "" } }],
    ["0 more", { $inc: { a: 0 } }],
    ["1 times", { $mul: { a: 1 } }],
    ["something that is not less", { $min: { a: 1, d: day(2) } }],
    ["something that is not greater", { $max: { a: 0, d: day(1) } }],
    ["a new name of nothing", { $rename: { none: "other" } }],
    ["what the list has", { $addToSet: { l: { y: 2 } } }],
    ["no items", { $push: { l: { $each: [] } } }],
    ["items that are not there", { $pull: { l: 9, none: 1 } }],
    ["items of nothing", { $pop: { empty: 1, none: -1 } }],
    ["what is for new documents", { $setOnInsert: { a: 9 } }]
  ])("says that nothing is modified by %s", ([, update]) =>
    Effect.gen(function*() {
      const document = { _id: 1, a: 1, s: "x", n: { x: 1 }, l: [1, { y: 2 }], empty: [], d: day(1) }
      const { all, name, store } = yield* collectionOf([document])
      const untouched = { matchedCount: 1, modifiedCount: 0 }
      assert.deepStrictEqual(yield* store.updateOne(name, { _id: 1 }, update), untouched)
      assert.deepStrictEqual(yield* store.updateMany(name, {}, update), untouched)
      assert.deepStrictEqual(yield* all, [document])
    }))

  it.effect("changes one document, or all", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([1, 2, 3, 4].map((_id) => ({ _id, a: _id % 2, b: 0 })))
      const filter = { a: 1 }
      assert.deepStrictEqual(yield* store.updateOne(name, filter, { $set: { b: 1 } }), {
        matchedCount: 1,
        modifiedCount: 1
      })
      assert.strictEqual(yield* store.count(name, { b: 1 }), 1)
      assert.deepStrictEqual(yield* store.updateMany(name, filter, { $set: { b: 1 } }), {
        matchedCount: 2,
        modifiedCount: 1
      })
      assert.deepStrictEqual(yield* store.updateMany(name, { a: 5 }, { $set: { b: 1 } }), {
        matchedCount: 0,
        modifiedCount: 0
      })
      assert.strictEqual(yield* store.count(name, { b: 1 }), 2)
    }))

  it.effect("keeps the order of fields, and puts new ones at the end", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ z: 1, _id: 1, y: 2, x: { b: 1, a: 2 } }])
      yield* store.updateOne(name, { _id: 1 }, { $set: { y: 3, a: 1, "x.b": 2 }, $unset: { none: "" } })
      const found = yield* store.findById(name, 1)
      assert.strictEqual(JSON.stringify(found), "{\"_id\":1,\"z\":1,\"y\":3,\"x\":{\"b\":2,\"a\":2},\"a\":1}")
    }))

  it.effect.each<[string, Filter, Update, Document]>([
    ["an equality", { _id: 7, a: 1, b: { $eq: "x" } }, { $set: { c: 3 } }, { _id: 7, a: 1, b: "x", c: 3 }],
    ["a nested equality", { _id: 7, "n.x": 1, "n.y": 2 }, { $inc: { c: 1 } }, { _id: 7, n: { x: 1, y: 2 }, c: 1 }],
    ["equalities that all hold", { $and: [{ _id: 7 }, { a: 1 }, { $and: [{ b: 2 }] }] }, { $set: { c: 3 } }, {
      _id: 7,
      a: 1,
      b: 2,
      c: 3
    }],
    ["nothing that is not an equality", { _id: 7, a: { $gt: 1 }, b: { $exists: false }, $nor: [{ d: 1 }] }, {
      $set: { c: 3 }
    }, { _id: 7, c: 3 }],
    ["one of two alternatives", { _id: 7, $or: [{ a: 1 }, { a: 2 }] }, { $set: { c: 3 } }, { _id: 7, c: 3 }],
    ["a pattern as a value", { _id: 7, a: { $eq: /x/ } }, { $set: { c: 3 } }, { _id: 7, a: /x/, c: 3 }],
    ["a value that the update changes", { _id: 7, a: 1 }, { $inc: { a: 1 } }, { _id: 7, a: 2 }],
    ["no identifier but the update's", { a: 1 }, { $set: { _id: 7 } }, { _id: 7, a: 1 }],
    ["no identifier but that for new documents", { a: 1 }, { $setOnInsert: { _id: 7, b: 2 }, $set: { c: 3 } }, {
      _id: 7,
      a: 1,
      b: 2,
      c: 3
    }]
  ])("upserts from %s", ([, filter, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      assert.deepStrictEqual(yield* store.updateOne(name, filter, update), { matchedCount: 0, modifiedCount: 0 })
      assert.deepStrictEqual(yield* store.updateOne(name, filter, update, { upsert: true }), {
        matchedCount: 0,
        modifiedCount: 0,
        upsertedId: 7
      })
      assert.deepStrictEqual(yield* all, [after])
    }))

  it.effect("does not upsert when a document matches, and ignores $setOnInsert then", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1 }])
      const update = { $set: { a: 1 }, $setOnInsert: { b: 2 } }
      assert.deepStrictEqual(yield* store.updateOne(name, { _id: 1 }, update, { upsert: true }), {
        matchedCount: 1,
        modifiedCount: 0
      })
      assert.deepStrictEqual(yield* all, [{ _id: 1, a: 1 }])
    }))

  it.effect("generates an identifier for an upsert without one", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const { upsertedId } = yield* store.updateOne(name, { a: 1 }, { $set: { b: 2 } }, { upsert: true })
      assert.isTrue(ObjectId.isValid(String(upsertedId)))
      assert.deepStrictEqual(yield* store.find(name, { projection: { _id: 0 } }), [{ a: 1, b: 2 }])
      assert.isDefined(yield* store.findById(name, upsertedId))
    }))

  it.effect.each<[string, Update | UpdatePipeline, Document]>(
    differs("equalIdentifiers") ? [] : [
      ["set", { $set: { _id: Long.fromNumber(1), a: 2 } }, { a: 2, d: { x: 1 } }],
      ["computed", { $inc: { _id: Decimal128.fromString("0.0") }, $unset: { d: "" } }, { a: 1 }],
      ["set by a pipeline", [{ $set: { _id: { $toDouble: "$_id" }, a: 2 } }], { a: 2, d: { x: 1 } }],
      ["of another document by a pipeline", [{ $replaceWith: { _id: { $toDecimal: "$_id" }, b: 1 } }], { b: 1 }]
    ]
  )("keeps an identifier that is an equal number of another type: %s", ([, update, after]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, a: 1, d: { x: 1 } }])
      assert.deepStrictEqual(yield* store.updateOne(name, { _id: 1 }, update), { matchedCount: 1, modifiedCount: 1 })
      assert.deepStrictEqual(yield* store.find(name, { projection: { _id: 0 } }), [after])
      assert.deepStrictEqual(yield* store.find(name, { filter: { _id: 1 }, projection: { _id: 0 } }), [after])
      yield* store.replaceOne(name, {}, { _id: Long.fromNumber(1), c: 1 })
      assert.strictEqual((yield* store.findById(name, 1))?.["c"], 1)
      assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: 1 })))._tag, "DuplicateKey")
    }))

  it.effect("updates the list item that the filter matched, or all items", () =>
    Effect.gen(function*() {
      const items = [{ k: "a", n: 1 }, { k: "b", n: 1 }, { k: "b", n: 1 }]
      const { all, name, store } = yield* collectionOf([{ _id: 1, items }])
      yield* store.updateOne(name, { "items.k": "b" }, { $inc: { "items.$.n": 1 } })
      yield* store.updateOne(name, { items: { $elemMatch: { k: "b", n: 1 } } }, { $set: { "items.$": "third" } })
      assert.deepStrictEqual(yield* all, [{ _id: 1, items: [{ k: "a", n: 1 }, { k: "b", n: 2 }, "third"] }])
      yield* store.updateOne(name, { _id: 1 }, { $pop: { items: 1 } })
      yield* store.updateOne(name, { _id: 1 }, { $mul: { "items.$[].n": 10 } })
      assert.deepStrictEqual(yield* all, [{ _id: 1, items: [{ k: "a", n: 10 }, { k: "b", n: 20 }] }])
    }))
}
