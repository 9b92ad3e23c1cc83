import { assert, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Option, Schema, Stream } from "effect"
import { DocumentStore, Model, Query, Repository } from "../../src/index.ts"
import { makeModelCollection } from "../../src/Repository/collection/collectionStages.ts"
import { withDefaults } from "../../src/Repository/collection/defaultedFields.ts"
import { modelMatcher } from "../../src/Repository/collection/rowMatcher.ts"
import { withRowFilters } from "../../src/Repository/internal.ts"
import { either, oneOf, type Some } from "../support/choices.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Place extends Model.Class<Place>()("Place", {
  city: Schema.String,
  country: Schema.String.pipe(Model.withDefault(() => "DE"))
}) {}

class Line extends Model.Class<Line>()("Line", {
  product: Schema.String,
  amount: Schema.Int.pipe(Model.withDefault(() => 1))
}) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id({ prefix: "T" }),
  kind: Schema.String.pipe(Model.withDefault(() => "x")),
  n: Schema.Int.pipe(Model.withDefault(() => 5)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["new"])),
  place: Place.pipe(Model.optional),
  home: Place.pipe(Model.withDefault(() => new Place({ city: "Ulm", country: "DE" }))),
  lines: Schema.Array(Line).pipe(Model.withDefault(() => [])),
  made: Model.DateTime.pipe(Model.withDefault(() => DateTime.nowUnsafe()))
}) {}

/** A repository whose collection has these documents, which an older model wrote. */
const things = Effect.fnUntraced(function*(documents: ReadonlyArray<DocumentStore.Document>) {
  const store = yield* DocumentStore.DocumentStore
  const repository = yield* Repository.make(Thing)
  yield* store.deleteMany("Thing", {})
  yield* store.insertMany("Thing", documents)
  return { repository, store }
})

const lacking = [{ _id: "a" }, { _id: "b", kind: "x" }, { _id: "c", kind: "y", n: 7 }, { _id: "d", kind: null }]

/** The filters of a model's fields find documents that lack them as those with the default. */
storeMatrix((name, layer, server) => {
  const runs = server ? 20 : 100
  // SecantusDB takes no $and, $or or $nor for the first key of an $elemMatch, which MongoDB does.
  const takesLogicOfElements = server?.name.startsWith("SecantusDB") !== true
  it.layer(layer)(`Repository and defaults / ${name}`, (it) => {
    type Fields = Query.Fields<typeof Thing>

    it.effect.each<readonly [string, ($: Fields) => Query.Condition, ReadonlyArray<string>]>([
      ["equality with the default", ($) => $.kind.equals("x"), ["a", "b", "d"]],
      ["equality with another value", ($) => $.kind.equals("y"), ["c"]],
      ["a list with the default", ($) => $.kind.in(["x", "z"]), ["a", "b", "d"]],
      ["a list without the default", ($) => $.kind.notIn(["x"]), ["c"]],
      ["inequality with the default", ($) => $.kind.notEquals("x"), ["c"]],
      ["inequality with another value", ($) => $.kind.notEquals("y"), ["a", "b", "d"]],
      ["a part of the default", ($) => $.kind.contains("X"), ["a", "b", "d"]],
      ["a range with the default", ($) => $.n.between(4, 6), ["a", "b", "d"]],
      ["a range without it", ($) => $.n.greaterThan(5), ["c"]],
      ["an item of the default", ($) => $.tags.contains("new"), ["a", "b", "c", "d"]],
      ["a field of the default", ($) => $.home.city.equals("Ulm"), ["a", "b", "c", "d"]],
      ["a part of the default of nothing", ($) => $.place.country.equals("DE"), []]
    ])("finds, counts and pages by %s", ([, where, expected]) =>
      Effect.gen(function*() {
        const { repository } = yield* things(lacking)
        const ids = (found: ReadonlyArray<{ readonly id: string }>) => found.map(({ id }) => id).toSorted()
        assert.strictEqual(yield* repository.count(where), expected.length)
        assert.strictEqual(yield* repository.exists(where), expected.length > 0)
        const readable = ($: Fields) => where($).and($.id.notEquals("d"))
        const shown = expected.filter((id) => id !== "d")
        assert.deepStrictEqual(ids(yield* repository.find(readable)), shown)
        assert.deepStrictEqual(ids(yield* Stream.runCollect(repository.stream(readable))), shown)
        for (const sort of ["kind", "-kind", "n", "-n"] as const) {
          const paged: Array<string> = []
          let cursor: string | undefined
          do {
            const page = yield* repository.findPage(readable, {
              pageSize: 1,
              sort,
              ...(cursor === undefined ? {} : { cursor })
            })
            paged.push(...page.items.map(({ id }) => id))
            cursor = Option.getOrUndefined(page.next)
          } while (cursor !== undefined && paged.length < 9)
          assert.deepStrictEqual(paged.toSorted(), shown, sort)
        }
        const rules = { rows: () => Query.toFilter(Thing, where), check: () => undefined }
        for (const id of ["a", "b", "c"]) {
          const found = yield* Effect.option(withRowFilters(repository.findById(id), Thing, rules))
          assert.strictEqual(Option.isSome(found), expected.includes(id), id)
        }
        assert.strictEqual(yield* repository.deleteMany(where), expected.length)
      }))

    it.effect("asks for null, existence and a changing default as what is stored", () =>
      Effect.gen(function*() {
        const { repository } = yield* things(lacking)
        assert.strictEqual(yield* repository.count(($) => $.kind.isMissing()), 2)
        assert.strictEqual(yield* repository.count(($) => $.kind.isPresent()), 2)
        assert.strictEqual(yield* repository.count(($) => $.made.after(DateTime.makeUnsafe(0))), 0)
      }))

    it.effect("updates what lacks the field, and leaves the others", () =>
      Effect.gen(function*() {
        const { repository, store } = yield* things(lacking)
        yield* repository.updateMany(($) => $.kind.equals("x"), ($) => [$.n.set(9)])
        assert.deepStrictEqual(yield* store.distinct("Thing", "_id", { n: 9 }), ["a", "b", "d"])
      }))

    it.effect.prop(
      "finds by any filter what it would find if all defaults were stored",
      {
        documents: Arbitrary.array(documents, { maxLength: 5 }),
        filters: Arbitrary.array(filtersOf(takesLogicOfElements), { maxLength: 6 })
      },
      ({ documents, filters }) =>
        Effect.gen(function*() {
          const given = documents.map((document, _id) => ({ ...document, _id }))
          const { store } = yield* things(given)
          yield* store.deleteMany("whole things", {})
          yield* store.insertMany("whole things", given.map(completed))
          const collection = makeModelCollection(Thing, store, withDefaults(Thing))
          for (const filter of filters) {
            const ids = (found: ReadonlyArray<DocumentStore.Document>) => found.map(({ _id }) => _id)
            const expected = ids(yield* store.find("whole things", { filter, sort: { _id: 1 } }))
            assert.deepStrictEqual(
              ids(yield* collection.find({ filter, sort: { _id: 1 } })),
              expected,
              JSON.stringify(filter)
            )
            assert.strictEqual(yield* collection.count(filter), expected.length)
            const matching = given.filter(modelMatcher(Thing, filter))
            assert.deepStrictEqual(ids(matching), expected)
          }
        }),
      { arbitrary: { runs } }
    )
  })
})

/** A document with all defaults. */
const completed = (document: DocumentStore.Document): DocumentStore.Document => {
  const withCountry = (place: unknown) => ({ country: "DE", ...Object(place) })
  const { home = { city: "Ulm" }, lines = [], place, ...others } = document
  return {
    kind: "x",
    n: 5,
    tags: ["new"],
    ...others,
    home: withCountry(home),
    lines: [lines].flat().map((line) => ({ amount: 1, ...Object(line) })),
    ...(place === undefined ? {} : { place: withCountry(place) })
  }
}

type Value = Some<unknown>

const perhaps = (key: string, value: Value): Some<DocumentStore.Document> =>
  either(oneOf({}), Arbitrary.map(value, (value) => ({ [key]: value })))

const merged = (parts: ReadonlyArray<Some<DocumentStore.Document>>): Some<DocumentStore.Document> =>
  Arbitrary.map(Arbitrary.all([...parts]), (parts) => Object.assign({}, ...parts))

const texts = oneOf("x", "y", "xy")
const numbers = oneOf(1, 4, 5, 6)
const countries = oneOf("DE", "FR")
const places = merged([Arbitrary.map(oneOf("Ulm", "Bonn"), (city) => ({ city })), perhaps("country", countries)])
const lines = Arbitrary.array(
  merged([Arbitrary.map(texts, (product) => ({ product })), perhaps("amount", numbers)]),
  { maxLength: 3 }
)

const documents = merged([
  perhaps("kind", texts),
  perhaps("n", numbers),
  perhaps("tags", Arbitrary.array(oneOf("new", "old"), { maxLength: 2 })),
  perhaps("place", places),
  perhaps("home", places),
  perhaps("lines", lines)
])

const conditionsOn = (path: string, values: Value): Some<DocumentStore.Filter> =>
  Arbitrary.map(
    either<unknown>(
      values,
      Arbitrary.map(
        Arbitrary.all([oneOf("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), values]),
        ([operator, value]) => ({ [operator]: value })
      ),
      Arbitrary.map(
        Arbitrary.all([oneOf("$in", "$nin"), Arbitrary.array(values, { maxLength: 3 })]),
        ([operator, values]) => ({ [operator]: values })
      ),
      Arbitrary.map(Arbitrary.all([values, values]), ([$gte, $lte]) => ({ $gte, $lte })),
      Arbitrary.map(values, (value) => ({ $not: { $gte: value } }))
    ),
    (condition) => ({ [path]: condition })
  )

const lineFilters = either(conditionsOn("amount", numbers), conditionsOn("product", texts))

const simple: ReadonlyArray<Some<DocumentStore.Filter>> = [
  conditionsOn("kind", texts),
  conditionsOn("n", numbers),
  conditionsOn("tags", oneOf("new", "old")),
  conditionsOn("place.country", countries),
  conditionsOn("home.country", countries),
  conditionsOn("home.city", oneOf("Ulm", "Bonn")),
  conditionsOn("lines.amount", numbers),
  Arbitrary.map(oneOf(0, 1), ($size) => ({ tags: { $size } })),
  oneOf(
    { kind: { $regex: "^x" } },
    { kind: { $regex: "Y", $options: "i" } },
    { n: { $mod: [5, 0] } },
    { n: { $type: "number" } }
  )
]

const ofElements: ReadonlyArray<Some<DocumentStore.Filter>> = [
  Arbitrary.map(lineFilters, ($elemMatch) => ({ lines: { $elemMatch } })),
  Arbitrary.map(lineFilters, ($elemMatch) => ({ lines: { $not: { $elemMatch } } }))
]

const filtersOf = (takesLogicOfElements: boolean): Some<DocumentStore.Filter> => {
  const one = either(...simple, ...takesLogicOfElements ? ofElements : [])
  return either(
    one,
    merged([one, one]),
    Arbitrary.map(
      Arbitrary.all([oneOf("$and", "$or", "$nor"), Arbitrary.array(one, { minLength: 1, maxLength: 3 })]),
      ([operator, filters]) => ({ [operator]: filters })
    )
  )
}
