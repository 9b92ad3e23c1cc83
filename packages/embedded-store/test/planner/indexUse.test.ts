import type { Document, Filter, FindOptions, IndexDescription } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Arbitrary, Effect, Fiber, Schema, Stream } from "effect"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { workDone } from "../../../document-store/src/internal/stepBudget.ts"
import { Catalog } from "../../src/catalog/catalog.ts"
import { DocumentWriter } from "../../src/operations/documentWriter.ts"
import { makeIndexing } from "../../src/operations/indexBuild.ts"
import { makeEmbeddedReads } from "../../src/operations/reads.ts"
import { makeEmbeddedWrites } from "../../src/operations/writes.ts"
import * as keyValueFolder from "../../src/storage/lmdb/store.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import type { SteppedKeyValue } from "../../src/storage/orderedStore.ts"
import { makeVersions } from "../../src/transaction/snapshots.ts"

const numbers = <A>(length: number, make: (i: number) => A): ReadonlyArray<A> =>
  Array.from({ length }, (_, i) => make(i))

const scalar = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  Schema.Literals(["", "a", "ab"]),
  Schema.Null
])

/** Values of all kinds that a filter may compare, some of them equal, some with keys that are cut. */
const countable = Schema.Union([
  scalar,
  Schema.Boolean,
  Schema.Array(scalar),
  Schema.Literals([0.5, -0, 2 ** 53, "a".repeat(860), "a".repeat(870), "a".repeat(2_000), `${"a".repeat(2_000)}b`]),
  Schema.Literals(["long", "decimal"])
])

/** A value that has no literal. */
const valueOf = (value: typeof countable.Type): unknown =>
  value === "long" ? Long.fromNumber(2 ** 53).add(1) : value === "decimal" ? Decimal128.fromString("5") : value

describe("indexUse", () => {
  const indexes: ReadonlyArray<IndexDescription> = [
    { name: "code", key: { code: 1 }, unique: true },
    { name: "city, age", key: { city: 1, age: -1 } },
    { name: "name", key: { "name.last": 1, "name.first": 1 } },
    { name: "at", key: { at: -1 } },
    { name: "open", key: { rank: 1 }, partialFilterExpression: { open: true } },
    { name: "text", key: { text: "text" }, weights: { text: 2 } }
  ]

  // Of 5,000, each city has 500, each age 50, each last name 100, and every 100th is open.
  const documents = Array.from({ length: 5_000 }, (_, i) => ({
    _id: i,
    code: `c${i}`,
    city: `city ${i % 10}`,
    age: i % 100,
    name: { last: `last ${i % 50}`, first: `first ${i}` },
    at: new Date(i * 1000),
    rank: 5_000 - i,
    open: i % 100 === 0,
    text: i % 1_000 === 7 ? "a rare word" : "common words"
  }))

  it.effect.each<[what: string, options: FindOptions, found: number, looked: number]>([
    ["a unique value", { filter: { code: "c77" } }, 1, 1],
    ["values", { filter: { code: { $in: ["c1", "c2", "none"] } } }, 2, 2],
    ["10,000 identifiers", { filter: { _id: { $in: numbers(10_000, (i) => 4_900 + i) } } }, 100, 100],
    [
      "10,000 identifiers in their order",
      { filter: { _id: { $in: numbers(10_000, (i) => 9_000 - i) } }, sort: { _id: -1 }, limit: 128 },
      128,
      128
    ],
    ["10,000 unique values", { filter: { code: { $in: numbers(10_000, (i) => `c${4_900 + i}`) } } }, 100, 100],
    ["200,000 unique values", { filter: { code: { $in: numbers(200_000, (i) => `c${4_900 + i}`) } } }, 100, 100],
    ["10,000 values", { filter: { at: { $in: numbers(10_000, (i) => new Date(1_000 * (4_900 + i))) } } }, 100, 100],
    [
      "10,000 values in their order",
      { filter: { at: { $in: numbers(10_000, (i) => new Date(1_000 * (4_900 + i))) } }, sort: { at: 1 }, limit: 16 },
      16,
      16
    ],
    [
      "a value and 10,000 values",
      { filter: { city: "city 3", age: { $in: numbers(10_000, (i) => 13 - i) } } },
      100,
      100
    ],
    [
      "10,000 values and 10,000 values, turned",
      {
        filter: {
          city: { $in: numbers(10_000, (i) => `city ${3 + i}`) },
          age: { $in: numbers(10_000, (i) => 13 - i) }
        },
        sort: { city: -1, age: 1 },
        limit: 128
      },
      128,
      139
    ],
    [
      "10,000 values and a range",
      { filter: { city: { $in: numbers(10_000, (i) => `city ${3 + i}`) }, age: { $gt: 97 } } },
      100,
      100
    ],
    [
      "10,000 values and a beginning",
      {
        filter: { "name.last": { $in: numbers(10_000, (i) => `last ${1 + i}`) }, "name.first": /^first 49/ }
      },
      109,
      109
    ],
    ["the first of several fields", { filter: { city: "city 3" } }, 500, 500],
    ["all of several fields", { filter: { city: "city 3", age: 13 } }, 50, 50],
    ["a field and a range", { filter: { city: "city 3", age: { $gte: 90 } } }, 50, 50],
    ["two ranges of one field", { filter: { at: { $gt: new Date(100_000), $lte: new Date(200_000) } } }, 100, 100],
    ["a beginning", { filter: { code: /^c499/ } }, 11, 11],
    ["a beginning that ends", { filter: { code: /^c49$/ } }, 1, 111],
    ["a beginning that may be shorter", { filter: { code: /^c499?$/ } }, 2, 111],
    ["a beginning in either case", { filter: { code: /^C499/i } }, 11, 5_000],
    ["one of two beginnings", { filter: { code: /^c4999|^c1$/ } }, 2, 5_000],
    ["a nested field and a beginning", { filter: { "name.last": "last 1", "name.first": /^first 49/ } }, 2, 2],
    ["the first in an order", { sort: { at: -1, _id: 1 }, limit: 10 }, 10, 5_000],
    ["the first in an index's order", { sort: { at: -1 }, limit: 10 }, 10, 16],
    ["a page in an index's order", { sort: { at: -1, _id: -1 }, limit: 10 }, 10, 16],
    ["a page in an index's order, turned", { sort: { at: 1, _id: 1 }, limit: 10 }, 10, 16],
    ["the last in an index's order", { sort: { at: 1 }, limit: 100 }, 100, 100],
    ["a page further on", { sort: { at: 1 }, skip: 100, limit: 20 }, 20, 20],
    ["a field in the order of the next", { filter: { city: "city 3" }, sort: { age: -1 }, limit: 20 }, 20, 20],
    ["a field in the order of the next, turned", { filter: { city: "city 3" }, sort: { age: 1 }, limit: 20 }, 20, 20],
    [
      "a range in its order",
      { filter: { city: "city 3", age: { $lt: 50 } }, sort: { city: -1, age: 1 }, limit: 20 },
      20,
      20
    ],
    ["fields in their order", { sort: { "name.last": -1, "name.first": -1 }, limit: 50 }, 50, 50],
    ["fields in no index's order", { sort: { "name.last": 1, "name.first": -1 }, limit: 50 }, 50, 5_000],
    ["what a partial index holds", { filter: { open: true, rank: { $lte: 1_000 } } }, 10, 10],
    ["what a partial index holds, in its order", { filter: { open: true }, sort: { rank: 1 }, limit: 16 }, 16, 16],
    ["what a partial index may not hold", { filter: { rank: { $lte: 1_000 } } }, 1_000, 5_000],
    ["a word", { filter: { $text: { $search: "rare" } } }, 5, 5],
    ["words", { filter: { $text: { $search: "rare word" } } }, 5, 5],
    ["a word that is not there", { filter: { $text: { $search: "none -common" } } }, 0, 0]
  ])("looks for %s at no more documents than it has to", ([, options, found, looked]) =>
    Effect.gen(function*() {
      indexed ??= yield* withDocuments(documents)
      plain ??= yield* withDocuments(documents, [])
      const { looks, reading } = indexed
      looks()
      const all = yield* reading.find("things", options)
      assert.deepStrictEqual([all.length, looks()], [found, looked])
      // What it finds is what it would have found without indexes.
      if (options.filter === undefined || !("$text" in options.filter)) {
        const expected = yield* plain.reading.find("things", options)
        const of = (documents: ReadonlyArray<Document>) => documents.map(({ _id }) => _id)
        if (options.sort === undefined) assert.sameMembers(of(all), of(expected))
        else {
          const keys = (documents: ReadonlyArray<Document>) =>
            documents.map((document) => Object.keys(options.sort ?? {}).map((path) => valueAt(document, path)))
          assert.deepStrictEqual(keys(all), keys(expected))
        }
      }
    }))

  it.effect.prop("finds the same documents by lists of values with and without indexes", {
    values: Arbitrary.schema(
      Schema.Array(Schema.Struct({ a: scalar, b: Schema.Union([scalar, Schema.Array(scalar)]) }))
    ),
    first: Arbitrary.schema(Schema.Array(scalar)),
    second: Arbitrary.schema(Schema.Array(scalar)),
    descending: Arbitrary.schema(Schema.Boolean)
  }, ({ descending, first, second, values }) =>
    Effect.gen(function*() {
      const some = values.map((value, _id) => ({ _id, ...value }))
      const indexed = yield* withDocuments(some, [{ name: "a, b", key: { a: 1, b: -1 } }])
      const plain = yield* withDocuments(some, [])
      const filters: ReadonlyArray<Filter> = [
        { a: { $in: first } },
        { a: { $in: first }, b: { $in: second } },
        { a: { $in: first }, b: { $gt: 3 } },
        { a: 5, b: { $in: second } }
      ]
      for (const filter of filters) {
        for (const sort of [{ _id: 1 }, { a: descending ? -1 : 1, b: descending ? 1 : -1, _id: 1 }] as const) {
          const options = { filter, sort }
          assert.deepStrictEqual(
            yield* indexed.reading.find("things", options),
            yield* plain.reading.find("things", options)
          )
        }
      }
    }), { arbitrary: { runs: 100 } })

  it.effect("plans counts, streams and pipelines like finds", () =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(documents)
      const filter: Filter = { city: "city 3", age: { $gte: 90 } }
      assert.strictEqual(yield* reading.count("things", filter), 50)
      assert.strictEqual(looks(), 0)
      yield* Stream.runDrain(reading.stream("things", { filter }))
      yield* Stream.runDrain(reading.aggregate("things", [{ $match: filter }, { $sort: { age: -1 } }, { $limit: 5 }]))
      assert.isAtMost(looks(), 150)
    }))

  const sphere: IndexDescription = { name: "sphere", key: { at: "2dsphere" } }
  const plane: IndexDescription = { name: "plane", key: { at: "2d" } }

  // A grid: one degree of longitude and one of latitude apart.
  const places = Array.from({ length: 2_000 }, (_, _id) => ({ _id, at: [(_id % 50) - 25, Math.floor(_id / 50) - 20] }))

  const square = { type: "Polygon", coordinates: [[[0.5, 0.5], [3.5, 0.5], [3.5, 2.5], [0.5, 2.5], [0.5, 0.5]]] }
  const line = { type: "LineString", coordinates: [[0.5, 0], [2.5, 0]] }
  const [origin, hundredKilometres] = [{ type: "Point", coordinates: [0, 0] }, 112_000]

  it.effect.each<[what: string, index: IndexDescription, condition: Document, found: number, most: number]>([
    ["$geoWithin a polygon", sphere, { $geoWithin: { $geometry: square } }, 6, 30],
    ["$geoWithin a circle", sphere, { $geoWithin: { $centerSphere: [[0, 0], 0.02] } }, 5, 30],
    ["$geoIntersects a line", sphere, { $geoIntersects: { $geometry: line } }, 2, 30],
    ["$geoIntersects a point", sphere, { $geoIntersects: { $geometry: origin } }, 1, 10],
    ["$near", sphere, { $near: { $geometry: origin, $maxDistance: hundredKilometres } }, 5, 60],
    ["$geoWithin a box", plane, { $geoWithin: { $box: [[0, 0], [3, 3]] } }, 16, 60],
    ["$geoWithin a circle of the plane", plane, { $geoWithin: { $center: [[0, 0], 1] } }, 5, 30],
    ["$near of the plane", plane, { $near: [0, 0], $maxDistance: 1 }, 5, 60]
  ])("reads few locations for %s", ([, index, at, found, most]) =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(places, [index])
      const all = yield* reading.find("things", { filter: { at } })
      const looked = looks()
      assert.strictEqual(all.length, found)
      assert.isAtMost(looked, most)
      const { $maxDistance: within } = { ...at, ...Object(at["$near"]) }
      const inReach = {
        $geoWithin: index === plane ? { $center: [[0, 0], within] } : { $centerSphere: [[0, 0], within / 6_378_100] }
      }
      const without = yield* withDocuments(places, [])
      const same = yield* without.reading.find("things", { filter: { at: "$near" in at ? inReach : at } })
      assert.sameDeepMembers([...all], [...same])
    }))

  it.effect("reads few locations for $geoNear", () =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(places, [sphere])
      const stage = { $geoNear: { near: origin, maxDistance: hundredKilometres, distanceField: "metres", key: "at" } }
      const found = yield* Stream.runCollect(reading.aggregate("things", [stage, { $project: { at: 1 } }]))
      assert.isAtMost(looks(), 60)
      assert.strictEqual(found.length, 5)
      assert.deepStrictEqual(found[0]?.["at"], [0, 0])
    }))

  it.effect("counts the entries of an index that says all of a filter, and looks at no document", () =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(documents)
      const counts: ReadonlyArray<readonly [filter: Filter, total: number, looked: number]> = [
        [{ city: "city 3" }, 500, 0],
        [{ city: { $eq: "city 3" } }, 500, 0],
        [{ age: 13, city: "city 3" }, 50, 0],
        [{ city: "none" }, 0, 0],
        [{ city: "city 3", age: { $gte: 90 } }, 50, 0],
        [{ city: "city 3", age: { $gt: 13, $lte: 33 } }, 100, 0],
        [{ at: { $lt: new Date(1_000_000) } }, 1_000, 0],
        [{ at: { $gt: new Date(1_000_000), $lte: new Date(2_000_000) } }, 1_000, 0],
        [{ age: { $gte: 90 } }, 500, 5_000],
        [{ city: { $in: ["city 3", "city 4"] } }, 1_000, 1_000],
        [{ city: "city 3", rank: 1 }, 0, 500]
      ]
      for (const [filter, total, looked] of counts) {
        assert.strictEqual(yield* reading.count("things", filter), total)
        assert.strictEqual(looks(), looked, JSON.stringify(filter))
      }
      const options = { filter: { city: "city 3" }, sort: { city: 1, age: -1 }, limit: 20 } as const
      assert.strictEqual((yield* reading.findAndCount("things", options)).total, 500)
      assert.strictEqual(looks(), 20)
    }))

  it.effect("finds a number beside a decimal whose nearest double it is", () =>
    Effect.gen(function*() {
      const numbers = [{ _id: 1, v: 0.1 }, { _id: 2, v: 0.2 }]
      const { reading } = yield* withDocuments(numbers, [{ name: "v", key: { v: 1 } }])
      const [tenth, third] = [Decimal128.fromString("0.1"), Decimal128.fromString("0.20000000000000000001")]
      // The double that is written as 0.1 is a little greater, and so is the one of 0.2.
      assert.strictEqual((yield* reading.find("things", { filter: { v: { $gt: tenth } } })).length, 2)
      assert.strictEqual(yield* reading.count("things", { v: { $gt: tenth, $lt: third } }), 1)
      assert.strictEqual(yield* reading.count("things", { v: { $gt: 0.1 } }), 1)
    }))

  it.effect("counts some hundred entries of a folder once", () =>
    Effect.gen(function*() {
      const folder = yield* keyValueFolder.make(yield* freshDirectory)
      let seen = 0
      const entries: typeof folder.entries = (index) => {
        const table = folder.entries(index)
        return {
          ...table,
          scanKeys: (range, visit) => table.scanKeys(range, (key) => ++seen > 0 && visit(key))
        }
      }
      const { reading } = yield* withDocuments(documents, [indexes[1]!], { ...folder, entries })
      const filter = { city: "city 3" }
      assert.strictEqual(yield* reading.count("things", filter), 500)
      assert.isAtMost(seen, 300)
      seen = 0
      assert.strictEqual(yield* reading.count("things", filter), 500)
      assert.strictEqual(seen, 0)
    }))

  it.effect("passes over the documents before a page by the entries of an index, and looks at none of them", () =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(documents)
      const pages: ReadonlyArray<readonly [options: FindOptions, first: number, looked: number]> = [
        [{ sort: { _id: 1 } }, 400, 16],
        [{ sort: { _id: -1 } }, 4_599, 16],
        [{ sort: { at: 1 } }, 400, 16],
        [{ sort: { at: -1 } }, 4_599, 16],
        [{ filter: { city: "city 3" }, sort: { city: 1, age: 1 } }, 83, 16],
        [{ filter: { city: "city 3" }, sort: { city: 1, age: -1 } }, 13, 16],
        [{ filter: { at: { $gte: new Date(1_000_000) } }, sort: { at: 1 } }, 1_400, 16],
        [{ filter: { at: { $lt: new Date(1_000_000) } }, sort: { at: -1 } }, 599, 16],
        [{ filter: { city: "city 3", age: { $gt: 0, $lt: 93 } }, sort: { city: 1, age: 1 } }, 83, 16]
      ]
      for (const [options, first, looked] of pages) {
        const [found] = yield* reading.find("things", { ...options, skip: 400, limit: 1 })
        assert.strictEqual(options.filter?.["city"] === undefined ? found?.["_id"] : found?.["age"], first)
        assert.strictEqual(looks(), looked, JSON.stringify(options))
        assert.deepStrictEqual(yield* reading.find("things", { ...options, skip: 5_000, limit: 1 }), [])
        assert.strictEqual(looks(), 0)
      }
    }))

  it.effect.prop("pages by any index like a slice of all, and counts as many", {
    values: Arbitrary.schema(Schema.Array(Schema.Struct({ a: countable, b: countable }))),
    bounds: Arbitrary.schema(
      Schema.Array(
        Schema.Struct({
          path: Schema.Literals(["a", "b"]),
          operator: Schema.Literals(["$eq", "$gt", "$gte", "$lt", "$lte"]),
          value: countable
        })
      ).check(Schema.isMaxLength(3))
    ),
    key: Arbitrary.schema(Schema.Literals(["a", "-a", "a, b", "a, -b", "-b, a", "_id"])),
    isReverse: Schema.Boolean,
    skip: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
    isList: Schema.Boolean
  }, ({ bounds, isList, isReverse, key, skip, values }) =>
    Effect.gen(function*() {
      const directions = key.split(", ").map((part) =>
        part.startsWith("-") ? [part.slice(1), -1] as const : [part, 1] as const
      )
      const index = { name: "key", key: Object.fromEntries(directions) }
      const stored = values.map(({ a, b }, _id) => ({ _id, a: valueOf(a), b: valueOf(b) }))
        // A list keeps the whole index from telling what matches.
        .filter(({ a, b }) => !Array.isArray(b) && (isList || !Array.isArray(a)))
      const $and = bounds.map(({ operator, path, value }) => ({ [path]: { [operator]: valueOf(value) } }))
      const filter = bounds.length === 0 ? {} : { $and }
      const turned = (way: 1 | -1): 1 | -1 => isReverse ? (way === 1 ? -1 : 1) : way
      const sort = Object.fromEntries([
        ...directions.map(([path, way]) => [path, turned(way)] as const),
        ["_id", turned(1)] as const
      ])
      const { reading } = yield* withDocuments(stored, key === "_id" ? [] : [index])
      const plain = yield* withDocuments(stored, [])
      const all = yield* plain.reading.find("things", { filter, sort })
      for (const limit of [1, 20]) {
        assert.deepStrictEqual(
          yield* reading.findAndCount("things", { filter, sort, skip, limit }),
          { documents: all.slice(skip, skip + limit), total: all.length }
        )
      }
      assert.strictEqual(yield* reading.count("things", filter), all.length)
    }), { arbitrary: { runs: 200 } })

  it.effect.prop("counts by any indexes what it finds", {
    values: Arbitrary.schema(Schema.Array(Schema.Struct({ a: countable, b: countable }))),
    filter: Arbitrary.schema(Schema.Struct({ a: countable, b: Schema.optional(countable) })),
    index: Arbitrary.schema(Schema.Literals(["a", "a, b", "-a, b", "b, -a", "sparse", "unique"]))
  }, ({ filter, index, values }) =>
    Effect.gen(function*() {
      const key = { "a": { a: 1 }, "a, b": { a: 1, b: 1 }, "-a, b": { a: -1, b: 1 }, "b, -a": { b: 1, a: -1 } } as const
      const indexes = [
        index === "sparse"
          ? { name: "a", key: { a: 1 }, sparse: true } as const
          : index === "unique"
          ? { name: "c", key: { a: 1, c: 1 }, unique: true } as const
          : { name: "key", key: key[index] } as const
      ]
      const stored = values.map(({ a, b }, _id) => ({ _id, a: valueOf(a), b: valueOf(b), c: _id }))
      const { reading } = yield* withDocuments(stored, indexes)
      const given = { a: valueOf(filter.a), ...(filter.b === undefined ? {} : { b: valueOf(filter.b) }) }
      for (const one of [given, ...stored.map(({ a }) => ({ a })), ...stored.map(({ a, b }) => ({ a, b }))]) {
        const { length } = yield* reading.find("things", { filter: one })
        assert.strictEqual(yield* reading.count("things", one), length)
        const { total } = yield* reading.findAndCount("things", { filter: one, sort: { _id: 1 }, limit: 1 })
        assert.strictEqual(total, length)
      }
    }), { arbitrary: { runs: 100 } })

  it.effect("counts documents once that move within an index while they are counted", () =>
    Effect.gen(function*() {
      const many = numbers(10_000, (_id) => ({ _id, kind: "a", n: _id }))
      const { reading, writing } = yield* withDocuments(many, [{ name: "kind, n", key: { kind: 1, n: 1 } }])
      const counting = yield* Effect.forkChild(reading.count("things", { kind: "a" }), { startImmediately: true })
      yield* writing.updateMany("things", { n: { $lt: 3_000 } }, { $inc: { n: 100_000 } })
      assert.strictEqual(yield* Fiber.join(counting), 10_000)
    }))

  it.effect("scans no more documents for a page without deleted ones than for a page of all", () =>
    Effect.gen(function*() {
      const { looks, reading, writing } = yield* withDocuments(documents, [])
      const page = (filter: Filter) =>
        Effect.gen(function*() {
          const { documents, total } = yield* reading.findAndCount("things", { filter, sort: { _id: 1 }, limit: 1 })
          return [documents[0]?.["_id"], total, looks()]
        })
      assert.deepStrictEqual(yield* page({}), [0, 5_000, 16])
      assert.strictEqual(yield* reading.count("things", { deleted: null }), 5_000)
      looks()
      assert.deepStrictEqual(yield* page({ deleted: null }), [0, 5_000, 16])
      yield* writing.updateMany("things", { _id: { $lt: 100 } }, { $set: { deleted: new Date(0) } })
      yield* writing.insertMany("things", [{ _id: "a" }, { _id: "b", deleted: null }, { _id: "c", deleted: 1 }])
      yield* writing.updateOne("things", { _id: 5 }, { $unset: { deleted: "" } })
      yield* writing.deleteMany("things", { _id: { $in: [1, 2, 200] } })
      yield* writing.replaceOne("things", { _id: 300 }, { deleted: 2 })
      looks()
      assert.deepStrictEqual(yield* page({ deleted: null }), [5, 4_901, 16])
      const counted = yield* reading.count("things", { deleted: { $in: [null] } })
      assert.strictEqual(counted, 4_901)
    }))

  it.effect("scans once for a sorted page and the count of all matches, even if there are none", () =>
    Effect.gen(function*() {
      const { looks, reading } = yield* withDocuments(documents)
      for (const [age, total] of [[13, 50], [-1, 0]] as const) {
        const filter: Filter = { age, rank: { $gt: 0 } }
        const found = yield* reading.findAndCount("things", { filter, sort: { rank: 1 }, limit: 1 })
        assert.deepStrictEqual([found.documents.length, found.total, looks()], [Math.min(1, total), total, 5_000])
      }
    }))

  it.effect("splits each text once per search, for any number of words", () =>
    Effect.gen(function*() {
      const text = Array.from({ length: 2_000 }, (_, i) => `word${i}`).join(" ")
      const texts = Array.from({ length: 100 }, (_, _id) => ({ _id, text }))
      const { reading } = yield* withDocuments(texts, [{ name: "text", key: { text: "text" } }])
      const workFor = Effect.fnUntraced(function*(words: number) {
        const before = workDone()
        const $search = Array.from({ length: words }, (_, i) => `word${i}`).join(" ")
        assert.strictEqual(yield* reading.count("things", { $text: { $search } }), 100)
        return workDone() - before
      })
      const one = yield* workFor(1)
      assert.isAtLeast(one, 100 * text.length)
      assert.isAtMost(yield* workFor(10), 1.1 * one)
    }))

  it.effect("fails, retryably, when an index is dropped while it is read", () =>
    Effect.gen(function*() {
      const { indexing, reading } = yield* withDocuments(documents)
      const find = reading.find("things", { filter: { at: { $gte: new Date(0) } } })
      const fiber = yield* Effect.forkChild(Effect.flip(find), { startImmediately: true })
      yield* indexing.dropIndexes("things", ["at"])
      const error = yield* Fiber.join(fiber)
      assert.deepInclude({ ...error }, { _tag: "StoreUnavailable", retryable: true })
      assert.strictEqual((yield* find).length, 5_000)
    }))

  const withDocuments = Effect.fnUntraced(function*(
    documents: ReadonlyArray<Document>,
    more = indexes,
    within?: SteppedKeyValue
  ) {
    const { looks, store: counted } = counting(within ?? (yield* keyValueMemory.make))
    const { store } = makeVersions(counted)
    const catalog = new Catalog(store)
    const writer = new DocumentWriter(store, catalog, () => {})
    const indexing = yield* makeIndexing(store, catalog, writer, Effect.void)
    yield* indexing.createIndexes("things", more)
    const writing = makeEmbeddedWrites(store, catalog, writer)
    yield* writing.insertMany("things", documents)
    looks()
    return { indexing, looks, reading: makeEmbeddedReads(store, catalog), writing }
  })

  // What is only read is written once.
  type Stored = Effect.Success<ReturnType<typeof withDocuments>>
  let indexed: Stored | undefined
  let plain: Stored | undefined
})

const valueAt = (document: unknown, path: string): unknown =>
  path.split(".").reduce((value, key) => Reflect.get(Object(value), key), document)

/** A store that counts the documents that are looked at; `looks` begins anew with each answer. */
const counting = (store: SteppedKeyValue) => {
  let count = 0
  return {
    store: {
      ...store,
      documents: (collection: number): ReturnType<SteppedKeyValue["documents"]> => {
        const table = store.documents(collection)
        return {
          ...table,
          has: table.has,
          put: table.put,
          remove: table.remove,
          scanKeys: table.scanKeys,
          keyAt: table.keyAt,
          get: (key) => {
            count += 1
            return table.get(key)
          },
          visit: (keys, visit) =>
            table.visit(keys, (place, document, bytes) => {
              count += 1
              return visit(place, document, bytes)
            }),
          scan: (range, visit) =>
            table.scan(range, (key, document, bytes) => {
              count += 1
              return visit(key, document, bytes)
            })
        }
      }
    },
    looks: () => {
      const counted = count
      count = 0
      return counted
    }
  }
}
