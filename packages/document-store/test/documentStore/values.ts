import { assert } from "@effect/vitest"
import { Binary, Decimal128, Double, EJSON, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } from "bson"
import { Effect } from "effect"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

/** What is stored comes back as it was. */
export const valueContract = (it: Tests) => {
  // Says of each number how it is stored; the classes of two builds of a package are never the same.
  const exactly = (value: unknown) => EJSON.stringify(value, { relaxed: false })

  it.effect.each<[string, unknown]>([
    ["dates, early and late", [
      day(1),
      new Date(0),
      new Date(-1),
      new Date("0001-01-01"),
      new Date("9999-12-31T23:59:59.999Z")
    ]],
    ["whole numbers", [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53, -(2 ** 53)]],
    ["other numbers", [0.1, -1.5, -0, 1e300, 5e-324, NaN, Infinity, -Infinity]],
    ["longs beyond what a number holds", [Long.MAX_VALUE, Long.MIN_VALUE, Long.fromString("9007199254740993")]],
    [
      "decimals with their zeros",
      ["1.10", "0", "-0.000001", "1E+3", "12345678901234567890.12", "NaN", "Infinity"].map(
        (text) => Decimal128.fromString(text)
      )
    ],
    ["identifiers", [new ObjectId(), new ObjectId("000000000000000000000000")]],
    ["bytes", [
      new Binary(Uint8Array.of(0, 1, 255)),
      new Binary(Uint8Array.of(), 0),
      new Binary(Uint8Array.of(7), 128)
    ]],
    ["a UUID", new UUID("0189d1c8-1b9c-7cc0-8d6b-5a1b1f6ecb0c")],
    ["booleans and nothing", [true, false, null]],
    ["nested nulls and emptinesses", { a: null, b: { c: null, d: {} }, e: [], f: [[], [null], {}], g: "" }],
    ["patterns", [/a+/, /^b/im]],
    ["extremes and timestamps", [new MinKey(), new MaxKey(), new Timestamp({ t: 3, i: 7 })]],
    ["texts", ["", " ", "a\0b", "\n", "é", "e\u0301", "日本語", "👩‍👩‍👧", "\uffff", "{\"$ne\":1}", "$a", "a.b"]],
    ["deep nesting", Array.from({ length: 40 }).reduce((inner) => ({ inner: [inner] }), 1)],
    ["nested lists", [[1, [2, [3, { a: [4] }]]], []]]
  ])("keeps %s", ([, value]) =>
    Effect.gen(function*() {
      const document = { _id: 1, value, list: [value], nested: { value } }
      const { all, name, store } = yield* collectionOf([document])
      assert.strictEqual(exactly(yield* all), exactly([document]))
      yield* store.replaceOne(name, { _id: 1 }, { again: value })
      assert.strictEqual(exactly(yield* store.findById(name, 1)), exactly({ _id: 1, again: value }))
      yield* store.updateOne(name, { _id: 1 }, { $set: { set: value }, $unset: { again: "" } })
      assert.strictEqual(exactly(yield* store.findById(name, 1)), exactly({ _id: 1, set: value }))
      assert.strictEqual(yield* store.count(name, { set: { $eq: value } }), 1)
    }))

  it.effect("takes a long without a sign as the signed one of the same bits, which BSON has", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, [{ name: "value", key: { value: 1 } }])
      const value = Long.MAX_UNSIGNED_VALUE
      yield* store.insertOne(name, { _id: value, value })
      assert.deepStrictEqual(yield* all, [{ _id: -1, value: -1 }])
      assert.deepStrictEqual(yield* store.findById(name, -1), { _id: -1, value: -1 })
      for (const one of [-1, value]) assert.strictEqual(yield* store.count(name, { value: one }), 1)
    }))

  it.effect("returns JavaScript numbers, and bytes as binary values", () =>
    Effect.gen(function*() {
      const { all } = yield* collectionOf([{
        _id: 1,
        long: Long.fromNumber(5),
        safe: Long.fromString("9007199254740991"),
        int: new Int32(3),
        double: new Double(2.5),
        bigint: 7n,
        bytes: Uint8Array.of(1, 2)
      }])
      const [{ bytes, ...numbers } = { bytes: undefined }] = yield* all
      assert.deepStrictEqual(numbers, { _id: 1, long: 5, safe: 9007199254740991, int: 3, double: 2.5, bigint: 7 })
      assert.strictEqual(exactly(bytes), exactly(new Binary(Uint8Array.of(1, 2))))
    }))

  it.effect.each<string>([
    "__proto__",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "toString",
    "then",
    "length",
    "Ключ",
    "名前",
    "😀",
    "with space",
    "a-b",
    "a/b\\c\"d'",
    "UPPER",
    "0"
  ])("keeps, finds, sorts by and changes a field called %s", (key) =>
    Effect.gen(function*() {
      const field = (value: unknown): Document => Object.fromEntries([[key, value]])
      const documents = [1, 2].map((n) => ({ _id: n, ...field(-n), nested: field([field(n)]) }))
      const { all, find, ids, name, store } = yield* collectionOf(documents)
      yield* store.createIndexes(name, [{ name: "odd", key: { [`nested.${key}.${key}`]: 1 } }])
      assert.strictEqual(exactly(yield* all), exactly(documents))
      assert.deepStrictEqual(yield* ids(field(-2)), [2])
      assert.deepStrictEqual(yield* ids(field({ $exists: false })), [])
      assert.deepStrictEqual((yield* find({ sort: { [key]: 1 } })).map(({ _id }) => _id), [2, 1])
      yield* store.updateOne(name, { _id: 1 }, { $set: field("set") })
      yield* store.updateOne(name, { _id: 2 }, { $unset: field(""), $set: { [`nested.${key}`]: 1 } })
      assert.strictEqual(
        exactly(yield* all),
        exactly([{ ...documents[0], ...field("set") }, { _id: 2, nested: field(1) }])
      )
      assert.isFalse(Object.hasOwn(Object.prototype, "nested"))
    }))

  it.effect("stores an empty key, and keys with dots", () =>
    Effect.gen(function*() {
      const documents = [{ _id: 1, "": 1, nested: { "": { "": "" }, "a.b": 2 } }]
      const { all } = yield* collectionOf(documents)
      assert.deepStrictEqual(yield* all, documents)
    }))

  it.effect("keeps the order of fields, the identifier first", () =>
    Effect.gen(function*() {
      const { all } = yield* collectionOf([{ b: 1, a: { z: 1, y: 2 }, _id: 1, "é": 1, A: 1 }])
      assert.strictEqual(JSON.stringify(yield* all), "[{\"_id\":1,\"b\":1,\"a\":{\"z\":1,\"y\":2},\"é\":1,\"A\":1}]")
    }))

  it.effect("omits undefined keys of a document", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: undefined, b: { c: undefined }, l: [undefined] }])
      assert.deepStrictEqual(yield* all, [{ _id: 1, b: {}, l: [null] }])
      yield* store.replaceOne(name, { _id: 1 }, { a: undefined, d: 1 })
      assert.deepStrictEqual(yield* all, [{ _id: 1, d: 1 }])
      yield* store.updateOne(name, { _id: 1 }, { $set: { d: undefined, e: { f: undefined } } })
      assert.deepStrictEqual(yield* all, [{ _id: 1, d: 1, e: {} }])
    }))

  it.effect("stores a document of a megabyte, and one with many small fields", () =>
    Effect.gen(function*() {
      const text = "ü".repeat(2 ** 19)
      const fields = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field ${index}`, index]))
      const list = Array.from({ length: 2_000 }, (_, index) => ({ index }))
      const document = { _id: 1, text, fields, list }
      const { all, name, store } = yield* collectionOf([document])
      assert.deepStrictEqual(yield* all, [document])
      yield* store.updateOne(name, { _id: 1 }, { $set: { "list.1999.index": -1 } })
      assert.strictEqual(yield* store.count(name, { text, "list.index": -1 }), 1)
    }))

  it.effect("is not changed by later mutation of its arguments", () =>
    Effect.gen(function*() {
      const make = () => ({
        list: [1, { a: 1 }] as Array<unknown>,
        nested: { date: day(1) },
        bytes: new Binary(Uint8Array.of(1, 2, 3))
      })
      const given = Array.from({ length: 5 }, () => make())
      const [one, many, replacement, set, pushed] = given
      const { all, name, store } = yield* collectionOf([])
      yield* store.insertOne(name, { _id: 1, v: one })
      yield* store.insertMany(name, [{ _id: 2, v: many }, { _id: 3 }, { _id: 4 }, { _id: 5, v: [] }])
      yield* store.replaceOne(name, { _id: 3 }, { v: replacement })
      yield* store.updateOne(name, { _id: 4 }, { $set: { v: set } })
      yield* store.updateOne(name, { _id: 5 }, { $push: { v: pushed } })
      for (const value of given) {
        value.list.push(2)
        value.list[1] = "changed"
        value.nested.date.setFullYear(1970)
        value.bytes.buffer[0] = 9
      }
      assert.strictEqual(
        exactly(yield* all),
        exactly([1, 2, 3, 4, 5].map((_id) => ({ _id, v: _id === 5 ? [make()] : make() })))
      )
    }))

  it.effect("does not mutate its arguments", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const documents = [{ list: [{ a: 1 }], _id: 1 }, { list: [{ a: 1 }], _id: 2 }]
      const update = { $set: { n: { x: [1] } } }
      yield* store.insertMany(name, documents)
      yield* store.updateMany(name, documents[0] ?? {}, update)
      yield* store.replaceOne(name, { _id: 2 }, documents[1] ?? {})
      assert.strictEqual(
        exactly(documents),
        "[{\"list\":[{\"a\":{\"$numberInt\":\"1\"}}],\"_id\":{\"$numberInt\":\"1\"}},"
          + "{\"list\":[{\"a\":{\"$numberInt\":\"1\"}}],\"_id\":{\"$numberInt\":\"2\"}}]"
      )
      for (const value of [...documents, documents[0]?.list, documents[0]?.list[0], update, update.$set.n.x]) {
        assert.isFalse(Object.isFrozen(value))
      }
      yield* store.insertOne(name, Object.freeze({ _id: 3, list: Object.freeze([1]) }))
      assert.strictEqual(yield* store.count(name, {}), 3)
    }))
}
