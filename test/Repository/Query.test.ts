import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, EmbeddedStore, Model, Query } from "../../src/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"
import { either, oneOf, type Some } from "../support/choices.ts"
import { Address, at, Line, Order, ordersIn } from "../support/orders.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

/** What conditions mean, whichever store is asked. */
storeMatrix((name, store, server) => {
  // SecantusDB takes no $and, $or or $nor for the first key of an $elemMatch, which MongoDB does.
  const takesLogicOfElements = server?.name.startsWith("SecantusDB") !== true
  it.layer(store)(`Query / ${name}`, (it) => {
    it.effect.each(takesLogicOfElements ? [...cases, ...casesOfElements] : cases)(
      "%s",
      ([, where, expected]) =>
        Effect.gen(function*() {
          const store = yield* orders
          const found = yield* store.find("orders", { filter: Query.toFilter(Order, where), sort: { _id: 1 } })
          assert.deepStrictEqual(
            found.map(({ _id }) => _id),
            Array.from(expected, (digit) => `O${digit}`)
          )
          assert.strictEqual(yield* store.count("orders", Query.toFilter(Order, where)), found.length)
        })
    )

    it.effect("returns the selected fields only", () =>
      Effect.gen(function*() {
        const store = yield* orders
        const { fromDocument, projection } = Query.select(Order, [
          "id",
          "customer",
          "rating",
          "due",
          "address.city",
          "billing.city",
          "lines.product",
          "lines.quantity",
          "lines"
        ])
        const found = yield* store.find("orders", { projection, sort: { _id: 1 }, limit: 2 })
        assert.deepStrictEqual(yield* Effect.forEach(found, (document) => fromDocument(document)), [
          {
            id: "O1",
            customer: "Jane Müller",
            rating: 5,
            due: at("2026-02-01"),
            address: { city: "Bern" },
            billing: null,
            lines: [
              new Line({ id: "L1", product: "tea", quantity: 5, note: "hot" }),
              new Line({ id: "L2", product: "milk" })
            ]
          },
          { id: "O2", customer: "jan (2)", address: { city: "Basel" }, billing: { city: "Bern" }, lines: [] }
        ])
        const parts = Query.select(Order, ["lines.product", "billing.street"])
        const [first] = yield* store.find("orders", { projection: parts.projection, sort: { _id: 1 }, limit: 1 })
        assert.deepStrictEqual(first, { lines: [{ product: "tea" }, { product: "milk" }] })
        assert.deepStrictEqual(yield* parts.fromDocument(first ?? {}), {
          lines: [{ product: "tea" }, { product: "milk" }],
          billing: null
        })
      }))
  })
})

type Case = [name: string, where: Query.Where<typeof Order>, expected: string]

// Each finds the orders whose numbers are given.
const cases: ReadonlyArray<Case> = [
  ["an identifier", ($) => $.id.equals("O2"), "2"],
  ["one of several identifiers", ($) => $.id.in(["O3", "O1", "none"]), "13"],
  ["none of several", ($) => $.id.notIn(["O3", "O1"]), "24"],
  ["a text", ($) => $.customer.equals("Zoë"), "3"],
  ["another text", ($) => $.customer.notEquals("Zoë"), "124"],
  ["a part of a text, whatever its case", ($) => $.customer.contains("JAN"), "12"],
  ["a part of a text that isn't ASCII", ($) => $.customer.contains("MÜ"), "1"],
  ["a part of a text that looks like an expression", ($) => $.customer.contains("(2)"), "2"],
  ["a part of a text that means nothing as an expression", ($) => $.customer.contains("a.*$^|+?[]{}\\"), ""],
  ["a part of a text in its case", ($) => $.customer.contains("an", { caseSensitive: true }), "12"],
  ["a part of a text in another case", ($) => $.customer.contains("jan", { caseSensitive: true }), "2"],
  ["how a text begins, whatever its case", ($) => $.customer.startsWith("JA"), "12"],
  ["how a text begins that isn't ASCII", ($) => $.customer.startsWith("zOË"), "3"],
  ["a beginning that looks like an expression", ($) => $.customer.startsWith("JAN ("), "2"],
  ["how a text begins, in its case", ($) => $.customer.startsWith("Ja", { caseSensitive: true }), "1"],
  ["how a text begins, up to the last character", ($) => $.customer.startsWith("Z\u{10ffff}"), ""],
  ["that a text begins with nothing", ($) => $.customer.startsWith(""), "1234"],
  ["that a text begins with nothing in its case", ($) => $.customer.startsWith("", { caseSensitive: true }), "1234"],
  ["an expression", ($) => $.customer.matches(/^JAN\b|ro$/iu), "24"],
  ["an expression with a character's number", ($) => $.customer.matches(/^Zo\u00eb$/u), "3"],
  ["an enumeration", ($) => $.status.equals("paid"), "13"],
  ["more than a number", ($) => $.total.greaterThan(10), "23"],
  ["a number or more", ($) => $.total.greaterThanOrEqualTo(10), "123"],
  ["less than a number", ($) => $.total.lessThan(10), "4"],
  ["a number or less", ($) => $.total.lessThanOrEqualTo(10), "14"],
  ["a number between bounds, which count", ($) => $.total.between(10, 20), "12"],
  ["a bound that may not be stored", ($) => $.total.greaterThan(-5), "1234"],
  ["a fraction as the bound of integers", ($) => $.rating.greaterThan(4.5), "1"],
  ["an optional value", ($) => $.rating.isPresent(), "13"],
  ["no optional value", ($) => $.rating.isMissing(), "24"],
  ["a null that is a value", ($) => $.confirmed.equals(null), "134"],
  ["a boolean", ($) => $.confirmed.equals(true), "2"],
  ["a date-time", ($) => $.placed.equals(at("2026-01-01T10:00:00.123Z")), "1"],
  ["before a date-time to come", ($) => $.placed.before(at("2999-01-01")), "12"],
  ["after a date-time", ($) => $.placed.after(at("2026-01-01T10:00:00.123Z")), "2"],
  ["a marshalled date-time", ($) => $.paid.between(at("2026-01-02"), at("2026-01-03")), "3"],
  ["a date", ($) => $.due.equals(at("2026-02-01")), "1"],
  ["a date of which the time doesn't count", ($) => $.due.equals(at("2026-02-01T23:00:00Z")), "1"],
  ["a number that is stored as text", ($) => $.cents.equals(150), "4"],
  ["an element", ($) => $.tags.contains("new"), "12"],
  ["a whole list", ($) => $.tags.equals(["new", "big"]), "2"],
  ["an empty list", ($) => $.tags.equals([]), "34"],
  ["how long a list is", ($) => $.tags.size(2), "2"],
  ["an element that is null", ($) => $.answers.contains(null), "2"],
  ["a list with null", ($) => $.answers.isPresent(), "12"],
  ["no list", ($) => $.answers.isMissing(), "34"],
  ["a list in a list", ($) => $.grid.contains([1, 2]), "3"],
  ["a field of a model", ($) => $.address.city.equals("Bern"), "1"],
  ["a model as a whole", ($) => $.address.equals(new Address({ street: "Main", city: "Bern" })), "1"],
  ["a model that is there", ($) => $.address.isPresent(), "12"],
  ["a model that is null", ($) => $.billing.equals(null), "134"],
  ["a field of a model that may be null", ($) => $.billing.city.startsWith("Be"), "2"],
  ["a field of any element", ($) => $.lines.product.equals("milk"), "13"],
  ["fields of any elements", ($) => $.lines.product.equals("milk").and($.lines.quantity.equals(5)), "13"],
  [
    "fields of one element",
    ($) => $.lines.any((line) => line.product.equals("milk").and(line.quantity.equals(5))),
    "3"
  ],
  ["an element by its identifier", ($) => $.lines.any((line) => line.id.equals("L1")), "1"],
  ["what no element is", ($) => $.lines.any((line) => line.product.equals("tea")).not(), "234"],
  ["any element's field between bounds", ($) => $.lines.quantity.between(2, 4), "4"],
  ["an element with an optional field", ($) => $.lines.note.isPresent(), "1"],
  ["an element without an optional field", ($) => $.lines.note.isMissing(), "134"],
  ["what is in the lists of any elements", ($) => $.lines.discounts.contains(0.5), "3"],
  ["how the text of any element begins", ($) => $.lines.product.startsWith("TE"), "1"],
  [
    "how the text of any element begins, in its case",
    ($) => $.lines.product.startsWith("te", { caseSensitive: true }),
    "1"
  ],
  ["a path that is no field", () => Query.path("address.isPresent", Schema.Boolean).equals(true), "2"],
  ["a path that leads into a list", () => Query.path("lines.0.quantity", Schema.Int).greaterThan(4), "13"],
  ["two conditions", ($) => $.status.equals("paid").and($.total.lessThan(20)), "1"],
  ["either of two", ($) => $.total.equals(0).or($.customer.equals("Zoë")), "34"],
  ["the contrary", ($) => $.status.equals("paid").not(), "24"],
  ["the contrary of either", ($) => $.total.equals(0).or($.customer.equals("Zoë")).not(), "12"],
  ["all of no conditions", () => Query.and([]), "1234"],
  ["any of no conditions", () => Query.or([]), ""],
  ["what only the store can say", () => Query.native({ total: { $mod: [20, 0] } }), "24"]
]

const casesOfElements: ReadonlyArray<Case> = [
  ["either of two in an element", ($) => $.lines.any((line) => line.id.equals("L1").or(line.id.equals("L3"))), "13"],
  ["the contrary in an element", ($) => $.lines.any((line) => line.quantity.equals(5).not()), "14"]
]

const stored = [
  {
    id: "O1",
    customer: "Jane Müller",
    status: "paid" as const,
    total: 10,
    rating: 5,
    tags: ["new"],
    answers: [1],
    address: { street: "Main", city: "Bern" },
    lines: [
      { id: "L1", product: "tea", quantity: 5, note: "hot" },
      { id: "L2", product: "milk" }
    ],
    placed: at("2026-01-01T10:00:00.123Z"),
    due: at("2026-02-01")
  },
  {
    id: "O2",
    customer: "jan (2)",
    total: 20,
    confirmed: true,
    tags: ["new", "big"],
    answers: [null, 2],
    address: { street: "Side", city: "Basel", isPresent: true },
    billing: { street: "Side", city: "Bern" },
    placed: at("2026-01-05")
  },
  {
    id: "O3",
    customer: "Zoë",
    status: "paid" as const,
    total: 30,
    rating: 4,
    grid: [[1, 2], [3]],
    lines: [{ id: "L3", product: "milk", quantity: 5, discounts: [0.5] }],
    paid: at("2026-01-02T12:00:00Z")
  },
  { id: "O4", customer: "Pedro", cents: 150, lines: [{ id: "L4", product: "rice", quantity: 3 }] }
]

const orders = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  if ((yield* store.count("orders", {})) > 0) return store
  yield* TestClock.setTime(at("2026-06-01").epochMilliseconds)
  return yield* ordersIn("orders", stored)
})

const filterOf = (where: Query.Where<typeof Order>) => Query.toFilter(Order, where)

describe("a filter", () => {
  it.each<[string, Query.Where<typeof Order>, DocumentStore.Filter]>([
    ["names the identifier as the store does", ($) => $.id.equals("O1"), { _id: { $eq: "O1" } }],
    ["leaves the identifier of an element its name", ($) => $.lines.any((line) => line.id.in(["L1"])), {
      lines: { $elemMatch: { id: { $in: ["L1"] } } }
    }],
    ["takes a text that looks like an operator for a text", ($) => $.customer.equals("$where"), {
      customer: { $eq: "$where" }
    }],
    ["asks for a value that no validator would let pass", ($) => $.customer.in(["", "x"]), {
      customer: { $in: ["", "x"] }
    }],
    ["asks for a moment to come where only past ones can be stored", ($) => $.placed.before(at("2999-01-01")), {
      placed: { $lt: new Date("2999-01-01") }
    }],
    ["has a marshalled value in its stored form", ($) => $.paid.equals(at("2026-01-01T00:00:00.500Z")), {
      paid: { $eq: 1_767_225_600.5 }
    }],
    ["cuts the time off a date", ($) => $.due.lessThan(at("2026-01-01T10:00:00Z")), {
      due: { $lt: new Date("2026-01-01") }
    }],
    ["puts conditions on different fields side by side", ($) => $.total.equals(1).and($.rating.equals(2)), {
      total: { $eq: 1 },
      rating: { $eq: 2 }
    }],
    ["keeps conditions on one field apart", ($) => $.total.greaterThan(1).and($.total.lessThan(2)).and($.id.in([])), {
      $and: [{ total: { $gt: 1 } }, { total: { $lt: 2 } }, { _id: { $in: [] } }]
    }],
    ["has one list of alternatives", ($) => $.total.equals(1).or($.total.equals(2)).or($.id.equals("O1")), {
      $or: [{ total: { $eq: 1 } }, { total: { $eq: 2 } }, { _id: { $eq: "O1" } }]
    }],
    ["ignores case", ($) => $.customer.startsWith("a.b"), { customer: { $regex: "^a\\.b", $options: "i" } }],
    ["looks for a prefix in an interval", ($) => $.customer.startsWith("Ja\u{10ffff}", { caseSensitive: true }), {
      customer: { $gte: "Ja\u{10ffff}", $lt: "Jb" }
    }],
    [
      "looks for a prefix that ends before the surrogates",
      ($) => $.customer.startsWith("\ud7ff", { caseSensitive: true }),
      {
        customer: { $gte: "\ud7ff", $lt: "\ue000" }
      }
    ],
    ["escapes a part of a text", ($) => $.customer.contains("a.b*\0"), {
      customer: { $regex: "a\\.b\\*\\x00", $options: "i" }
    }],
    ["writes the characters of an expression out", ($) => $.customer.matches(/\\u0041\u0041\u{1F600}\u002e\d/gimu), {
      customer: { $regex: "\\\\u0041A\u{1F600}\\.\\d", $options: "im" }
    }],
    ["searches for words", () => Query.text("coffee"), { $text: { $search: "coffee" } }],
    [
      "searches for words in a language",
      () => Query.text("Käse -Milch", { language: "de", caseSensitive: true, diacriticSensitive: false }),
      { $text: { $search: "Käse -Milch", $language: "de", $caseSensitive: true, $diacriticSensitive: false } }
    ],
    ["has a path as it is given", () => Query.path("meta.at", Model.DateTime).after(at("2026-01-01")), {
      "meta.at": { $gt: new Date("2026-01-01") }
    }],
    ["is what the store's own condition is", () => Query.native({ total: { $mod: [2, 0] } }), {
      total: { $mod: [2, 0] }
    }],
    ["is about every document where there are no conditions", () => Query.and([]), {}],
    ["is about no document where there are no alternatives", () => Query.or([]), { _id: { $in: [] } }]
  ])("%s", (_, where, filter) => {
    assert.deepStrictEqual(filterOf(where), filter)
  })

  it("matches every document without a condition", () => {
    assert.deepStrictEqual(Query.toFilter(Order, undefined), {})
  })

  it("encodes instances as they are stored", () => {
    const line = { id: "L1", product: "tea", quantity: 2, discounts: [] }
    assert.deepStrictEqual(filterOf(($) => $.lines.contains(line)), { lines: { $eq: line } })
  })

  it.effect("never begins at an operator", () =>
    Effect.gen(function*() {
      for (const path of ["", "$where"]) {
        const exit = yield* Effect.exit(Effect.sync(() => Query.path(path, Schema.String)))
        assert.isTrue(Exit.hasDies(exit))
      }
    }))

  it("reaches models that hold their own kind", () => {
    interface Stored {
      readonly name: string
      readonly parts: ReadonlyArray<Stored>
    }
    class Part extends Model.Class<Part>()("Part", {
      name: Schema.String,
      parts: Schema.Array(Schema.suspend((): Schema.Codec<Part, Stored> => Part))
    }) {}
    const filter = Query.toFilter(Part, ($) => $.parts.contains(new Part({ name: "wheel", parts: [] })))
    assert.deepStrictEqual(filter, { parts: { $eq: { name: "wheel", parts: [] } } })
  })
})

describe("an order", () => {
  it("ends with the identifier, in the direction of the last field", () => {
    assert.deepStrictEqual(Query.toSort(Order, []), { _id: 1 })
    const sort = Query.toSort(Order, ["address.city", "-total"])
    assert.deepStrictEqual(Object.entries(sort), [["address.city", 1], ["total", -1], ["_id", -1]])
    assert.deepStrictEqual(Query.toSort(Order, ["-id", "total"]), { _id: -1 })
  })

  it("is that of a single field, too", () => {
    assert.deepStrictEqual(Object.entries(Query.toSort(Order, "customer")), [["customer", 1], ["_id", 1]])
    assert.deepStrictEqual(Object.entries(Query.toSort(Order, "-address.city")), [["address.city", -1], ["_id", -1]])
  })

  it("takes the first of two terms for one field", () => {
    assert.deepStrictEqual(Object.entries(Query.toSort(Order, ["-total", "total"])), [["total", -1], ["_id", 1]])
  })
})

describe("a selection", () => {
  it("is made once for the same fields of a model", () => {
    const selection = Query.select(Order, ["total", "address.city"])
    assert.strictEqual(Query.select(Order, ["total", "address.city"]), selection)
    assert.notStrictEqual<unknown>(Query.select(Order, ["total"]), selection)
    class Other extends Model.Class<Other>()("Other", { total: Schema.String }) {}
    assert.notStrictEqual<unknown>(Query.select(Other, ["total"]), Query.select(Order, ["total"]))
  })

  it("projects the selected fields only", () => {
    assert.deepStrictEqual(Query.select(Order, ["total"]).projection, { _id: 0, total: 1 })
    assert.deepStrictEqual(Query.select(Order, ["id", "lines.product", "address", "address.city"]).projection, {
      _id: 1,
      "lines.product": 1,
      address: 1
    })
  })

  it.effect("reads missing fields of a selection as in complete documents", () =>
    Effect.gen(function*() {
      const { fromDocument } = Query.select(Order, ["total", "rating", "address.city", "billing.city", "lines.product"])
      assert.deepStrictEqual(yield* fromDocument({}), { total: 0, billing: null, lines: [] })
      assert.deepStrictEqual(yield* fromDocument({ rating: null, address: null, billing: null }), {
        total: 0,
        billing: null,
        lines: []
      })
    }))

  it.effect("reads the parts of a default", () =>
    Effect.gen(function*() {
      class Point extends Model.Class<Point>()("Point", { x: Schema.Int, y: Schema.Int }) {}
      class Shape extends Model.Class<Shape>()("Shape", {
        centre: Point.pipe(Model.withDefault(() => new Point({ x: 1, y: 2 }))),
        corners: Schema.Array(Schema.NullOr(Point))
      }) {}
      const { fromDocument, projection } = Query.select(Shape, ["centre.x", "corners.y"])
      assert.deepStrictEqual(projection, { _id: 0, "centre.x": 1, corners: 1 })
      assert.deepStrictEqual(yield* fromDocument({ corners: [null, { x: 3, y: 4 }] }), {
        centre: { x: 1 },
        corners: [null, { y: 4 }]
      })
    }))

  it.effect("reports decoding errors of a stored document, but no validators", () =>
    Effect.gen(function*() {
      const { fromDocument } = Query.select(Order, ["id", "customer", "due"])
      assert.deepStrictEqual(yield* fromDocument({ _id: "O1", customer: "" }), { id: "O1", customer: "" })
      const error = yield* Effect.flip(fromDocument({ _id: "O1", due: "today" }))
      assert.strictEqual(error._tag, "DocumentInvalid")
      assert.deepStrictEqual([error.model, error.id], ["Order", "O1"])
      assert.deepStrictEqual(error.problems.map(({ field }) => field), ["customer", "due"])
    }))
})

class Item extends Model.Class<Item>()("Item", { x: Schema.Int, y: Schema.String.pipe(Model.optional) }) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id(),
  name: Schema.String,
  n: Schema.Int.pipe(Model.optional),
  flag: Schema.NullOr(Schema.Boolean),
  tags: Schema.Array(Schema.String),
  day: Model.Date.pipe(Model.optional),
  one: Item.pipe(Model.optional),
  items: Schema.Array(Item)
}) {}

/** A condition on the store's side and on ours. */
interface Both {
  readonly where: Query.Where<typeof Thing>
  readonly holds: (thing: Thing) => boolean
}

const texts: Some<string> = oneOf("", "a", "A", "ab", "b.", "Ba", "\u{1f600}")
const numbers: Some<number> = oneOf(-1, 0, 1, 2)
const days = Arbitrary.map(numbers, (day) => DateTime.makeUnsafe(day * 86_400_000))

const less = <A>(of: (thing: Thing) => A | undefined, than: A, test: (order: number) => boolean) => (thing: Thing) => {
  const value = of(thing)
  return value !== undefined && test(Number(value) - Number(than))
}

const leaves: Some<Both> = either<Both>(
  Arbitrary.map(texts, (text): Both => ({
    where: ($) => $.name.equals(text),
    holds: ({ name }) => name === text
  })),
  Arbitrary.map(texts, (text): Both => ({
    where: ($) => $.name.contains(text),
    holds: ({ name }) => name.toLowerCase().includes(text.toLowerCase())
  })),
  Arbitrary.map(texts, (text): Both => ({
    where: ($) => $.name.startsWith(text),
    holds: ({ name }) => name.toLowerCase().startsWith(text.toLowerCase())
  })),
  Arbitrary.map(texts, (text): Both => ({
    where: ($) => $.name.contains(text, { caseSensitive: true }),
    holds: ({ name }) => name.includes(text)
  })),
  Arbitrary.map(texts, (text): Both => ({
    where: ($) => $.name.startsWith(text, { caseSensitive: true }),
    holds: ({ name }) => name.startsWith(text)
  })),
  Arbitrary.map(Arbitrary.array(texts, { maxLength: 3 }), (some): Both => ({
    where: ($) => $.name.notIn(some),
    holds: ({ name }) => !some.includes(name)
  })),
  Arbitrary.map(numbers, (n): Both => ({ where: ($) => $.n.equals(n), holds: (thing) => thing.n === n })),
  Arbitrary.map(numbers, (n): Both => ({ where: ($) => $.n.notEquals(n), holds: (thing) => thing.n !== n })),
  Arbitrary.map(numbers, (n): Both => ({
    where: ($) => $.n.greaterThan(n),
    holds: less((thing) => thing.n, n, (order) => order > 0)
  })),
  Arbitrary.map(numbers, (n): Both => ({
    where: ($) => $.n.lessThanOrEqualTo(n),
    holds: less((thing) => thing.n, n, (order) => order <= 0)
  })),
  Arbitrary.map(days, (day): Both => ({
    where: ($) => $.day.before(day),
    holds: less((thing) => thing.day?.epochMilliseconds, day.epochMilliseconds, (order) => order < 0)
  })),
  Arbitrary.map(oneOf(true, false, null), (flag): Both => ({
    where: ($) => $.flag.equals(flag),
    holds: (thing) => thing.flag === flag
  })),
  Arbitrary.map(
    texts,
    (tag): Both => ({ where: ($) => $.tags.contains(tag), holds: ({ tags }) => tags.includes(tag) })
  ),
  Arbitrary.map(numbers, (size): Both => ({
    where: ($) => $.tags.size(Math.abs(size)),
    holds: ({ tags }) => tags.length === Math.abs(size)
  })),
  Arbitrary.map(numbers, (x): Both => ({ where: ($) => $.one.x.equals(x), holds: ({ one }) => one?.x === x })),
  Arbitrary.map(Arbitrary.all([numbers, numbers]), ([a, b]): Both => ({
    where: ($) => $.items.x.between(a, b),
    holds: ({ items }) => items.some(({ x }) => a <= x && x <= b)
  })),
  Arbitrary.map(Arbitrary.all([numbers, texts]), ([n, text]): Both => ({
    where: ($) => $.items.any((item) => item.x.lessThan(n).and(item.y.equals(text).not())),
    holds: ({ items }) => items.some(({ x, y }) => x < n && y !== text)
  })),
  oneOf<Both>(
    { where: ($) => $.n.isPresent(), holds: ({ n }) => n !== undefined },
    { where: ($) => $.n.isMissing(), holds: ({ n }) => n === undefined },
    { where: ($) => $.one.isPresent(), holds: ({ one }) => one !== undefined },
    { where: ($) => $.one.isMissing(), holds: ({ one }) => one === undefined },
    { where: ($) => $.flag.isPresent(), holds: () => true },
    { where: ($) => $.flag.isMissing(), holds: () => false },
    { where: ($) => $.tags.isPresent(), holds: () => true },
    { where: ($) => $.tags.isMissing(), holds: () => false },
    { where: ($) => $.items.y.isPresent(), holds: ({ items }) => items.some(({ y }) => y !== undefined) },
    { where: ($) => $.items.y.isMissing(), holds: ({ items }) => items.some(({ y }) => y === undefined) }
  )
)

const conditions = (depth: number): Some<Both> => {
  if (depth === 0) return leaves
  const pair = Arbitrary.all([conditions(depth - 1), conditions(depth - 1)])
  return either<Both>(
    leaves,
    Arbitrary.map(pair, ([a, b]): Both => ({
      where: ($) => a.where($).and(b.where($)),
      holds: (thing) => a.holds(thing) && b.holds(thing)
    })),
    Arbitrary.map(pair, ([a, b]): Both => ({
      where: ($) => a.where($).or(b.where($)),
      holds: (thing) => a.holds(thing) || b.holds(thing)
    })),
    Arbitrary.map(conditions(depth - 1), ({ holds, where }): Both => ({
      where: ($) => where($).not(),
      holds: (thing) => !holds(thing)
    }))
  )
}

const maybe = <A>(value: Some<A>): Some<A | undefined> => either<A | undefined>(Arbitrary.Constant(undefined), value)

const items = Arbitrary.map(
  Arbitrary.all([numbers, maybe(texts)]),
  ([x, y]) => new Item(y === undefined ? { x } : { x, y })
)

const things = Arbitrary.map(
  Arbitrary.all([
    texts,
    maybe(numbers),
    oneOf(true, false, null),
    Arbitrary.array(texts, { maxLength: 2 }),
    maybe(days),
    maybe(items),
    Arbitrary.array(items, { maxLength: 3 })
  ]),
  ([name, n, flag, tags, day, one, items]) => ({
    name,
    flag,
    tags,
    items,
    ...(n === undefined ? {} : { n }),
    ...(day === undefined ? {} : { day }),
    ...(one === undefined ? {} : { one })
  })
)

it.effect.prop(
  "a condition matches the same documents in a store and by itself",
  {
    found: Arbitrary.array(things, { minLength: 1, maxLength: 8 }),
    asked: Arbitrary.array(conditions(3), { minLength: 1, maxLength: 8 })
  },
  ({ asked, found }) =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const things = found.map((thing, place) => new Thing({ id: String(place), ...thing }))
      yield* store.insertMany("things", things.map((thing) => documentCodec(Thing).toDocument(thing)))
      for (const { holds, where } of asked) {
        const filter = Query.toFilter(Thing, where)
        const documents = yield* store.find("things", { filter, sort: { _id: 1 } })
        assert.deepStrictEqual(
          documents.map(({ _id }) => _id),
          things.filter((thing) => holds(thing)).map(({ id }) => id),
          JSON.stringify(filter)
        )
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory, { local: true })),
  { arbitrary: { runs: 300 } }
)
