import { assert } from "@effect/vitest"
import { Decimal128, Long, ObjectId, UUID } from "bson"
import { Effect, Stream } from "effect"
import type { Document, FindOptions, Sort, TakeOptions } from "../../src/DocumentStore.ts"
import { collectionOf, day, idsOf, type Tests } from "./collection.ts"

/** What is read, in which order, and how much of it. */
export const readContract = (it: Tests) => {
  it.effect("finds no documents in an empty collection", () =>
    Effect.gen(function*() {
      const { all, find, name, store } = yield* collectionOf([])
      assert.isUndefined(yield* store.findById(name, "none"))
      assert.deepStrictEqual(yield* all, [])
      assert.deepStrictEqual(yield* find({ filter: { a: 1 }, sort: { a: -1 }, skip: 1, limit: 1 }), [])
      assert.deepStrictEqual(yield* Stream.runCollect(store.stream(name, {})), [])
      assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, [{ $match: { a: 1 } }])), [])
      assert.strictEqual(yield* store.count(name, {}), 0)
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
      assert.strictEqual(yield* store.deleteOne(name, {}), 0)
      assert.strictEqual(yield* store.deleteMany(name, {}), 0)
      const untouched = { matchedCount: 0, modifiedCount: 0 }
      assert.deepStrictEqual(yield* store.updateOne(name, {}, { $set: { a: 1 } }), untouched)
      assert.deepStrictEqual(yield* store.updateMany(name, {}, { $set: { a: 1 } }), untouched)
      assert.deepStrictEqual(yield* store.replaceOne(name, {}, { a: 1 }), untouched)
    }))

  it.effect("finds a document without a fiber, if it can: what is committed, and nothing where the effect would fail", () =>
    Effect.gen(function*() {
      const stored = [1, "a", new ObjectId("507f1f77bcf86cd799439011"), { a: 1 }, null, day(1)]
      const { name, store } = yield* collectionOf(stored.map((_id) => ({ _id, n: 1 })))
      const { atOnce } = store.findById
      if (atOnce === undefined) return
      for (const id of [...stored, Long.fromInt(1), 1.5, "b", "\ud800", undefined, () => 1, Symbol("a")]) {
        const found = yield* Effect.orElseSucceed(store.findById(name, id), () => undefined)
        assert.deepStrictEqual(atOnce(name, id), found)
        assert.isUndefined(atOnce(`${name} of nobody`, id))
      }
      yield* store.transaction(Effect.gen(function*() {
        yield* store.updateOne(name, { _id: "a" }, { $set: { n: 2 } })
        assert.deepStrictEqual(atOnce(name, "a"), { _id: "a", n: 1 })
      }))
      assert.deepStrictEqual(atOnce(name, "a"), { _id: "a", n: 2 })
    }))

  it.effect("finds documents without a fiber, if it can: what is committed, and nothing where the effect would fail or wait", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const { find: { atOnce: find }, findAndCount: { atOnce: findAndCount } } = store
      if (find === undefined || findAndCount === undefined) return
      yield* store.insertMany(name, Array.from({ length: 20_000 }, (_, i) => ({ _id: i, n: i % 2 })))
      const all: ReadonlyArray<TakeOptions> = [
        { filter: { _id: { $lt: 100 } }, limit: 3, sort: { _id: 1 } },
        { filter: { _id: { $lt: 100 } }, limit: 3, sort: { n: 1, _id: 1 } },
        { filter: { _id: { $lt: 5 } }, skip: 1, limit: 2, sort: { _id: -1 } },
        { filter: { _id: 7 }, projection: { n: 1 } },
        { filter: { _id: { $in: [1, 2] } }, limit: 0 },
        { filter: { _id: { $wrong: 1 } } },
        { filter: {}, skip: 0.5 }
      ]
      for (const options of all) {
        const none = () => undefined
        assert.deepStrictEqual(find(name, options, 0), yield* Effect.orElseSucceed(store.find(name, options), none))
        assert.deepStrictEqual(
          findAndCount(name, options, 0),
          yield* Effect.orElseSucceed(store.findAndCount(name, options), none)
        )
      }
      const past = { filter: { _id: { $lt: 3 }, $expr: { $lt: ["$_id", { $toLong: "$$NOW" }] } } }
      assert.deepStrictEqual(find(name, past, 2), [{ _id: 0, n: 0 }, { _id: 1, n: 1 }])
      assert.strictEqual(findAndCount(name, past, 1)?.total, 1)
      // These read all documents.
      const slow = { filter: { n: 1 }, limit: 20_000 }
      assert.lengthOf(yield* store.find(name, slow), 10_000)
      assert.isUndefined(find(name, slow, 0))
      assert.isUndefined(findAndCount(name, { ...slow, limit: 2 }, 0))
      const taken: Array<number> = []
      const take = (documents: ReadonlyArray<Document>) => {
        taken.push(documents.length)
        return false
      }
      assert.deepStrictEqual(findAndCount(name, { ...all[0], take }, 0), { documents: [], total: 100 })
      assert.deepStrictEqual(taken, [3])
      yield* store.transaction(Effect.gen(function*() {
        yield* store.updateOne(name, { _id: 1 }, { $set: { n: 5 } })
        assert.deepStrictEqual(find(name, { filter: { _id: 1 } }, 0), [{ _id: 1, n: 1 }])
      }))
      assert.deepStrictEqual(find(name, { filter: { _id: 1 } }, 0), [{ _id: 1, n: 5 }])
    }))

  it.effect("finds a page and counts all matches, with any index for the order", () =>
    Effect.gen(function*() {
      const documents = Array.from(
        { length: 90 },
        (_, i) => ({ _id: i, even: i % 2 === 0, rest: i % 7, list: [i, -i] })
      )
      const { ids, name, store } = yield* collectionOf(documents)
      const check = Effect.gen(function*() {
        for (
          const filter of [{}, { even: true }, { even: true, rest: { $gt: 3 } }, { list: { $lt: -60 } }, { even: 1 }]
        ) {
          for (
            const sort of [undefined, { _id: 1 as const }, { rest: -1 as const, _id: 1 as const }, { list: 1 as const }]
          ) {
            for (const [skip, limit] of [[0, 10], [5, 1000], [1000, 10], [0, 0]] as const) {
              const options = { filter, skip, limit, ...(sort === undefined ? {} : { sort }) }
              const { documents, total } = yield* store.findAndCount(name, options)
              assert.strictEqual(total, (yield* ids(filter)).length)
              assert.deepStrictEqual(documents, limit === 0 ? [] : yield* store.find(name, options))
            }
          }
        }
      })
      yield* check
      yield* store.createIndexes(name, [{ name: "rest", key: { rest: -1 } }, { name: "list", key: { list: 1 } }])
      yield* check
      assert.deepStrictEqual(yield* store.findAndCount(`${name} of nobody`, { filter: { a: 1 } }), {
        documents: [],
        total: 0
      })
      yield* store.transaction(Effect.gen(function*() {
        yield* store.insertOne(name, { _id: 300, even: true, rest: 9 })
        const { documents, total } = yield* store.findAndCount(name, {
          filter: { rest: 9 },
          sort: { even: 1 },
          limit: 5
        })
        assert.deepStrictEqual([documents, total], [[{ _id: 300, even: true, rest: 9 }], 1])
      }))
    }))

  it.effect("names the store", () =>
    Effect.gen(function*() {
      const { store } = yield* collectionOf([])
      assert.match(store.description, /\S/)
    }))

  it.effect("separates collections with similar names", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, of: "" }, { _id: 2, of: "" }])
      const suffixes = [".x", "x", "_1", "é", "-", " ", "X"]
      for (const of of suffixes) {
        yield* store.createIndexes(name + of, [{ name: "of", key: { of: 1 }, unique: true }])
        yield* store.insertOne(name + of, { _id: 1, of })
      }
      assert.strictEqual(yield* store.deleteMany(name, {}), 2)
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
      for (const of of suffixes) assert.deepStrictEqual(yield* store.find(name + of, {}), [{ _id: 1, of }])
    }))

  it.effect("finds a document by its identifier of any type, compared as one value", () =>
    Effect.gen(function*() {
      const ids = ["1", 1, 1.5, new ObjectId(), day(1), { tenant: 1, number: 2 }, new UUID(), true, null, ""]
      const { name, store } = yield* collectionOf(ids.map((_id, index) => ({ _id, index })))
      for (const [index, id] of ids.entries()) {
        assert.strictEqual((yield* store.findById(name, id))?.["index"], index)
      }
      for (const id of ["2", { number: 2, tenant: 1 }, { tenant: 1 }, { $ne: null }, /./, [1], false, 0]) {
        assert.isUndefined(yield* store.findById(name, id))
      }
      assert.strictEqual((yield* store.findById(name, Long.fromNumber(1)))?.["index"], 1)
      assert.strictEqual((yield* store.findById(name, Decimal128.fromString("1.50")))?.["index"], 2)
    }))

  const sorts = (name: string, documents: ReadonlyArray<Document>, sort: Sort, ids: ReadonlyArray<unknown>) =>
    it.effect(`sorts ${name}`, () =>
      Effect.gen(function*() {
        const things = yield* collectionOf(documents)
        for (const indexes of [[], [{ name: "sort", key: sort }]]) {
          yield* things.store.createIndexes(things.name, indexes)
          assert.deepStrictEqual(idsOf(yield* things.find({ sort })), ids)
          const pages = yield* Effect.forEach(documents, (_, page) => things.find({ sort, skip: page * 2, limit: 2 }))
          assert.deepStrictEqual(idsOf(pages.flat()), ids)
        }
      }))

  sorts("by a nested field, what has none first", nested, { "n.x": 1, _id: 1 }, [4, 5, 2, 1, 3])
  sorts("downwards, what has none last", nested, { "n.x": -1, _id: 1 }, [1, 3, 2, 4, 5])
  sorts("by several keys in their order", nested, { g: -1, "n.x": 1, _id: -1 }, [5, 2, 1, 4, 3])
  sorts("by the identifier before all else", nested, { _id: -1, g: 1 }, [5, 4, 3, 2, 1])
  sorts("by a part of each of the lists of documents", lists, { "items.n": 1 }, [3, 1, 2])
  sorts("by the least item of a list", lists, { tags: 1 }, [2, 3, 1])
  sorts("downwards by the greatest item of a list", lists, { tags: -1 }, [2, 1, 3])
  sorts("different types one after the other", mixed, { v: 1, _id: 1 }, [8, 4, 5, 9, 1, 2, 3, 7, 6, 10])
  sorts("different types the other way round", mixed, { v: -1, _id: 1 }, [10, 6, 7, 3, 2, 1, 9, 4, 5, 8])

  sorts(
    "numbers by their value, whatever their representation",
    numbers.map((n, _id) => ({ _id, n })).toReversed(),
    { n: 1 },
    numbers.map((_, id) => id)
  )

  it.effect("turns pages by the last identifier", () =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf(Array.from({ length: 95 }, (_, index) => ({ _id: `id ${index}`, index })))
      const seen: Array<unknown> = []
      for (let last = ""; seen.length < 95; last = String(seen.at(-1))) {
        const page = yield* find({ filter: { _id: { $gt: last } }, sort: { _id: 1 }, limit: 10 })
        assert.strictEqual(page.length, seen.length < 90 ? 10 : 5)
        seen.push(...idsOf(page))
      }
      assert.deepStrictEqual(seen, Array.from({ length: 95 }, (_, index) => `id ${index}`).toSorted())
      const backwards = yield* find({ filter: { _id: { $lt: "id 50" } }, sort: { _id: -1 }, limit: 3 })
      assert.deepStrictEqual(idsOf(backwards), ["id 5", "id 49", "id 48"])
    }))

  it.effect("finds many documents by their identifiers", () =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf(Array.from({ length: 2_000 }, (_, _id) => ({ _id })))
      const odd = Array.from({ length: 2_000 }, (_, index) => index * 2 + 1)
      const found = yield* find({ filter: { _id: { $in: odd } }, sort: { _id: 1 } })
      assert.deepStrictEqual(idsOf(found), odd.slice(0, 1_000))
    }))

  it.effect("skips and limits after it has filtered and sorted", () =>
    Effect.gen(function*() {
      const things = yield* collectionOf(Array.from({ length: 10 }, (_, _id) => ({ _id, even: _id % 2 === 0 })))
      const ids = (options: FindOptions) =>
        Effect.map(things.find({ filter: { even: true }, sort: { _id: -1 }, ...options }), idsOf)
      assert.deepStrictEqual(yield* ids({}), [8, 6, 4, 2, 0])
      assert.deepStrictEqual(yield* ids({ limit: 2 }), [8, 6])
      assert.deepStrictEqual(yield* ids({ skip: 3 }), [2, 0])
      assert.deepStrictEqual(yield* ids({ skip: 1, limit: 2 }), [6, 4])
      assert.deepStrictEqual(yield* ids({ skip: 4, limit: 9 }), [0])
      assert.deepStrictEqual(yield* ids({ skip: 5, limit: 9 }), [])
      assert.deepStrictEqual(yield* ids({ skip: 0, limit: 0 }), [])
      assert.deepStrictEqual(yield* Stream.runCollect(things.store.stream(things.name, { limit: 0 })), [])
    }))

  it.effect.each<[string, Document, Document]>([
    ["the named fields and the identifier", { a: 1, n: 1 }, { _id: 1, a: 1, n: { x: 1, y: 2 } }],
    ["the named fields without the identifier", { a: true, _id: 0 }, { a: 1 }],
    ["the identifier alone", { _id: 1 }, { _id: 1 }],
    ["all but the identifier", { _id: 0 }, { a: 1, b: 2, n: { x: 1, y: 2 }, items: [{ x: 1, y: 2 }, { y: 3 }, 4] }],
    ["all but the named fields", { items: 0, n: 0, a: false }, { _id: 1, b: 2 }],
    ["nested fields", { "n.y": 1 }, { _id: 1, n: { y: 2 } }],
    ["all but nested fields", { "n.y": 0, items: 0 }, { _id: 1, a: 1, b: 2, n: { x: 1 } }],
    ["fields of each of a list's documents", { "items.x": 1 }, { _id: 1, items: [{ x: 1 }, {}] }],
    ["all but fields of each of a list's documents", { "items.y": 0, n: 0 }, {
      _id: 1,
      a: 1,
      b: 2,
      items: [{ x: 1 }, {}, 4]
    }],
    ["what is not there, which is nothing", { none: 1, "a.b": 1 }, { _id: 1 }],
    ["what is computed", { _id: 0, sum: { $add: ["$a", "$b"] } }, { sum: 3 }]
  ])("projects %s", ([, projection, expected]) =>
    Effect.gen(function*() {
      const { find, name, store } = yield* collectionOf([
        { _id: 1, a: 1, b: 2, n: { x: 1, y: 2 }, items: [{ x: 1, y: 2 }, { y: 3 }, 4] }
      ])
      assert.deepStrictEqual(yield* find({ projection }), [expected])
      assert.deepStrictEqual(yield* Stream.runCollect(store.stream(name, { projection })), [expected])
    }))

  it.effect("sorts by fields that the projection excludes", () =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf([{ _id: 1, a: 2 }, { _id: 2, a: 1 }])
      assert.deepStrictEqual(yield* find({ sort: { a: 1 }, projection: { _id: 1 } }), [{ _id: 2 }, { _id: 1 }])
    }))

  it.effect("streams the matches each time the stream is run", () =>
    Effect.gen(function*() {
      const documents = Array.from({ length: 2_500 }, (_, _id) => ({ _id, group: _id % 7 }))
      const { find, name, store } = yield* collectionOf(documents)
      const options = { filter: { group: { $gt: 1 } }, sort: { group: -1, _id: 1 }, skip: 3 } as const
      const stream = store.stream(name, options)
      const found = yield* find(options)
      assert.strictEqual(found.length, documents.filter(({ group }) => group > 1).length - 3)
      assert.deepStrictEqual(yield* Stream.runCollect(stream), found)
      assert.deepStrictEqual(yield* Stream.runCollect(stream), found)
    }))

  it.effect("a stream can end early", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 2_500 }, (_, _id) => ({ _id })))
      const some = yield* Stream.runCollect(Stream.take(store.stream(name, { sort: { _id: 1 } }), 1_100))
      assert.deepStrictEqual(idsOf(some), Array.from({ length: 1_100 }, (_, id) => id))
      const piped = yield* Stream.runCollect(Stream.take(store.aggregate(name, [{ $sort: { _id: -1 } }]), 2))
      assert.deepStrictEqual(piped, [{ _id: 2_499 }, { _id: 2_498 }])
      assert.strictEqual(yield* store.count(name, {}), 2_500)
    }))

  it.effect("reads each stored document while a stream's reader changes them", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 300 }, (_, _id) => ({ _id, done: 0 })))
      yield* Stream.runForEach(store.stream(name, { sort: { _id: 1 } }), ({ _id }) =>
        store.updateOne(name, { _id }, { $inc: { done: 1 } }))
      assert.strictEqual(yield* store.count(name, { done: 1 }), 300)
    }))
}

const nested: ReadonlyArray<Document> = [
  { _id: 1, g: "b", n: { x: 3 } },
  { _id: 2, g: "b", n: { x: 2 } },
  { _id: 3, g: "a", n: { x: 3 } },
  { _id: 4, g: "a" },
  { _id: 5, g: "b", n: {} }
]

const numbers = [
  NaN,
  -Infinity,
  -1e300,
  Long.MIN_VALUE,
  Long.fromString("-9007199254740993"),
  -(2 ** 53),
  Decimal128.fromString("-2.5"),
  -1,
  0,
  1e-9,
  0.5,
  Decimal128.fromString("0.75"),
  1,
  256,
  2 ** 53,
  Long.fromString("9007199254740993"),
  Decimal128.fromString("9007199254740993.5"),
  Long.MAX_VALUE,
  1e300,
  Infinity
]

const lists: ReadonlyArray<Document> = [
  { _id: 1, items: [{ n: 2 }, { n: 9 }], tags: ["m", "n"] },
  { _id: 2, items: [{ n: 3 }], tags: ["a", "z"] },
  { _id: 3, items: [{ n: 7 }, { n: 1 }], tags: ["b"] }
]

const mixed: ReadonlyArray<Document> = [
  { _id: 1, v: "a" },
  { _id: 2, v: { x: 1 } },
  { _id: 3, v: new ObjectId() },
  { _id: 4 },
  { _id: 5, v: null },
  { _id: 6, v: day(1) },
  { _id: 7, v: false },
  { _id: 8, v: [] },
  { _id: 9, v: -3 },
  { _id: 10, v: /a/ }
]
