import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Decimal128, Long, ObjectId } from "bson"
import { Effect, Stream } from "effect"
import { freshFolder } from "../../../test/support/folders.ts"
import { turnsOf } from "../../../test/support/turns.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

type Outcome = Effect.Effect<unknown, { readonly _tag: string }>

const nested = (innermost: unknown, wrap: (inner: unknown) => unknown, levels = 10_000): unknown => {
  let value = innermost
  for (let i = 0; i < levels; i++) value = wrap(value)
  return value
}

const deepFilters: ReadonlyArray<[string, Document]> = [
  ["$and", { $and: [nested({ a: 1 }, (inner) => ({ $and: [inner] }))] }],
  ["$nor in $or", { $or: [nested({ a: 1 }, (inner) => ({ $or: [{ $nor: [inner] }] }))] }],
  ["$not", { a: nested({ $gt: 1 }, (inner) => ({ $not: inner })) }],
  ["$elemMatch", { a: nested({ $gt: 1 }, (inner) => ({ $elemMatch: inner })) }],
  ["documents", { a: nested(1, (inner) => ({ inner })) }],
  ["arrays", { a: { $in: [nested(1, (inner) => [inner])] } }],
  ["expressions", { $expr: nested(true, (inner) => ({ $not: [inner] })) }]
]

const fromJson = (text: string): Document => JSON.parse(text)

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(layer, { excludeTestServices: true })(`EmbeddedStore and hostile requests / ${name}`, (it) => {
    const withThings = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>) {
      collections += 1
      const things = `things ${collections}`
      const store = yield* DocumentStore
      yield* store.createIndexes(things, [{ name: "a", key: { a: 1 } }])
      yield* store.insertMany(things, documents)
      return { store, things, all: store.find(things, { sort: { _id: 1 } }) }
    })

    it.effect.each(deepFilters)(
      "rejects 10,000 levels of nesting in a filter: %s",
      ([, filter]) =>
        Effect.gen(function*() {
          const { all, store, things } = yield* withThings(few)
          for (const collection of [things, "nothing at all"]) {
            yield* eachRefused({
              find: store.find(collection, { filter }),
              stream: Stream.runDrain(store.stream(collection, { filter })),
              count: store.count(collection, filter),
              distinct: store.distinct(collection, "a", filter),
              updateOne: store.updateOne(collection, filter, { $set: { b: 1 } }),
              updateMany: store.updateMany(collection, filter, { $set: { b: 1 } }),
              upsert: store.updateOne(collection, filter, { $set: { b: 1 } }, { upsert: true }),
              arrayFilters: store.updateOne(collection, {}, { $set: { "a.$[e]": 1 } }, {
                arrayFilters: [{ e: filter["a"] ?? filter }]
              }),
              pull: store.updateOne(collection, {}, { $pull: { a: filter } }),
              findOneAndUpdate: store.findOneAndUpdate(collection, filter, { $set: { b: 1 } }),
              findOneAndReplace: store.findOneAndReplace(collection, filter, { b: 1 }),
              findOneAndDelete: store.findOneAndDelete(collection, filter),
              replaceOne: store.replaceOne(collection, filter, { b: 1 }),
              deleteOne: store.deleteOne(collection, filter),
              deleteMany: store.deleteMany(collection, filter),
              match: Stream.runDrain(store.aggregate(collection, [{ $match: filter }])),
              laterMatch: Stream.runDrain(store.aggregate(collection, [{ $skip: 1 }, { $match: filter }])),
              facet: Stream.runDrain(store.aggregate(collection, [{ $facet: { f: [{ $match: filter }] } }])),
              projection: store.find(collection, { projection: { p: filter } })
            })
          }
          assert.deepStrictEqual(yield* all, few)
          yield* Effect.flip(
            store.createIndexes(things, [{ name: "part", key: { b: 1 }, partialFilterExpression: filter }])
          )
          assert.strictEqual((yield* store.listIndexes(things)).length, 1)
        })
    )

    it.effect("rejects values nested 10,000 levels deep", () =>
      Effect.gen(function*() {
        const { all, store, things } = yield* withThings(few)
        for (const deep of [nested(1, (inner) => ({ inner })), nested(1, (inner) => [inner])]) {
          yield* eachRefused({
            insertOne: store.insertOne(things, { _id: "deep", deep }),
            insertOneAs: store.insertOne(things, { _id: deep }),
            findById: store.findById(things, deep),
            replaceOne: store.replaceOne(things, { _id: 1 }, { deep }),
            set: store.updateOne(things, { _id: 1 }, { $set: { deep } }),
            push: store.updateOne(things, { _id: 1 }, { $push: { deep } }),
            addToSet: store.updateOne(things, { _id: 1 }, { $addToSet: { deep } }),
            pullAll: store.updateOne(things, { _id: 1 }, { $pullAll: { deep: [deep] } }),
            addFields: Stream.runDrain(store.aggregate(things, [{ $addFields: { deep } }])),
            group: Stream.runDrain(store.aggregate(things, [{ $group: { _id: deep } }]))
          })
          const { failures, insertedCount } = yield* store.insertMany(things, [{ _id: "deep", deep }])
          assert.deepStrictEqual([insertedCount, failures[0]?.error._tag], [0, "QueryRejected"])
        }
        // Each of these is one level only, until it is written.
        const path = Array.from({ length: 10_000 }, () => "a").join(".")
        yield* eachRefused({ set: store.updateOne(things, { _id: 1 }, { $set: { [`d.${path}`]: 1 } }) })
        assert.strictEqual(yield* store.count(things, { [path]: 1 }), 0)
        assert.deepStrictEqual(yield* store.find(things, { sort: { [path]: 1, _id: 1 } }), few)
        assert.deepStrictEqual(yield* all, few)
      }))

    it.effect("rejects a large regular expression for a long text, and backtracks for none", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings([{ _id: 1, text: `${"a".repeat(200_000)}!` }, {
          _id: 2,
          text: "a"
        }])
        const large = "(a|b|c)".repeat(300)
        yield* eachRefused({
          find: store.find(things, { filter: { text: { $regex: large } } }),
          count: store.count(things, { text: { $in: [new RegExp(large), "a"] } }),
          update: store.updateOne(things, { text: { $not: new RegExp(large) } }, { $set: { b: 1 } }),
          pull: store.updateOne(things, {}, { $set: { "text.$[e]": 1 } }, { arrayFilters: [{ e: { $regex: "(" } }] }),
          match: Stream.runDrain(store.aggregate(things, [{ $limit: 2 }, { $match: { text: new RegExp(large) } }]))
        })
        assert.strictEqual(yield* store.count(things, { text: { $regex: "^(a+)+$" } }), 1)
      }))

    it.effect("treats __proto__, constructor and prototype as ordinary names", () =>
      Effect.gen(function*() {
        const hostile = fromJson(
          "{\"_id\":9,\"__proto__\":{\"polluted\":1},\"constructor\":{\"prototype\":{\"polluted\":1}}}"
        )
        const { all, store, things } = yield* withThings([hostile, { _id: 10, n: 1, list: [{}] }])
        const [found] = yield* all
        assert.strictEqual(JSON.stringify(found), JSON.stringify(hostile))
        for (const path of ["__proto__.polluted", "constructor.prototype.polluted"]) {
          assert.strictEqual(yield* store.count(things, { [path]: 1 }), 1)
          yield* store.updateOne(things, { _id: 9 }, { $set: { [path]: 2 } })
          yield* store.updateOne(things, { _id: 9 }, { $inc: { [path]: 1 } })
          assert.deepStrictEqual(yield* store.distinct(things, path, {}), [3])
          yield* store.updateOne(things, { _id: 9 }, { $rename: { [path]: "moved" } })
          assert.strictEqual(yield* store.count(things, { _id: 9, moved: 3, [path]: { $exists: false } }), 1)
          yield* store.updateOne(things, { [path]: 4, _id: 11 }, { $set: { n: 1 } }, { upsert: true })
          assert.strictEqual(yield* store.count(things, { _id: 11, [path]: 4 }), 1)
          assert.strictEqual(yield* store.deleteOne(things, { _id: 11 }), 1)
          yield* Effect.exit(store.find(things, { projection: { [path]: 1 }, sort: { [path]: -1 } }))
          for (
            const stage of [
              { $addFields: { [path]: 5 } },
              { $project: { [path]: 1 } },
              { $group: { _id: `$${path}`, constructor: { $sum: 1 } } },
              { $unset: path },
              { $replaceRoot: { newRoot: hostile } },
              { $addFields: fromJson("{\"__proto__\":{\"polluted\":5}}") }
            ]
          ) {
            yield* Effect.exit(Stream.runDrain(store.aggregate(things, [stage])))
          }
        }
        for (const path of ["constructor.prototype.polluted", "a.toString.polluted", "list.0.valueOf.polluted"]) {
          for (const [value, update] of [[1, { $set: { [path]: 1 } }], [2, { $inc: { [path]: 1 } }]] as const) {
            yield* store.updateOne(things, { _id: 10 }, update)
            assert.strictEqual(yield* store.count(things, { _id: 10, [path]: value }), 1)
          }
          yield* store.updateOne(things, { _id: 10 }, { $unset: { [path]: "" } })
          assert.strictEqual(yield* store.count(things, { _id: 10, [path]: { $exists: true } }), 0)
        }
        yield* store.updateOne(things, { _id: 10, list: {} }, { $set: { "list.$.constructor.polluted": 1 } })
        yield* store.updateOne(things, { _id: 10 }, { $set: { "__proto__.polluted": 1 } })
        assert.strictEqual(yield* store.count(things, { _id: 10, "__proto__.polluted": 1 }), 1)
        assert.isUndefined(Reflect.get({}, "polluted"))
        assert.isUndefined(Reflect.get(Object, "polluted"))
      }))

    it.effect("looks up 100,000 values by the index", () =>
      Effect.gen(function*() {
        const ids = Array.from({ length: 1_000 }, () => new ObjectId())
        const documents = ids.map((o, _id) => ({ _id, a: _id, n: _id, s: `${_id}`, d: new Date(_id), o, list: [_id] }))
        const { store, things } = yield* withThings(documents)
        const some = <A>(make: (i: number) => A) => Array.from({ length: 100_000 }, (_, i) => make(i * 2))
        const values = {
          _id: some((i) => i),
          a: some((i) => i),
          n: some((i) => i),
          s: some((i) => `${i}`),
          d: some((i) => new Date(i)),
          o: some((i) => ids[i] ?? new ObjectId()),
          list: some((i) => i)
        }
        for (const [path, wanted] of Object.entries<ReadonlyArray<unknown>>(values)) {
          yield* isQuick(
            path,
            Effect.gen(function*() {
              assert.strictEqual(yield* store.count(things, { [path]: { $in: wanted } }), 500)
              assert.strictEqual(yield* store.count(things, { [path]: { $nin: wanted } }), 500)
              assert.strictEqual(yield* store.count(things, { [path]: { $all: wanted } }), 0)
            })
          )
        }
        yield* isQuick("$pullAll", store.updateMany(things, {}, { $pullAll: { list: values.n } }))
        assert.strictEqual(yield* store.count(things, { list: { $size: 0 } }), 500)
        yield* isQuick("$addToSet", store.updateOne(things, { _id: 1 }, { $addToSet: { list: { $each: values.n } } }))
        assert.strictEqual(yield* store.count(things, { _id: 1, list: { $size: 100_001 } }), 1)
      }))

    it.effect("finds values that are equal but not identical in a long list", () =>
      Effect.gen(function*() {
        const others = Array.from({ length: 300 }, (_, i) => `other ${i}`)
        const numbers = [1, Long.fromString("9007199254740993"), Decimal128.fromString("1.50"), NaN, -0]
        const { store, things } = yield* withThings([
          ...numbers.map((n, _id) => ({ _id, n })),
          { _id: 5, n: null },
          { _id: 6 },
          { _id: 7, n: "text" },
          { _id: 8, n: [2, { b: 1 }] },
          { _id: 9, n: { b: 1 } },
          { _id: 10, n: true }
        ])
        const found = (values: ReadonlyArray<unknown>) =>
          Effect.map(
            store.find(things, { filter: { n: { $in: [...others, ...values] } }, sort: { _id: 1 } }),
            (documents) => documents.map(({ _id }) => _id)
          )
        assert.deepStrictEqual(yield* found([Decimal128.fromString("1.0")]), [0])
        assert.deepStrictEqual(yield* found([Decimal128.fromString("9007199254740993"), 1.5]), [1, 2])
        assert.deepStrictEqual(yield* found([2 ** 53]), [])
        assert.deepStrictEqual(yield* found([NaN, 0]), [3, 4])
        assert.deepStrictEqual(yield* found([null]), [5, 6])
        assert.deepStrictEqual(yield* found([/^te/]), [7])
        assert.deepStrictEqual(yield* found([{ b: 1 }]), [8, 9])
        assert.deepStrictEqual(yield* found([{ b: Long.fromNumber(1) }, [2, { b: 1 }], true]), [8, 9, 10])
        assert.deepStrictEqual(yield* found(["tex", 0.1, false, [2]]), [])
      }))

    it.effect("yields to other fibers while it tests many conditions on many documents", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings(Array.from({ length: 500 }, (_, _id) => ({ _id, s: `${_id}` })))
        const $or = Array.from({ length: 5_000 }, (_, i) => ({ s: `no ${i}` }))
        yield* isQuick("count", store.count(things, { $or }))
        yield* isQuick("updateMany", store.updateMany(things, { $nor: $or }, { $set: { b: 1 } }))
        assert.strictEqual(yield* store.count(things, { b: 1 }), 500)
      }))

    it.effect.each<[string, string]>([
      ["ambiguity", "^(([a-z])+.)+[A-Z]([a-z])+$"],
      ["ambiguity in ambiguity", "((a*)*)*b"],
      ["many choices", "(a|a?|a??)*x"],
      ["many optional parts", "^(?:a?){100}a{100}$"]
    ])("is not held up by a regular expression with %s", ([, $regex]) =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings([{ _id: 1, s: `${"a".repeat(5_000)}!` }])
        const { longest } = yield* turnsOf(Effect.map(store.count(things, { s: { $regex } }), (count) => {
          assert.strictEqual(count, 0)
        }))
        assert.isBelow(longest, tooLong)
      }))

    it.effect.each<[string, string]>([
      ["has a long way to count", "\\pL{1000}".repeat(100)],
      ["repeats what is long", `(?:${"ab?".repeat(100)}){500}`],
      ["counts in counts", "((a{100}){100}){100}"],
      ["is nested too deeply", `${"(".repeat(5_000)}a${")".repeat(5_000)}`],
      ["is too long", "a|".repeat(20_000)],
      ["looks around", "(?=a)b"]
    ])("refuses a regular expression that %s", ([, $regex]) =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings(few)
        yield* isQuick(
          "all",
          eachRefused({
            find: store.find(things, { filter: { s: { $regex } } }),
            count: store.count(things, { s: { $not: { $regex } } }),
            updateMany: store.updateMany(things, { s: { $regex } }, { $set: { b: 1 } }),
            match: Stream.runDrain(store.aggregate(things, [{ $match: { s: { $regex } } }])),
            regexMatch: Stream.runDrain(store.aggregate(things, [
              { $addFields: { b: { $regexMatch: { input: "$s", regex: $regex } } } }
            ]))
          })
        )
      }))

    it.effect("rejects numbers that are not counts", () =>
      Effect.gen(function*() {
        const { all, store, things } = yield* withThings(few)
        for (const n of [NaN, Infinity, -Infinity, -1, 0.5]) {
          yield* eachRefused({
            skip: store.find(things, { skip: n }),
            limit: store.find(things, { limit: n }),
            $skip: Stream.runDrain(store.aggregate(things, [{ $skip: n }])),
            $limit: Stream.runDrain(store.aggregate(things, [{ $limit: n }])),
            $sample: Stream.runDrain(store.aggregate(things, [{ $sample: { size: n } }])),
            $size: store.count(things, { a: { $size: n } })
          })
          assert.strictEqual(yield* store.count(things, { a: n }), 0)
        }
        for (const n of [2 ** 31, Number.MAX_SAFE_INTEGER, 1e20, Number.MAX_VALUE]) {
          assert.deepStrictEqual(yield* store.find(things, { skip: n }), [])
          assert.deepStrictEqual(yield* store.find(things, { sort: { a: -1 }, skip: n, limit: n }), [])
          assert.deepStrictEqual(yield* store.find(things, { sort: { _id: 1 }, limit: n }), few)
          assert.strictEqual((yield* store.find(things, { sort: { s: 1 }, limit: n })).length, few.length)
          assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(things, [{ $skip: n }])), [])
          assert.strictEqual((yield* Stream.runCollect(store.aggregate(things, [{ $limit: n }]))).length, few.length)
          assert.strictEqual(yield* store.count(things, { list: { $size: n } }), 0)
        }
        yield* eachRefused({
          place: store.updateOne(things, { _id: 1 }, { $set: { "list.10000000": 1 } }),
          nowhere: store.updateOne(things, { _id: 1 }, { $set: { "list.1e9": 1 } }),
          range: Stream.runDrain(store.aggregate(things, [{ $project: { r: { $range: [0, 1e308] } } }]))
        })
        assert.deepStrictEqual(yield* all, few)
        const odd = { _id: "odd", list: [NaN, Infinity, -Infinity] }
        yield* store.insertOne(things, odd)
        assert.deepStrictEqual(yield* store.findById(things, "odd"), odd)
        yield* store.insertOne(things, { _id: NaN })
        assert.strictEqual((yield* Effect.flip(store.insertOne(things, { _id: NaN })))._tag, "DuplicateKey")
        assert.deepStrictEqual(yield* store.findById(things, NaN), { _id: NaN })
      }))

    it.effect("replaces lone surrogates in texts", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings([])
        const [half, other, whole] = ["a\ud800", "a\udc00", "a\ufffd"]
        yield* store.insertOne(things, { _id: half, a: half, list: [other], [half]: 1 })
        const expected = { _id: whole, a: whole, list: [whole], [whole]: 1 }
        for (const text of [half, other, whole]) {
          assert.deepStrictEqual(yield* store.findById(things, text), expected)
          assert.deepStrictEqual(yield* store.find(things, { filter: { _id: text } }), [expected])
          assert.deepStrictEqual(yield* store.find(things, { filter: { a: text, list: { $in: [text] } } }), [expected])
          assert.deepStrictEqual(yield* store.find(things, { filter: { [text]: 1 } }), [expected])
          assert.strictEqual((yield* Effect.flip(store.insertOne(things, { _id: text })))._tag, "DuplicateKey")
        }
        yield* store.updateOne(things, { _id: other }, {
          $set: { a: other, [`${other}.b`]: 1 },
          $addToSet: { list: half }
        })
          .pipe(Effect.flip)
        yield* store.updateOne(things, { _id: other }, { $set: { [other]: half }, $addToSet: { list: half } })
        assert.deepStrictEqual(yield* store.findById(things, half), { ...expected, [whole]: whole })
        assert.strictEqual(yield* store.deleteOne(things, { a: half }), 1)
      }))
  })
}

// internal

let collections = 0

// Milliseconds during which nobody else gets an answer: what hostile requests cost must stay in proportion to their size.
const tooLong = 500

const few: ReadonlyArray<Document> = [1, 2, 3].map((_id) => ({ _id, a: 10 * _id, s: `text ${_id}`, list: [_id] }))

/** Each of these is refused for what it asks, as a failure and not as a defect. */
const eachRefused = Effect.fnUntraced(function*(calls: { readonly [name: string]: Outcome }) {
  for (const [name, call] of Object.entries(calls)) {
    const error = yield* Effect.flip(Effect.asVoid(call))
    assert.include(["QueryRejected", "Unsupported"], error._tag, name)
  }
})

const isQuick = <E>(name: string, effect: Effect.Effect<unknown, E>): Effect.Effect<void, E> =>
  Effect.map(turnsOf(effect), ({ longest }) => assert.isBelow(longest, tooLong, name))
