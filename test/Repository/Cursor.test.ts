import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Result, Schema } from "effect"
import { DocumentStore, EmbeddedStore, Model, Query } from "../../src/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"
import * as Cursor from "../../src/Repository/Cursor.ts"
import { oneOf } from "../support/choices.ts"
import { Order } from "../support/orders.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Point extends Model.Class<Point>()("Point", { x: Schema.Int }) {}

class Place extends Model.Class<Place>()("Place", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String,
  rank: Schema.Int.pipe(Model.optional),
  // @effect-diagnostics-next-line schemaNumber:off
  weight: Schema.Number.pipe(Model.withDefault(() => 0)),
  open: Schema.NullOr(Schema.Boolean).pipe(Model.withDefault(() => null)),
  day: Model.Date.pipe(Model.optional),
  at: Point.pipe(Model.optional)
}) {}

const day = (day: number) => DateTime.makeUnsafe(day * 86_400_000)

const places = [
  new Place({ id: "P1", name: "a", rank: 1, weight: Number.NaN, day: day(2) }),
  new Place({ id: "P2", name: "a", rank: 2, open: true }),
  new Place({ id: "P3", name: "b", weight: 1, day: day(1) }),
  new Place({ id: "P4", name: "b", weight: -1, open: false, at: new Point({ x: 1 }) }),
  new Place({ id: "P5", name: "Z", rank: 1, open: true, at: new Point({ x: 0 }) })
]

const orders: ReadonlyArray<Query.Sort<typeof Place>> = [
  [],
  "name",
  ["-name", "rank"],
  ["rank", "-day"],
  "-rank",
  "weight",
  "-weight",
  ["open", "-id"],
  ["-at.x", "-open"]
]

/** Values of several types sort by their types, and compare with values of their own type alone. */
class Mixed extends Model.Class<Mixed>()("Mixed", {
  id: Schema.Union([Schema.Int, Schema.String]),
  one: Schema.Union([Schema.Finite, Schema.String]).pipe(Model.optional),
  // @effect-diagnostics-next-line schemaNumber:off
  two: Schema.NullOr(Schema.Union([Schema.Boolean, Schema.Number, Model.Date])).pipe(Model.optional),
  three: Schema.Literals([1, "a", "b", 2]),
  part: Schema.Struct({ of: Schema.Union([Schema.Int, Schema.Boolean]) })
}) {}

const mixed = Array.from({ length: 24 }, (_, i) => {
  const one = ([1.5, "x", undefined, "", -2, "ä"] as const)[i % 6]
  const two = ([true, day(i), Number.NaN, 3, null, false, undefined, day(1), -1] as const)[i % 9]
  return new Mixed({
    id: i % 3 === 0 ? i : `M${i}`,
    ...one === undefined ? {} : { one },
    ...two === undefined ? {} : { two },
    three: ([1, "a", "b", 2] as const)[i % 4]!,
    part: { of: ([0, true, 7, false, 5] as const)[i % 5]! }
  })
})

const mixedOrders: ReadonlyArray<Query.Sort<typeof Mixed>> = [
  [],
  "-id",
  "one",
  "-one",
  "two",
  "-two",
  "three",
  ["three", "-two"],
  ["-two", "one", "-three"]
]

/** What lies behind a cursor, whichever store is asked. */
storeMatrix((name, store) =>
  it.layer(store)(`Cursor / ${name}`, (it) => {
    const pagesThrough = Effect.fnUntraced(function*(
      model: Model.Any,
      collection: string,
      documents: ReadonlyArray<DocumentStore.Document>,
      order: DocumentStore.Sort
    ) {
      const store = yield* DocumentStore.DocumentStore
      if ((yield* store.count(collection, {})) === 0) yield* store.insertMany(collection, documents)
      const keyset = yield* Effect.fromResult(Cursor.make(model, order))
      const all = yield* store.find(collection, { sort: keyset.sort })
      assert.strictEqual(all.length, documents.length)
      for (const [place, document] of all.entries()) {
        const cursor = keyset.cursor(document)
        const after = yield* Effect.fromResult(keyset.after(cursor))
        assert.deepStrictEqual(
          yield* store.find(collection, { filter: after, sort: keyset.sort }),
          all.slice(place + 1)
        )
        const before = yield* Effect.fromResult(keyset.before(cursor))
        const back = yield* store.find(collection, { filter: before, sort: keyset.reversed })
        assert.deepStrictEqual(back, all.slice(0, place).toReversed())
      }
    })

    it.effect.each(orders)("pages through %j, forwards and backwards", (order) => {
      const { toDocument } = documentCodec(Place)
      return pagesThrough(Place, "places", places.map((place) => toDocument(place)), Query.toSort(Place, order))
    })

    it.effect.each(mixedOrders)("pages through %j where values are of several types", (order) => {
      const { toDocument } = documentCodec(Mixed)
      return pagesThrough(Mixed, "mixed", mixed.map((one) => toDocument(one)), Query.toSort(Mixed, order))
    })

    it.effect.each(["part.of", "-part.of"])("pages through %j, a part that is of several types", (path) => {
      const { toDocument } = documentCodec(Mixed)
      const order = { [path.replace("-", "")]: path.startsWith("-") ? -1 : 1 } as const
      return pagesThrough(Mixed, "mixed", mixed.map((one) => toDocument(one)), order)
    })
  })
)

class Anything extends Model.Class<Anything>()("Anything", {
  id: Model.id(),
  any: Schema.Unknown,
  json: Schema.Json,
  mutable: Schema.MutableJson,
  optional: Schema.NullOr(Schema.Json).pipe(Model.optional),
  part: Schema.Struct({ json: Schema.Json }),
  either: Schema.Union([Schema.Int, Schema.Array(Schema.Int)])
}) {}

const keysetOf = (order: DocumentStore.Sort) => Effect.fromResult(Cursor.make(Place, order))

describe("a cursor", () => {
  it("is of no order by what may have parts", () => {
    for (const path of ["any", "json", "mutable", "optional", "part.json", "either"]) {
      assert.isTrue(Result.isFailure(Cursor.make(Anything, { [path]: 1 })), path)
    }
  })

  it.effect("is text for URLs", () =>
    Effect.gen(function*() {
      const { cursor } = yield* keysetOf({ name: 1 })
      assert.match(cursor({ _id: "P1", name: "?&/+ä".repeat(20) }), /^[\w-]+$/u)
    }))

  it.effect("keeps the types of its values", () =>
    Effect.gen(function*() {
      const { after, cursor } = yield* keysetOf({ day: 1, rank: 1, weight: 1 })
      const day = new Date("2026-01-01T10:00:00.123Z")
      const filter = yield* Effect.fromResult(after(cursor({ _id: "P1", day, rank: 3, weight: 0.5, name: "x" })))
      const $or = Reflect.get(Object(Object(filter["$and"])[0]), "$or")
      assert.deepStrictEqual(Reflect.get(Object($or), 3), {
        day: { $eq: day },
        rank: { $eq: 3 },
        weight: { $eq: 0.5 },
        _id: { $gt: "P1" }
      })
    }))

  it.effect("filters by conditions that an index can serve", () =>
    Effect.gen(function*() {
      const newest = yield* keysetOf({ name: -1 })
      assert.deepStrictEqual(newest.sort, { name: -1, _id: -1 })
      assert.deepStrictEqual(yield* Effect.fromResult(newest.after(newest.cursor({ _id: "P1", name: "x" }))), {
        name: { $lte: "x" },
        $or: [{ name: { $lt: "x" } }, { name: { $eq: "x" }, _id: { $lt: "P1" } }]
      })
      const byId = yield* keysetOf({})
      assert.deepStrictEqual(byId.sort, { _id: 1 })
      assert.deepStrictEqual(yield* Effect.fromResult(byId.after(byId.cursor({ _id: "P1" }))), { _id: { $gt: "P1" } })
      assert.deepStrictEqual(yield* Effect.fromResult(byId.before(byId.cursor({ _id: "P1" }))), { _id: { $lt: "P1" } })
    }))

  it.effect("pages past documents without a value for the sort field", () =>
    Effect.gen(function*() {
      const { after, before, cursor } = yield* keysetOf({ rank: 1 })
      const missing = cursor({ _id: "P1" })
      assert.deepStrictEqual(yield* Effect.fromResult(after(missing)), {
        $or: [{ rank: { $ne: null } }, { rank: { $eq: null }, _id: { $gt: "P1" } }]
      })
      assert.deepStrictEqual(yield* Effect.fromResult(before(missing)), { rank: { $eq: null }, _id: { $lt: "P1" } })
    }))

  it.effect("of another query, or with changed content, is rejected", () =>
    Effect.gen(function*() {
      const { after, before, cursor } = yield* keysetOf({ name: 1 })
      const good = cursor({ _id: "P1", name: "x" })
      const other = yield* keysetOf({ name: -1 })
      const orders = yield* Effect.fromResult(Cursor.make(Order, {}))
      const bad = [
        other.cursor({ _id: "P1", name: "x" }),
        orders.cursor({ _id: "P1" }),
        "",
        "x",
        good.slice(0, -1),
        `${good}A`,
        `${good.slice(0, 30)}${good[30] === "A" ? "B" : "A"}${good.slice(31)}`,
        "ä".repeat(40)
      ]
      for (const text of bad) {
        for (const read of [after, before]) {
          const error = yield* Effect.flip(Effect.fromResult(read(text)))
          assert.deepStrictEqual({ ...error }, {
            _tag: "QueryRejected",
            operation: "sort",
            detail: "the cursor is not one of this query"
          })
        }
      }
      assert.isTrue(Result.isSuccess(after(good)))
    }))

  it.effect.each<[order: DocumentStore.Sort, detail: string]>([
    [{ colour: 1 }, "\"colour\" is no field of Order"],
    [{ id: 1 }, "\"id\" is no field of Order"],
    [{ tags: 1 }, "\"tags\" has no single value to sort by"],
    [{ "lines.quantity": -1 }, "\"lines.quantity\" has no single value to sort by"],
    [{ address: 1 }, "\"address\" has no single value to sort by"]
  ])("is not to be had for %j", ([order, detail]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.fromResult(Cursor.make(Order, order)))
      assert.strictEqual(error.detail, detail)
    }))
})

const anyPlace = Arbitrary.map(
  Arbitrary.all([
    oneOf("P", "a", "a", "b"),
    oneOf(undefined, 0, 1, 1, 2),
    oneOf(Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY),
    oneOf(true, false, null),
    oneOf(undefined, 0, 1)
  ]),
  ([name, rank, weight, open, day]) => ({
    name,
    weight,
    open,
    ...(rank === undefined ? {} : { rank, at: { x: rank } }),
    ...(day === undefined ? {} : { day: DateTime.makeUnsafe(day * 86_400_000) })
  })
)

const keys = Arbitrary.map(
  Arbitrary.all([
    oneOf("", "-"),
    oneOf("name", "rank", "weight", "open", "day", "at.x", "id")
  ]),
  ([direction, name]) => `${direction}${name}` as const
)

it.effect.prop(
  "pages contain every permanent document once, with any concurrent writes",
  {
    found: Arbitrary.array(anyPlace, { minLength: 1, maxLength: 10 }),
    inserted: Arbitrary.array(anyPlace, { maxLength: 8 }),
    order: Arbitrary.array(keys, { maxLength: 3 }),
    limit: oneOf(1, 2, 3)
  },
  ({ found, inserted, limit, order }) =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const codec = documentCodec(Place)
      const [there, late] = [found, inserted].map((places, late) =>
        // Identifiers of the late ones lie between the others.
        places.map((place, i) => codec.toDocument(new Place({ id: `P${i}${late === 0 ? "" : "b"}`, ...place })))
      )
      yield* store.insertMany("places", there ?? [])
      const { after, before, cursor, reversed, sort } = yield* keysetOf(Query.toSort(Place, order))
      const waiting = [...late ?? []]
      const seen: Array<DocumentStore.Document> = []
      while (true) {
        const last = seen.at(-1)
        const filter = last === undefined ? {} : yield* Effect.fromResult(after(cursor(last)))
        const page = yield* store.find("places", { filter, sort, limit })
        if (page.length === 0) break
        seen.push(...page)
        const next = waiting.pop()
        if (next !== undefined) yield* store.insertOne("places", next)
      }
      const ids = seen.map(({ _id }) => _id)
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.includeMembers(ids, there?.map(({ _id }) => _id) ?? [])
      const all = yield* store.find("places", { sort })
      assert.deepStrictEqual(ids, all.map(({ _id }) => _id).filter((id) => ids.includes(id)))
      for (const [place, document] of all.entries()) {
        const filter = yield* Effect.fromResult(before(cursor(document)))
        const back = yield* store.find("places", { filter, sort: reversed })
        assert.deepStrictEqual(back, all.slice(0, place).toReversed())
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory, { local: true })),
  { arbitrary: { runs: 300 } }
)
