import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Update } from "../../src/DocumentStore.ts"
import type { StoreError } from "../../src/StoreError.ts"
import { collectionOf, type Tests } from "./collection.ts"

/** Writes that give the document they have written, and updates of some of a list's items. */
export const findOneAndContract = (it: Tests, differs: Differs) => {
  const jobs = [{ _id: 1, rank: 3 }, { _id: 2, rank: 1 }, { _id: 3, rank: 2 }]

  it.effect("updates a document, and returns it before or after the update", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, n: 1 }])
      const inc: Update = { $inc: { n: 1 } }
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { _id: 1 }, inc), { _id: 1, n: 1 })
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { n: 2 }, inc, { returnDocument: "before" }), {
        _id: 1,
        n: 2
      })
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { n: 3 }, inc, { returnDocument: "after" }), {
        _id: 1,
        n: 4
      })
      assert.deepStrictEqual(
        yield* store.findOneAndUpdate(name, { n: 4 }, { $set: { n: 4 } }, { returnDocument: "after" }),
        { _id: 1, n: 4 }
      )
      assert.isUndefined(yield* store.findOneAndUpdate(name, { n: 5 }, inc))
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, n: 4 })
    }))

  it.effect("writes the first document in the sort order", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(jobs)
      const taken = yield* store.findOneAndUpdate(name, {}, { $set: { taken: true } }, { sort: { rank: 1 } })
      assert.deepStrictEqual(taken, { _id: 2, rank: 1 })
      assert.deepStrictEqual(yield* store.findOneAndDelete(name, {}, { sort: { rank: -1 } }), { _id: 1, rank: 3 })
      assert.deepStrictEqual(
        yield* store.findOneAndReplace(name, {}, { done: true }, { sort: { rank: -1 }, returnDocument: "after" }),
        { _id: 3, done: true }
      )
      assert.deepStrictEqual(yield* all, [{ _id: 2, rank: 1, taken: true }, { _id: 3, done: true }])
    }))

  it.effect("applies a projection to the returned document", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1, b: 2 }])
      const options = { projection: { _id: 0, b: 1 }, returnDocument: "after" } as const
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, {}, { $inc: { b: 1 } }, options), { b: 3 })
      assert.deepStrictEqual(yield* store.findOneAndReplace(name, {}, { b: 9, c: 1 }, options), { b: 9 })
      assert.deepStrictEqual(yield* store.findOneAndDelete(name, {}, { projection: { c: 1 } }), { _id: 1, c: 1 })
      assert.deepStrictEqual(yield* all, [])
    }))

  it.effect("upserts when no document matches, and returns none as the one before", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const set: Update = { $set: { n: 1 }, $setOnInsert: { m: 1 } }
      const upsert = { upsert: true } as const
      assert.isUndefined(yield* store.findOneAndUpdate(name, { _id: 1, a: 1 }, set, upsert))
      assert.deepStrictEqual(
        yield* store.findOneAndUpdate(name, { _id: 2 }, set, { ...upsert, returnDocument: "after" }),
        { _id: 2, n: 1, m: 1 }
      )
      assert.isUndefined(yield* store.findOneAndReplace(name, { _id: 3 }, { r: 1 }, upsert))
      assert.deepStrictEqual(
        yield* store.findOneAndReplace(name, { _id: 4, x: 1 }, { r: 1 }, { ...upsert, returnDocument: "after" }),
        { _id: 4, r: 1 }
      )
      assert.deepStrictEqual(yield* all, [
        { _id: 1, a: 1, n: 1, m: 1 },
        { _id: 2, n: 1, m: 1 },
        { _id: 3, r: 1 },
        { _id: 4, r: 1 }
      ])
    }))

  it.effect("fails with DuplicateKey, and changes nothing, when a unique value is taken", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, v: 1 }, { _id: 2, v: 2 }])
      yield* store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }])
      for (
        const write of [
          store.findOneAndUpdate(name, { _id: 1 }, { $set: { v: 2 } }),
          store.findOneAndReplace(name, { _id: 1 }, { v: 2 }),
          store.findOneAndUpdate(name, { _id: 3 }, { $set: { v: 2 } }, { upsert: true })
        ]
      ) {
        const error = yield* Effect.flip(write)
        assert.deepInclude({ ...error }, { _tag: "DuplicateKey", index: "v" })
      }
      assert.deepStrictEqual(yield* all, [{ _id: 1, v: 1 }, { _id: 2, v: 2 }])
    }))

  it.effect("rejects malformed arguments, and changes nothing", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }])
      for (
        const write of [
          store.findOneAndUpdate(name, { $foo: 1 }, { $set: { n: 2 } }),
          store.findOneAndUpdate(name, {}, { $foo: { n: 2 } }),
          store.findOneAndUpdate(name, {}, { n: 2 }),
          store.findOneAndReplace(name, {}, { $set: { n: 2 } }),
          store.findOneAndDelete(name, { $foo: 1 })
        ]
      ) {
        const error = yield* Effect.flip(write)
        assert.strictEqual(error._tag, "QueryRejected")
      }
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 1 }])
    }))

  it.effect.skipIf(differs("lateProjection"))(
    "rejects a malformed projection, and changes nothing",
    () =>
      Effect.gen(function*() {
        const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }])
        const projection = { a: 1, b: 0 }
        const writes: ReadonlyArray<Effect.Effect<unknown, StoreError>> = [
          store.findOneAndUpdate(name, {}, { $set: { n: 2 } }, { projection }),
          store.findOneAndReplace(name, {}, { n: 2 }, { projection }),
          store.findOneAndDelete(name, {}, { projection })
        ]
        for (const write of writes) assert.strictEqual((yield* Effect.flip(write))._tag, "QueryRejected")
        assert.deepStrictEqual(yield* all, [{ _id: 1, n: 1 }])
      })
  )

  it.effect("each document goes to one of many concurrent findOneAndUpdate calls", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 20 }, (_, _id) => ({ _id, taken: false })))
      const take = store.findOneAndUpdate(name, { taken: false }, { $set: { taken: true } }, { sort: { _id: 1 } })
      const taken = yield* Effect.all(Array.from({ length: 30 }, () => take), { concurrency: 30 })
      const ids = taken.flatMap((document) => document === undefined ? [] : [document["_id"]])
      assert.sameMembers(ids, Array.from({ length: 20 }, (_, id) => id))
      assert.strictEqual(yield* store.count(name, { taken: true }), 20)
    }))

  it.effect.each<[string, Document, Update, ReadonlyArray<Document>, Document]>([
    [
      "items by their value",
      { l: [1, 5, 9] },
      { $set: { "l.$[x]": 0 } },
      [{ x: { $gte: 5 } }],
      { l: [1, 0, 0] }
    ],
    [
      "fields of items by other fields of theirs",
      { l: [{ k: "a", n: 1 }, { k: "b", n: 1 }, { k: "a", n: 5 }] },
      { $inc: { "l.$[x].n": 10 } },
      [{ "x.k": "a" }],
      { l: [{ k: "a", n: 11 }, { k: "b", n: 1 }, { k: "a", n: 15 }] }
    ],
    [
      "items of items",
      { l: [{ m: [1, 2] }, { m: [3] }, { m: [2], no: true }] },
      { $set: { "l.$[outer].m.$[inner]": 0 } },
      [{ "outer.no": { $exists: false } }, { inner: { $gt: 1 } }],
      { l: [{ m: [1, 0] }, { m: [0] }, { m: [2], no: true }] }
    ],
    [
      "every item of those that match",
      { l: [{ k: 1, m: [1, 2] }, { k: 2, m: [1] }] },
      { $mul: { "l.$[x].m.$[]": 3 } },
      [{ "x.k": 1 }],
      { l: [{ k: 1, m: [3, 6] }, { k: 2, m: [1] }] }
    ],
    [
      "by several conditions",
      { l: [1, 5, 9] },
      { $unset: { "l.$[x]": "" } },
      [{ $or: [{ x: 1 }, { x: { $gt: 8 } }] }],
      { l: [null, 5, null] }
    ],
    [
      "lists in items",
      { l: [{ k: 1, m: [1] }, { k: 2, m: [1] }] },
      { $push: { "l.$[x].m": 2 } },
      [{ "x.k": 2 }],
      { l: [{ k: 1, m: [1] }, { k: 2, m: [1, 2] }] }
    ],
    ["no items, when none match", { l: [1] }, { $set: { "l.$[x]": 0 } }, [{ x: 2 }], { l: [1] }],
    ["no items of an empty list", { l: [] }, { $set: { "l.$[x]": 0 } }, [{ x: 2 }], { l: [] }]
  ])("updates %s", ([, before, update, arrayFilters, after]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, ...before }])
      const options = { arrayFilters }
      yield* store.updateOne(name, { _id: 1 }, update, options)
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, ...after })
      yield* store.replaceOne(name, { _id: 1 }, before)
      yield* store.updateMany(name, {}, update, options)
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, ...after })
      yield* store.replaceOne(name, { _id: 1 }, before)
      const updated = yield* store.findOneAndUpdate(name, {}, update, { ...options, returnDocument: "after" })
      assert.deepStrictEqual(updated, { _id: 1, ...after })
    }))

  const refuses = (
    name: string,
    update: Update,
    arrayFilters: ReadonlyArray<Document>,
    difference?: Difference
  ) =>
    it.effect.skipIf(difference !== undefined && differs(difference))(
      `rejects an update of items ${name}`,
      () =>
        Effect.gen(function*() {
          const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1, l: [1, 2] }])
          const writes: ReadonlyArray<Effect.Effect<unknown, StoreError>> = [
            store.updateOne(name, {}, update, { arrayFilters }),
            store.updateMany(name, {}, update, { arrayFilters }),
            store.findOneAndUpdate(name, {}, update, { arrayFilters })
          ]
          for (const write of writes) assert.strictEqual((yield* Effect.flip(write))._tag, "QueryRejected")
          assert.deepStrictEqual(yield* all, [{ _id: 1, a: 1, l: [1, 2] }])
        })
    )

  refuses("that have no filter", { $set: { "l.$[x]": 0 } }, [])
  refuses("when a filter is not used", { $set: { "l.$[x]": 0 } }, [{ x: 1 }, { y: 1 }])
  refuses("that have two filters", { $set: { "l.$[x]": 0 } }, [{ x: 1 }, { x: 2 }])
  refuses("by a filter of two names", { $set: { "l.$[x]": 0 } }, [{ x: 1, y: 1 }])
  refuses("by a malformed filter", { $set: { "l.$[x]": 0 } }, [{ x: { $foo: 1 } }])
  refuses("of what is no list", { $set: { "a.$[x]": 0 } }, [{ x: 1 }], "itemsOfNoList")
  refuses("of what is not there", { $set: { "none.$[x]": 0 } }, [{ x: 1 }], "itemsOfNoList")
  refuses("that changes them twice", { $set: { "l.$[x]": 0 }, $inc: { "l.$[]": 1 } }, [{ x: 1 }], "itemsTwice")
}
