import { assert } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Effect, Stream } from "effect"
import type { Document, FindOptions, IndexDescription } from "../../src/DocumentStore.ts"
import { collectionOf, day, factsOf, idsOf, type Tests } from "./collection.ts"

/** Indexes, and what unique ones refuse. */
export const indexContract = (it: Tests) => {
  const unique = (key: IndexDescription["key"], more: Partial<IndexDescription> = {}): IndexDescription => ({
    name: `unique ${Object.keys(key).join()}`,
    key,
    unique: true,
    ...more
  })

  const indexed = Effect.fnUntraced(
    function*(documents: ReadonlyArray<Document>, ...indexes: ReadonlyArray<IndexDescription>) {
      const things = yield* collectionOf(documents)
      yield* things.store.createIndexes(things.name, indexes)
      return things
    }
  )

  it.effect.each<[string, IndexDescription, ReadonlyArray<Document>, ReadonlyArray<Document>]>([
    [
      "a value, not one of another type",
      unique({ v: 1 }),
      [{ v: 1 }, { v: "1" }, { v: "a" }, { v: "A" }, { v: "" }, { v: false }, { v: 0 }, { v: day(1) }, { v: {} }],
      [{ v: 1 }, { v: "a" }, { v: false }, { v: day(1) }, { v: {} }, { v: 1, other: 2 }]
    ],
    [
      "a number, however it is represented",
      unique({ v: 1 }),
      [{ v: 1 }, { v: 2.5 }, { v: 0 }, { v: NaN }, { v: Long.fromString("9007199254740993") }, { v: 2 ** 53 }],
      [{ v: Long.fromNumber(1) }, { v: Decimal128.fromString("2.50") }, { v: -0 }, { v: NaN }, {
        v: Long.fromString("9007199254740993")
      }]
    ],
    [
      "null, which is also what is missing",
      unique({ v: 1 }),
      [{}, { v: 1 }],
      [{}, { v: null }, { other: 1 }]
    ],
    [
      "a nested value",
      unique({ "n.x": -1 }),
      [{ n: { x: 1 } }, { n: { x: 2, y: 1 } }, { n: { y: 1 } }],
      [{ n: { x: 1, y: 5 } }, { n: {} }, { n: 3 }, {}]
    ],
    [
      "several values together",
      unique({ a: 1, b: -1 }),
      [{ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 2, b: 1 }, { a: 1 }, { b: 1 }, {}],
      [{ a: 1, b: 2 }, { a: 1, b: null }, { b: 1, a: null }, { c: 1 }]
    ],
    [
      "each item of a list",
      unique({ tags: 1 }),
      [{ tags: ["a", "b"] }, { tags: ["c", "c"] }, { tags: "d" }, { tags: [] }, { tags: ["e", null] }],
      [{ tags: ["x", "b"] }, { tags: "c" }, { tags: ["d"] }, { tags: [] }, {}, { tags: ["y", null] }]
    ],
    [
      "a field of each of a list's documents",
      unique({ "items.code": 1 }),
      [{ items: [{ code: 1 }, { code: 2 }] }, { items: [{ code: 3 }, { code: 3 }] }, { items: { code: 4 } }],
      [{ items: [{ code: 9 }, { code: 2 }] }, { items: { code: 3 } }, { items: [{ code: 4 }] }]
    ],
    [
      "an item together with a field",
      unique({ tenant: 1, tags: 1 }),
      [{ tenant: 1, tags: ["a", "b"] }, { tenant: 2, tags: ["a"] }],
      [{ tenant: 1, tags: ["c", "b"] }, { tenant: 2, tags: "a" }]
    ],
    [
      "what is there, when the index is sparse",
      unique({ v: 1 }, { sparse: true }),
      [{ v: 1 }, {}, {}, { other: 1 }, { v: null }],
      [{ v: 1 }, { v: null }]
    ],
    [
      "what is there of several, when the index is sparse",
      unique({ a: 1, b: 1 }, { sparse: true }),
      [{ a: 1, b: 1 }, {}, {}, { a: 1 }, { b: 1 }],
      [{ a: 1 }, { b: 1 }, { a: 1, b: null }]
    ]
  ])("a unique index refuses a second document with %s", ([, index, accepted, refused]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* indexed([], index)
      const stored = accepted.map((document, _id) => ({ _id, ...document }))
      yield* Effect.forEach(stored, (document) => store.insertOne(name, document), { discard: true })
      const duplicate = { _tag: "DuplicateKey", collection: name, index: index.name, fields: Object.keys(index.key) }
      for (const document of refused) {
        const error = yield* Effect.flip(store.insertOne(name, { _id: "again", ...document }))
        assert.deepStrictEqual(factsOf(error), duplicate, JSON.stringify(document))
      }
      assert.deepStrictEqual(yield* all, stored)
      // The same documents stand in the way of an index that comes later.
      for (const [place, document] of refused.entries()) {
        const { name: broken } = yield* collectionOf([...stored, { _id: "again", ...document }])
        const error = yield* Effect.flip(store.createIndexes(broken, [index]))
        assert.deepStrictEqual(factsOf(error), { ...duplicate, collection: broken }, `document ${place}`)
        assert.deepStrictEqual(yield* store.listIndexes(broken), [])
        yield* store.insertOne(broken, { _id: "and again", ...document })
        yield* store.deleteMany(broken, { _id: { $in: ["again", "and again"] } })
        yield* store.createIndexes(broken, [index])
        assert.strictEqual((yield* store.listIndexes(broken)).length, 1)
      }
    }))

  it.effect("frees a unique value when its document is removed", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* indexed([1, 2, 3, 4].map((_id) => ({ _id, v: [_id] })), unique({ v: 1 }))
      yield* store.deleteOne(name, { _id: 1 })
      yield* store.insertOne(name, { _id: 10, v: 1 })
      yield* store.updateOne(name, { _id: 2 }, { $set: { "v.0": 21 } })
      yield* store.insertOne(name, { _id: 11, v: 2 })
      yield* store.replaceOne(name, { _id: 3 }, { w: 3 })
      yield* store.insertOne(name, { _id: 12, v: 3 })
      yield* store.deleteMany(name, { v: { $gte: 4, $lt: 20 } })
      yield* store.insertOne(name, { _id: 13, v: 4 })
      assert.deepStrictEqual(yield* ids({}), [2, 3, 10, 11, 12, 13])
    }))

  it.effect("accepts an update that keeps a document's own unique value", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* indexed([{ _id: 1, v: 1 }], unique({ v: 1 }))
      yield* store.replaceOne(name, { _id: 1 }, { v: 1, a: 1 })
      yield* store.updateOne(name, { _id: 1 }, { $set: { v: 1, a: 2 } })
      yield* store.updateOne(name, { v: 1 }, { $set: { a: 3 } }, { upsert: true })
      assert.deepStrictEqual(yield* all, [{ _id: 1, v: 1, a: 3 }])
    }))

  it.effect("leaves a document unchanged when its update would duplicate a unique value", () =>
    Effect.gen(function*() {
      const before = [{ _id: 1, v: "a", n: 1 }, { _id: 2, v: "b", n: 1 }, { _id: 3, v: "c", n: 1 }]
      const { all, name, store } = yield* indexed(before, unique({ v: 1 }))
      const update = { $inc: { n: 1 }, $set: { v: "a" } }
      for (
        const run of [
          store.updateOne(name, { _id: 2 }, update),
          store.updateMany(name, { _id: 2 }, update),
          store.replaceOne(name, { _id: 2 }, { v: "a" }),
          store.updateOne(name, { _id: 4 }, update, { upsert: true }),
          store.updateOne(name, { _id: 4, v: "b" }, { $set: { n: 1 } }, { upsert: true }),
          store.replaceOne(name, { _id: 4 }, { v: "c" }, { upsert: true })
        ]
      ) {
        const error = yield* Effect.flip(run)
        assert.deepStrictEqual(factsOf(error), {
          _tag: "DuplicateKey",
          collection: name,
          index: "unique v",
          fields: ["v"]
        })
        assert.deepStrictEqual(yield* all, before)
      }
    }))

  it.effect("changes at most one document when an update would give several one unique value", () =>
    Effect.gen(function*() {
      const before = [1, 2, 3, 4].map((_id) => ({ _id, v: _id, n: 1 }))
      const { all, name, store } = yield* indexed(before, unique({ v: 1 }))
      const error = yield* Effect.flip(store.updateMany(name, { _id: { $gt: 1 } }, { $set: { v: 9 }, $inc: { n: 1 } }))
      assert.strictEqual(error._tag, "DuplicateKey")
      const changed = (yield* all).filter(({ v }) => v === 9)
      assert.isAtMost(changed.length, 1)
      const others = before.filter(({ _id }) => changed.every((document) => document["_id"] !== _id))
      assert.sameDeepMembers([...(yield* all)], [...others, ...changed.map((document) => ({ ...document, n: 2 }))])
    }))

  it.effect("finds documents by indexes created after them", () =>
    Effect.gen(function*() {
      const documents = [{ _id: 1, a: 3, l: ["x"] }, { _id: 2, a: 1, l: ["x", "y"] }, { _id: 3, l: [] }]
      const { find, ids } = yield* indexed(documents, { name: "a", key: { a: 1 } }, { name: "l", key: { l: 1 } }, {
        name: "sparse",
        key: { a: -1 },
        sparse: true
      })
      assert.deepStrictEqual(yield* ids({ a: { $gt: 0 } }), [1, 2])
      assert.deepStrictEqual(yield* ids({ a: null }), [3])
      assert.deepStrictEqual(yield* ids({ l: "x" }), [1, 2])
      assert.deepStrictEqual(yield* find({ sort: { a: 1 }, projection: { _id: 1 } }), [{ _id: 3 }, { _id: 2 }, {
        _id: 1
      }])
      assert.deepStrictEqual(yield* find({ sort: { a: -1 }, projection: { _id: 1 }, limit: 5 }), [{ _id: 1 }, {
        _id: 2
      }, { _id: 3 }])
    }))

  it.effect("lists indexes as described, also those of an empty collection", () =>
    Effect.gen(function*() {
      const indexes: ReadonlyArray<IndexDescription> = [
        { name: "b then a", key: { b: 1, a: -1 } },
        { name: "nested", key: { "n.x": -1 }, unique: true },
        { name: "few", key: { few: 1 }, sparse: true },
        { name: "both", key: { both: 1 }, unique: true, sparse: true },
        { name: "soon", key: { at: -1 }, expireAfterSeconds: 0 },
        { name: "some", key: { some: 1 }, partialFilterExpression: { some: { $gt: day(1) }, "n.x": true } },
        { name: "one of some", key: { some: 1 }, unique: true, partialFilterExpression: { "n.x": { $exists: true } } }
      ]
      const { name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, indexes.slice(0, 2))
      yield* store.createIndexes(name, indexes)
      yield* store.createIndexes(name, indexes.map((index) => ({ unique: false, sparse: undefined, ...index })))
      yield* store.createIndexes(name, [])
      const listed = yield* store.listIndexes(name)
      assert.sameDeepMembers([...listed], [...indexes])
      assert.deepStrictEqual(Object.keys(listed.find((index) => index.name === "b then a")?.key ?? {}), ["b", "a"])
      yield* store.insertOne(name, { _id: 1 })
      yield* store.deleteMany(name, {})
      assert.deepStrictEqual(yield* store.listIndexes(name), listed)
    }))

  it.effect.each<[string, IndexDescription]>([
    ["another path", { name: "a", key: { b: 1 } }],
    ["another direction", { name: "a", key: { a: -1 } }],
    ["more paths", { name: "a", key: { a: 1, b: 1 } }],
    ["uniqueness", { name: "a", key: { a: 1 }, unique: true }],
    ["sparseness", { name: "a", key: { a: 1 }, sparse: true }],
    ["an end of its documents", { name: "a", key: { a: 1 }, expireAfterSeconds: 60 }],
    ["only some documents", { name: "a", key: { a: 1 }, partialFilterExpression: { a: { $gt: 1 } } }]
  ])(
    "rejects an index of an installed name with %s, and installs no other index of the call",
    ([, other]) =>
      Effect.gen(function*() {
        const index: IndexDescription = { name: "a", key: { a: 1 } }
        const { name, store } = yield* indexed([{ _id: 1 }], index)
        const [installed, requested] = [JSON.stringify(index), JSON.stringify(other)]
        const detail = `the index "a" of "${name}" is in conflict with one that is there: ${installed} is installed, `
          + `${requested} is asked for`
        const conflict = { collection: name, index: "a", installed, requested }
        const error = yield* Effect.flip(store.createIndexes(name, [{ name: "new", key: { n: 1 } }, other]))
        assert.deepStrictEqual(factsOf(error), { _tag: "QueryRejected", operation: "createIndexes", detail, conflict })
        assert.deepStrictEqual(yield* store.listIndexes(name), [index])
        // The other way round.
        yield* store.syncIndexes(name, [other])
        const again = yield* Effect.flip(store.createIndexes(name, [index]))
        assert.deepInclude(factsOf(again), { conflict: { ...conflict, installed: requested, requested: installed } })
      })
  )

  it.effect("rejects the same index under another name", () =>
    Effect.gen(function*() {
      const index: IndexDescription = { name: "a", key: { a: 1, b: 1 } }
      const { name, store } = yield* indexed([{ _id: 1 }], index)
      const other = { ...index, name: "other" }
      const error = yield* Effect.flip(store.createIndexes(name, [other]))
      assert.deepInclude(factsOf(error), {
        _tag: "QueryRejected",
        conflict: {
          collection: name,
          index: "other",
          installed: JSON.stringify(index),
          requested: JSON.stringify(other)
        }
      })
      yield* store.createIndexes(name, [{ name: "turned", key: { b: 1, a: 1 } }])
      assert.strictEqual((yield* store.listIndexes(name)).length, 2)
    }))

  it.effect("rejects two different indexes of one name, and accepts one described twice", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const index: IndexDescription = { name: "a", key: { a: 1 } }
      const error = yield* Effect.flip(store.createIndexes(name, [index, { name: "a", key: { a: -1 } }]))
      assert.strictEqual(error._tag, "QueryRejected")
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
      yield* store.createIndexes(name, [index, index])
      assert.deepStrictEqual(yield* store.listIndexes(name), [index])
    }))

  it.effect.each<[string, IndexDescription]>([
    ["no name", { name: "", key: { a: 1 } }],
    ["no path", { name: "a", key: {} }],
    ["an empty path", { name: "a", key: { "": 1 } }],
    ["a path with an empty part", { name: "a", key: { "a..b": 1 } }],
    ["an end of documents by two fields", { name: "a", key: { a: 1, b: 1 }, expireAfterSeconds: 1 }],
    ["an end of documents by their identifier", { name: "a", key: { _id: 1 }, expireAfterSeconds: 1 }],
    ["an end of documents before their date", { name: "a", key: { a: 1 }, expireAfterSeconds: -1 }],
    ["an end of documents after part of a second", { name: "a", key: { a: 1 }, expireAfterSeconds: 0.5 }],
    ["an end of documents beyond what can be counted", { name: "a", key: { a: 1 }, expireAfterSeconds: Infinity }],
    ["two reasons to leave documents out", {
      name: "a",
      key: { a: 1 },
      sparse: true,
      partialFilterExpression: { a: 1 }
    }],
    ["unique words", { name: "a", key: { a: "text" }, unique: true }],
    ["a weight of what is no text", { name: "a", key: { a: "text" }, weights: { b: 2 } }],
    ["a weight of nothing", { name: "a", key: { a: "text" }, weights: { a: 0 } }]
  ])("refuses an index with %s", ([, index]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1 }])
      for (const install of [store.createIndexes, store.syncIndexes]) {
        const error = yield* Effect.flip(install(name, [{ name: "fine", key: { fine: 1 } }, index]))
        assert.strictEqual(error._tag, "QueryRejected")
      }
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
    }))

  it.effect("syncs a collection's indexes with the described ones, and reports the changes", () =>
    Effect.gen(function*() {
      const kept: IndexDescription = { name: "kept", key: { kept: 1 }, unique: true }
      const { find, ids, name, store } = yield* indexed(
        [{ _id: 1, kept: 1, a: 3 }, { _id: 2, kept: 2, a: 1 }],
        kept,
        { name: "changed", key: { a: 1 } },
        { name: "old", key: { b: 1 } },
        { name: "renamed", key: { c: 1, a: 1 } }
      )
      const wanted: ReadonlyArray<IndexDescription> = [
        kept,
        { name: "changed", key: { a: -1 }, unique: true },
        { name: "new name", key: { c: 1, a: 1 } },
        { name: "new", key: { d: 1 }, sparse: true }
      ]
      const changes = yield* store.syncIndexes(name, wanted)
      assert.deepStrictEqual(changes, {
        created: ["new name", "new"],
        rebuilt: ["changed"],
        dropped: ["old", "renamed"]
      })
      assert.sameDeepMembers([...yield* store.listIndexes(name)], [...wanted])
      const nothing = { created: [], rebuilt: [], dropped: [] }
      assert.deepStrictEqual(yield* store.syncIndexes(name, wanted.toReversed()), nothing)
      assert.deepStrictEqual(yield* ids({ a: { $gte: 1 } }), [1, 2])
      assert.deepStrictEqual(idsOf(yield* find({ sort: { a: -1 } })), [1, 2])
      const error = yield* Effect.flip(store.insertOne(name, { _id: 3, kept: 3, a: 3 }))
      assert.deepInclude(factsOf(error), { _tag: "DuplicateKey", index: "changed" })
      assert.deepStrictEqual((yield* store.syncIndexes(name, [])).dropped.toSorted(), [
        "changed",
        "kept",
        "new",
        "new name"
      ])
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
      yield* store.insertOne(name, { _id: 3, kept: 1, a: 3 })
      assert.deepStrictEqual(yield* ids({ kept: 1 }), [1, 3])
    }))

  it.effect("restores the old index when the new one can't be built", () =>
    Effect.gen(function*() {
      const old: ReadonlyArray<IndexDescription> = [{ name: "a", key: { a: 1 } }, { name: "b", key: { b: 1 } }]
      const { ids, name, store } = yield* indexed([{ _id: 1, a: 1 }, { _id: 2, a: 1 }], ...old)
      const error = yield* Effect.flip(store.syncIndexes(name, [{ name: "a", key: { a: 1 }, unique: true }]))
      assert.deepInclude(factsOf(error), { _tag: "DuplicateKey", index: "a" })
      assert.sameDeepMembers([...yield* store.listIndexes(name)], [...old])
      assert.deepStrictEqual(yield* ids({ a: 1 }), [1, 2])
    }))

  it.effect("drops the named indexes or all, but never that of the identifier", () =>
    Effect.gen(function*() {
      const a: IndexDescription = { name: "a", key: { a: 1 } }
      const { name, store } = yield* indexed([{ _id: 1, b: 1 }], a, unique({ b: 1 }), unique({ c: 1 }))
      assert.deepStrictEqual(yield* store.dropIndexes(name, ["_id_", "unique b", "none"]), ["unique b"])
      yield* store.insertOne(name, { _id: 2, b: 1, c: 1 })
      assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: 2, c: 2 })))._tag, "DuplicateKey")
      assert.deepStrictEqual((yield* store.dropIndexes(name)).toSorted(), ["a", "unique c"])
      assert.deepStrictEqual(yield* store.dropIndexes(name), [])
      assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: 2 })))._tag, "DuplicateKey")
      yield* store.createIndexes(name, [a])
      assert.deepStrictEqual(yield* store.listIndexes(name), [a])
      assert.deepStrictEqual(yield* store.dropIndexes("no such collection", ["a"]), [])
      assert.deepStrictEqual(yield* store.dropIndexes("no such collection"), [])
    }))

  it.effect("a partial index covers the matching documents only", () =>
    Effect.gen(function*() {
      const documents = [
        { _id: 1, mail: "a", active: true, age: 30 },
        { _id: 2, mail: "a", active: false, age: 40 },
        { _id: 3, mail: "b", active: true },
        { _id: 4, mail: "a", age: 50 }
      ]
      const { ids, name, store } = yield* indexed(
        documents,
        unique({ mail: 1 }, { partialFilterExpression: { active: true } }),
        { name: "ages", key: { age: 1 }, partialFilterExpression: { age: { $gt: 35 } } }
      )
      const mail = (error: object) => assert.deepInclude(factsOf(error), { _tag: "DuplicateKey", index: "unique mail" })
      mail(yield* Effect.flip(store.insertOne(name, { _id: 5, mail: "a", active: true })))
      mail(yield* Effect.flip(store.updateOne(name, { _id: 2 }, { $set: { active: true } })))
      yield* store.insertOne(name, { _id: 5, mail: "a" })
      yield* store.updateOne(name, { _id: 1 }, { $set: { active: false } })
      yield* store.updateOne(name, { _id: 2 }, { $set: { active: true } })
      mail(yield* Effect.flip(store.replaceOne(name, { _id: 4 }, { mail: "a", active: true })))
      assert.deepStrictEqual(yield* ids({ mail: "a" }), [1, 2, 4, 5])
      assert.deepStrictEqual(yield* ids({ mail: "a", active: true }), [2])
      assert.deepStrictEqual(yield* ids({ mail: { $in: ["a", "b"] }, active: { $in: [true] } }), [2, 3])
      assert.deepStrictEqual(yield* ids({ age: { $gt: 20 } }), [1, 2, 4])
      assert.deepStrictEqual(yield* ids({ age: { $gte: 40 } }), [2, 4])
      assert.deepStrictEqual(yield* ids({ age: 30 }), [1])
      assert.deepStrictEqual(yield* ids({ age: 50 }), [4])
      assert.deepStrictEqual(yield* ids({ age: null }), [3, 5])
    }))

  it.effect("finds texts by prefix", () =>
    Effect.gen(function*() {
      const texts = ["", "a", "ab", "ab.c", "abc", "aB", "b", "é", "éa", "a|b", "\0a", "ab\0", "ab\nab"]
      const documents = texts.map((v, i) => ({ _id: i, v: i % 2 === 0 ? v : [v, 1] }))
      for (const key of [{ v: 1 }, { v: -1 }] as const) {
        const { ids, name, store } = yield* indexed(documents, { name: "v", key })
        const plain = yield* collectionOf(documents)
        for (
          const $regex of ["^ab", "^ab\\.", "^ab.c", "^abc?", "^ab*", "^a|^b", "^a\\|", "^é", "^(ab)", "^[a]b", "^"]
        ) {
          assert.deepStrictEqual(yield* ids({ v: { $regex } }), yield* plain.ids({ v: { $regex } }), $regex)
        }
        for (
          const v of [
            { $regex: "^AB", $options: "i" },
            { $regex: "^ab", $options: "m" },
            { $regex: "^a", $gte: "aa" },
            { $not: { $regex: "^ab" } }
          ]
        ) {
          assert.deepStrictEqual(yield* ids({ v }), yield* plain.ids({ v }), JSON.stringify(v))
        }
        yield* store.dropIndexes(name)
      }
    }))

  it.effect("sorts by the least item of a list, not by the least that the filter matches", () =>
    Effect.gen(function*() {
      const documents = [{ _id: 1, l: [1, 9] }, { _id: 2, l: [5] }, { _id: 3, l: [2, 3, 7] }]
      const { find } = yield* indexed(documents, { name: "l", key: { l: 1 } })
      const filter = { l: { $gt: 4 } }
      assert.deepStrictEqual(idsOf(yield* find({ filter, sort: { l: 1 } })), [1, 3, 2])
      assert.deepStrictEqual(idsOf(yield* find({ filter: { l: { $lt: 6 } }, sort: { l: -1 } })), [1, 3, 2])
      assert.deepStrictEqual(idsOf(yield* find({ filter, sort: { l: 1 }, skip: 1, limit: 1 })), [3])
    }))

  it.effect("returns each document once, also when several list items match", () =>
    Effect.gen(function*() {
      const documents = Array.from({ length: 1_200 }, (_, _id) => ({ _id, l: [_id, _id + 300, _id + 600, -_id], n: 0 }))
      const { ids, name, store } = yield* indexed(documents, { name: "l", key: { l: 1 } })
      const filter = { l: { $gt: 100 } }
      const expected = idsOf(documents)
      assert.deepStrictEqual(yield* ids(filter), expected)
      const unsorted = yield* Stream.runCollect(store.stream(name, { filter, projection: { _id: 1 } }))
      assert.sameMembers(idsOf(unsorted), expected)
      assert.strictEqual(yield* store.count(name, filter), 1_200)
      assert.strictEqual((yield* store.find(name, { filter, skip: 700 })).length, 500)
      const { modifiedCount } = yield* store.updateMany(name, filter, { $push: { l: 900 }, $inc: { n: 1 } })
      assert.strictEqual(modifiedCount, 1_200)
      assert.strictEqual(yield* store.count(name, { n: 1 }), 1_200)
      assert.strictEqual(yield* store.deleteMany(name, { l: { $in: [900, 901, 902] } }), 1_200)
    }))

  it.effect("matches fields of different list items by a multikey index", () =>
    Effect.gen(function*() {
      const documents = [
        { _id: 1, items: [{ name: "pen", count: 1 }, { name: "ink", count: 9 }] },
        { _id: 2, items: [{ name: "pen", count: 9 }] },
        { _id: 3, items: [{ name: "ink", count: 9 }] }
      ]
      const { ids } = yield* indexed(documents, { name: "items", key: { "items.name": 1, "items.count": 1 } })
      assert.deepStrictEqual(yield* ids({ "items.name": "pen", "items.count": 9 }), [1, 2])
      assert.deepStrictEqual(yield* ids({ "items.name": "pen", "items.count": { $gt: 5 } }), [1, 2])
      assert.deepStrictEqual(yield* ids({ items: { $elemMatch: { name: "pen", count: 9 } } }), [2])
    }))

  it.effect.each([true, false])(
    "stores and orders long values; in a unique index: %s",
    (isUnique) =>
      Effect.gen(function*() {
        const long = "x".repeat(5_000)
        const { find, ids, name, store } = yield* indexed([], { name: "v", key: { v: 1 }, unique: isUnique })
        const order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
        yield* store.insertMany(name, order.map((n) => ({ _id: `${long}${n}`, n, v: n === 0 ? long : `${long}${n}` })))
        const numbers = (options: FindOptions) => Effect.map(find(options), (found) => found.map(({ n }) => n))
        assert.deepStrictEqual(yield* numbers({ sort: { v: 1 } }), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        assert.deepStrictEqual(yield* numbers({ sort: { v: -1 }, limit: 3 }), [9, 8, 7])
        assert.deepStrictEqual(yield* numbers({ sort: { _id: 1 }, skip: 7 }), [7, 8, 9])
        const between = { $gte: `${long}3`, $lt: `${long}5` }
        assert.deepStrictEqual(yield* numbers({ filter: { v: between }, sort: { v: 1 } }), [3, 4])
        assert.deepStrictEqual(yield* numbers({ filter: { _id: between }, sort: { n: 1 } }), [3, 4])
        assert.deepStrictEqual(yield* ids({ v: `${long}6` }), [`${long}6`])
        assert.isDefined(yield* store.findById(name, `${long}8`))
        assert.isUndefined(yield* store.findById(name, long))
        const same = yield* Effect.result(store.insertOne(name, { _id: 1, v: `${long}6` }))
        assert.strictEqual(same._tag, isUnique ? "Failure" : "Success")
        assert.strictEqual(yield* store.count(name, { v: `${long}6` }), isUnique ? 1 : 2)
      })
  )
}
