import { assert } from "@effect/vitest"
import { Decimal128, Long, ObjectId } from "bson"
import { Effect } from "effect"
import { collectionOf, factsOf, type Tests } from "./collection.ts"

/** Insertions, replacements and removals. */
export const writeContract = (it: Tests) => {
  it.effect("inserts one document", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.insertOne(name, { _id: "a", n: 1 })
      assert.deepStrictEqual(yield* store.findById(name, "a"), { _id: "a", n: 1 })
      assert.deepStrictEqual(yield* all, [{ _id: "a", n: 1 }])
    }))

  it.effect("rejects a second document with the same identifier, and keeps the first", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: "first" }])
      const error = yield* Effect.flip(store.insertOne(name, { _id: 1, a: "second" }))
      assert.deepStrictEqual(factsOf(error), { _tag: "DuplicateKey", collection: name, index: "_id_", fields: ["_id"] })
      assert.notInclude(error.message, "second")
      assert.deepStrictEqual(yield* all, [{ _id: 1, a: "first" }])
    }))

  it.effect("distinguishes identifiers of different types", () =>
    Effect.gen(function*() {
      const id = new ObjectId()
      const ids = [1, "1", true, id, id.toHexString(), { a: 1 }, { a: "1" }, { a: 1, b: 1 }, null, ""]
      const { name, store } = yield* collectionOf(ids.map((_id) => ({ _id })))
      const errors = yield* Effect.forEach(ids, (_id) => Effect.flip(store.insertOne(name, { _id })))
      assert.deepStrictEqual(errors.map(({ _tag }) => _tag), ids.map(() => "DuplicateKey" as const))
      for (const _id of [Long.fromNumber(1), Decimal128.fromString("1.0")]) {
        assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id })))._tag, "DuplicateKey")
      }
    }))

  it.effect("changes and removes each document with one of the identifiers that a filter names, if it matches", () =>
    Effect.gen(function*() {
      const id = new ObjectId()
      const kinds = ["1", id, { a: 1 }, { a: "1" }, true, null, ""]
      const numbers = Array.from({ length: 300 }, (_, n) => n)
      const { ids, name, store } = yield* collectionOf(
        [...kinds, ...numbers].map((_id, n) => ({ _id, n: 0, odd: n % 2 }))
      )
      const named = [...kinds, Long.fromNumber(1), 1, Decimal128.fromString("2.0"), 2, "missing", { a: 2 }, 1_000]
      const changed = yield* store.updateMany(name, { _id: { $in: named }, n: 0 }, { $inc: { n: 1 } })
      assert.deepStrictEqual(changed, { matchedCount: 9, modifiedCount: 9 })
      assert.strictEqual(yield* store.count(name, { n: 1 }), 9)
      assert.strictEqual(
        (yield* store.updateMany(name, { _id: { $in: named }, n: 0 }, { $inc: { n: 1 } })).matchedCount,
        0
      )
      // More than one job of the embedded store takes.
      assert.strictEqual(yield* store.deleteMany(name, { _id: { $in: numbers }, odd: 0 }), 150)
      assert.strictEqual(yield* store.deleteMany(name, { _id: { $in: [...kinds, ...kinds] } }), 7)
      assert.deepStrictEqual(yield* ids({}), numbers.filter((n) => n % 2 === 0))
    }))

  it.effect("stops an ordered insert at the first rejected document", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf([{ _id: 2 }])
      const documents = [1, 2, 2, 3].map((_id) => ({ _id }))
      for (const options of [undefined, { ordered: true }]) {
        const result = yield* store.insertMany(name, documents, options)
        assert.strictEqual(result.insertedCount, 1)
        assert.deepStrictEqual(result.failures.map(({ error, index }) => [index, error._tag]), [[1, "DuplicateKey"]])
        assert.deepStrictEqual(yield* ids({}), [1, 2])
        yield* store.deleteOne(name, { _id: 1 })
      }
    }))

  it.effect("an unordered insert writes all valid documents, and reports the rejected ones", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf([{ _id: 2, code: "b" }])
      yield* store.createIndexes(name, [{ name: "by code", key: { code: 1 }, unique: true }])
      const documents = [
        { _id: 1, code: "a" },
        { _id: 2, code: "x" },
        { _id: 3, code: "b" },
        { _id: 4, code: "d" },
        { _id: 5, code: "d" },
        { _id: 6, code: "f" }
      ]
      const result = yield* store.insertMany(name, documents, { ordered: false })
      assert.strictEqual(result.insertedCount, 3)
      const byCode = { _tag: "DuplicateKey", collection: name, index: "by code", fields: ["code"] }
      assert.deepStrictEqual(result.failures.map(({ error, index }) => [index, factsOf(error)]), [
        [1, { _tag: "DuplicateKey", collection: name, index: "_id_", fields: ["_id"] }],
        [2, byCode],
        [4, byCode]
      ])
      assert.deepStrictEqual(yield* ids({}), [1, 2, 4, 6])
    }))

  it.effect("inserts nothing for an empty list", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      for (const ordered of [true, false]) {
        assert.deepStrictEqual(yield* store.insertMany(name, [], { ordered }), { insertedCount: 0, failures: [] })
      }
      assert.deepStrictEqual(yield* all, [])
    }))

  it.effect("replaces all but the identifier", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1, b: { c: 1 } }, { _id: 2, a: 1 }])
      const replaced = { matchedCount: 1, modifiedCount: 1 }
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 1 }, { d: 4 }), replaced)
      assert.deepStrictEqual(yield* store.replaceOne(name, { a: 1 }, { _id: 2, a: 2 }), replaced)
      assert.deepStrictEqual(yield* all, [{ _id: 1, d: 4 }, { _id: 2, a: 2 }])
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 1 }, {}), replaced)
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1 })
    }))

  it.effect("reports an identical replacement as unmodified, and one without a match as unmatched", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: { b: [1, "2", null] } }])
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 1 }, { _id: 1, a: { b: [1, "2", null] } }), {
        matchedCount: 1,
        modifiedCount: 0
      })
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 2 }, { a: 1 }), {
        matchedCount: 0,
        modifiedCount: 0
      })
      assert.deepStrictEqual(yield* all, [{ _id: 1, a: { b: [1, "2", null] } }])
    }))

  it.effect("upserts a replacement on request", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const upsert = { upsert: true }
      const inserted = { matchedCount: 0, modifiedCount: 0 }
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 1, a: 1 }, { b: 1 }, upsert), {
        ...inserted,
        upsertedId: 1
      })
      assert.deepStrictEqual(yield* store.replaceOne(name, { c: 1 }, { _id: 2, c: 2 }, upsert), {
        ...inserted,
        upsertedId: 2
      })
      assert.deepStrictEqual(yield* store.replaceOne(name, { _id: 1 }, { b: 2 }, upsert), {
        matchedCount: 1,
        modifiedCount: 1
      })
      assert.deepStrictEqual(yield* all, [{ _id: 1, b: 2 }, { _id: 2, c: 2 }])
      const { upsertedId } = yield* store.replaceOne(name, { d: 1 }, { d: 2 }, upsert)
      assert.isTrue(ObjectId.isValid(String(upsertedId)))
      assert.deepInclude(yield* store.findById(name, upsertedId), { d: 2 })
    }))

  it.effect("does not upsert a replacement whose identifier another document has", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, version: 2 }])
      const stale = store.replaceOne(name, { _id: 1, version: 1 }, { version: 2 }, { upsert: true })
      assert.deepInclude(factsOf(yield* Effect.flip(stale)), { _tag: "DuplicateKey", fields: ["_id"] })
      assert.deepStrictEqual(yield* all, [{ _id: 1, version: 2 }])
    }))

  it.effect("removes one document, or all", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([1, 2, 3, 4, 5].map((_id) => ({ _id, odd: _id % 2 })))
      assert.strictEqual(yield* store.deleteOne(name, { odd: 1 }), 1)
      assert.strictEqual(yield* store.count(name, { odd: 1 }), 2)
      assert.strictEqual(yield* store.deleteOne(name, { _id: 2 }), 1)
      assert.isUndefined(yield* store.findById(name, 2))
      assert.strictEqual(yield* store.deleteOne(name, { _id: 2 }), 0)
      assert.strictEqual(yield* store.deleteMany(name, { odd: 1 }), 2)
      assert.deepStrictEqual(yield* all, [{ _id: 4, odd: 0 }])
      assert.strictEqual(yield* store.deleteMany(name, {}), 1)
      assert.strictEqual(yield* store.count(name, {}), 0)
    }))

  it.effect("changes and removes thousands of documents", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 2_500 }, (_, _id) => ({ _id, n: 0 })))
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
      // They stay where the filter looks for them: each must be changed once nevertheless.
      assert.deepStrictEqual(yield* store.updateMany(name, { n: { $gte: 0 } }, { $inc: { n: 1 } }), {
        matchedCount: 2_500,
        modifiedCount: 2_500
      })
      assert.strictEqual(yield* store.count(name, { n: 1 }), 2_500)
      assert.strictEqual(yield* store.deleteMany(name, { n: 1, _id: { $gte: 100 } }), 2_400)
      assert.strictEqual(yield* store.count(name, {}), 100)
    }))
}
