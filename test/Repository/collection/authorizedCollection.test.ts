import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, BigDecimal, DateTime, Effect, Schema } from "effect"
import { DocumentStore, Model, Query } from "../../../src/index.ts"
import { rejectUnsuitable, rowMatcher } from "../../../src/Repository/evaluation.ts"
import { documentCodec, nothing } from "../../../src/Repository/internal.ts"
import { either, oneOf, type Some } from "../../support/choices.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

class Place extends Model.Class<Place>()("Place", { city: Schema.String, floor: Schema.Int.pipe(Model.optional) }) {}

class Line extends Model.Class<Line>()("Line", { product: Schema.String, quantity: Schema.Int }) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id(),
  owner: Schema.String,
  note: Schema.String.pipe(Model.optional),
  rank: Schema.Finite,
  big: Schema.BigInt.pipe(Model.optional),
  price: Schema.BigDecimal.pipe(Model.optional),
  open: Schema.NullOr(Schema.Boolean),
  tags: Schema.Array(Schema.String),
  place: Place.pipe(Model.optional),
  lines: Schema.Array(Line),
  at: Model.DateTime.pipe(Model.optional),
  day: Model.Date.pipe(Model.optional)
}) {}

const texts = ["", "a", "A", "ab", "b", "$a", "a.b", "é"]
const numbers = [-1, 0, 0.5, 1, 2]
const integers = [-1, 0, 1, 2]
const moments = [0, 86_400_000, 86_400_001].map((time) => DateTime.makeUnsafe(time))
const decimals = ["0", "0.5", "1", "1.50"].map(BigDecimal.fromStringUnsafe)

const maybe = <A>(values: ReadonlyArray<A>): Some<A | undefined> => oneOf(undefined, ...values)

const things = Arbitrary.map(
  Arbitrary.all([
    oneOf(...texts),
    maybe(texts),
    oneOf(...numbers),
    maybe([0n, 1n, 2n ** 60n]),
    maybe(decimals),
    oneOf(true, false, null),
    Arbitrary.array(oneOf(...texts), { maxLength: 3 }),
    Arbitrary.all([oneOf(0, 1, 2), oneOf(...texts), maybe(integers)]),
    Arbitrary.array(Arbitrary.all([oneOf(...texts), oneOf(...integers)]), { maxLength: 3 }),
    maybe(moments),
    maybe(moments)
  ]),
  ([owner, note, rank, big, price, open, tags, [hasPlace, city, floor], lines, at, day]) => ({
    owner,
    rank,
    open,
    tags,
    lines: lines.map(([product, quantity]) => new Line({ product, quantity })),
    ...(note === undefined ? {} : { note }),
    ...(big === undefined ? {} : { big }),
    ...(price === undefined ? {} : { price }),
    ...(hasPlace === 0 ? {} : { place: new Place({ city, ...(floor === undefined ? {} : { floor }) }) }),
    ...(at === undefined ? {} : { at }),
    ...(day === undefined ? {} : { day: DateTime.removeTime(day) })
  })
)

type Where = Query.Where<typeof Thing>

/** One condition for each operator of each kind of field, with each value. */
const conditions: ReadonlyArray<Where> = [
  ...texts.flatMap((text): ReadonlyArray<Where> => [
    ($) => $.owner.equals(text),
    ($) => $.owner.notEquals(text),
    ($) => $.owner.greaterThan(text),
    ($) => $.owner.lessThanOrEqualTo(text),
    ($) => $.owner.in([text, "b"]),
    ($) => $.note.equals(text),
    ($) => $.note.notEquals(text),
    ($) => $.note.notIn([text, "b"]),
    ($) => $.note.contains(text),
    ($) => $.note.startsWith(text),
    ($) => $.owner.startsWith(text, { caseSensitive: true }),
    ($) => $.tags.contains(text),
    ($) => $.tags.equals([text]),
    ($) => $.place.city.equals(text),
    ($) => $.place.city.notEquals(text),
    ($) => $.lines.product.equals(text),
    ($) => $.lines.product.notEquals(text),
    ($) => $.lines.product.contains(text),
    ($) => $.lines.any((line) => line.product.equals(text).and(line.quantity.greaterThan(0)))
  ]),
  ...numbers.flatMap((number): ReadonlyArray<Where> => [
    ($) => $.rank.equals(number),
    ($) => $.rank.greaterThan(number),
    ($) => $.rank.lessThan(number),
    ($) => $.rank.between(number, 1)
  ]),
  ...integers.flatMap((integer): ReadonlyArray<Where> => [
    ($) => $.place.floor.greaterThanOrEqualTo(integer),
    ($) => $.place.floor.notEquals(integer),
    ($) => $.lines.quantity.greaterThan(integer),
    ($) => $.lines.quantity.notIn([integer, 2]),
    ($) => $.lines.any((line) => line.quantity.between(integer, 2)),
    () => Query.path("lines.0.quantity", Schema.Int).equals(integer)
  ]),
  ...[0, 1, 2].flatMap((size): ReadonlyArray<Where> => [($) => $.tags.size(size), ($) => $.lines.size(size)]),
  ...[0n, 1n, 2n ** 60n].flatMap((big): ReadonlyArray<Where> => [
    ($) => $.big.equals(big),
    ($) => $.big.greaterThan(big)
  ]),
  ...decimals.flatMap((price): ReadonlyArray<Where> => [
    ($) => $.price.equals(price),
    ($) => $.price.lessThanOrEqualTo(price)
  ]),
  ...[true, false, null].flatMap((open): ReadonlyArray<Where> => [
    ($) => $.open.equals(open),
    ($) => $.open.notEquals(open),
    ($) => $.open.in([open, true])
  ]),
  ...moments.flatMap((moment): ReadonlyArray<Where> => [
    ($) => $.at.equals(moment),
    ($) => $.at.before(moment),
    ($) => $.at.notEquals(moment),
    ($) => $.day.greaterThanOrEqualTo(moment),
    ($) => $.day.notIn([moment])
  ]),
  ($) => $.note.isMissing(),
  ($) => $.note.isPresent(),
  ($) => $.open.isPresent(),
  ($) => $.place.isMissing(),
  ($) => $.place.floor.isPresent(),
  ($) => $.lines.isPresent(),
  ($) => $.lines.product.isMissing(),
  ($) => $.owner.matches(/^a/u),
  ($) => $.note.matches(/B$/iu),
  ($) => $.place.equals(new Place({ city: "a" })),
  ($) => $.lines.contains(new Line({ product: "a", quantity: 1 })),
  () => Query.and([]),
  () => Query.or([]),
  () => Query.native({ tags: { $all: ["a", "b"] } }),
  () => Query.native({ rank: { $type: "number", $mod: [2, 0] } }),
  () => Query.native({ $expr: { $eq: ["$owner", "$note"] } })
]

const leaves: Some<Where> = oneOf(...conditions)

const filters: Some<Where> = either(
  leaves,
  Arbitrary.map(Arbitrary.all([leaves, leaves]), ([one, other]): Where => ($) => one($).and(other($))),
  Arbitrary.map(Arbitrary.all([leaves, leaves]), ([one, other]): Where => ($) => one($).or(other($))),
  Arbitrary.map(leaves, (one): Where => ($) => one($).not()),
  Arbitrary.map(
    Arbitrary.all([leaves, leaves, leaves]),
    ([one, other, third]): Where => ($) => Query.or([one($).and(other($)).not(), third($)])
  )
)

/** That a rule is evaluated in the process as the store evaluates it. */
storeMatrix((name, store) => {
  const runs = name === "mongodb" ? 30 : 100
  it.layer(store)(`rowMatcher / ${name}`, (it) => {
    let collections = 0
    it.effect.prop(
      "matches what the store finds",
      {
        found: Arbitrary.array(things, { minLength: 4, maxLength: 8 }),
        filters: Arbitrary.array(filters, { minLength: 8, maxLength: 8 })
      },
      ({ filters, found }) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const { toDocument } = documentCodec(Thing)
          const collection = `things${collections++}`
          const documents = found.map((thing, i) => toDocument(new Thing({ id: `T${i}`, ...thing })))
          yield* store.insertMany(collection, documents)
          const stored = yield* store.find(collection, { sort: { _id: 1 } })
          for (const where of filters) {
            const filter = Query.toFilter(Thing, where)
            assert.isUndefined(rejectUnsuitable(filter))
            const matches = (yield* store.find(collection, { filter, sort: { _id: 1 } })).map(({ _id }) => _id)
            const idsOf = (all: ReadonlyArray<DocumentStore.Document>) =>
              all.filter((document) => rowMatcher(filter)(document)).map(({ _id }) => _id)
            assert.deepStrictEqual(idsOf(stored), matches, JSON.stringify(filter))
            // An insertion is checked before the store has the document.
            assert.deepStrictEqual(idsOf(documents), matches, JSON.stringify(filter))
            // A single document is found with the same filter.
            const single = yield* Effect.forEach(documents, ({ _id }) => store.findById(collection, _id, { filter }))
            assert.deepStrictEqual(
              single.flatMap((document) => document?.["_id"] ?? []),
              matches,
              JSON.stringify(filter)
            )
          }
        }),
      { arbitrary: { runs } }
    )
  })
})

describe("a rule", () => {
  it.each<readonly [string, DocumentStore.Filter]>([
    ["$text", { $text: { $search: "tea" } }],
    ["$text", { $and: [{ owner: "a" }, { $text: { $search: "tea" } }] }],
    ["$near", { place: { $near: [0, 0] } }],
    ["$geoWithin", { lines: { $elemMatch: { place: { $geoWithin: {} } } } }],
    ["$where", { $where: "true" }],
    ["$rand", { $expr: { $lt: ["$rank", { $multiply: [{ $rand: {} }, 2] }] } }],
    ["$$NOW", { $expr: { $lt: ["$at", "$$NOW"] } }],
    ["$sampleRate", { $sampleRate: 0.5 }],
    ["$nonsense", { owner: { $nonsense: 1 } }]
  ])("can't have %s", (operator, filter) => {
    assert.include(rejectUnsuitable(filter), operator)
    assert.isFalse(rowMatcher(filter)({ _id: 1, owner: "a" }))
  })

  it("may have values that look like operators", () => {
    for (
      const filter of [{ owner: "$$NOW" }, { owner: { $eq: "$where" } }, {
        $expr: { $eq: ["$owner", { $literal: "$$NOW" }] }
      }]
    ) {
      assert.isUndefined(rejectUnsuitable(filter))
    }
    assert.isTrue(rowMatcher({ owner: "$$NOW" })({ _id: 1, owner: "$$NOW" }))
  })

  it("may match nothing", () => {
    assert.isUndefined(rejectUnsuitable(nothing))
    assert.isFalse(rowMatcher(nothing)({ _id: 1 }))
    assert.isTrue(rowMatcher({})({ _id: 1 }))
  })
})
