import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, Query } from "../../src/index.ts"
import { Address, at, Line, Order, ordersIn } from "../support/orders.ts"

/** What a store can't do that MongoDB can. */
export interface Limits {
  /** Whether a condition on elements may begin with `$and`, `$or` or `$nor`. Defaults to true. */
  readonly takesLogicOfElements?: boolean
}

/** What conditions mean, whichever store is asked. */
export const queryContract = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore, E>,
  { takesLogicOfElements = true }: Limits = {}
) =>
  it.layer(store)(`Query / ${name}`, (it) => {
    it.effect.each(takesLogicOfElements ? [...cases, ...casesOfElements] : cases)("%s", ([, where, expected]) =>
      Effect.gen(function*() {
        const store = yield* orders
        const found = yield* store.find("orders", { filter: Query.toFilter(Order, where), sort: { _id: 1 } })
        assert.deepStrictEqual(
          found.map(({ _id }) =>
            _id
          ),
          Array.from(expected, (digit) => `O${digit}`)
        )
        assert.strictEqual(yield* store.count("orders", Query.toFilter(Order, where)), found.length)
      }))

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
