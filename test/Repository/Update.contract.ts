import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer } from "effect"
import { type DocumentStore, Query, Update } from "../../src/index.ts"
import { Address, at, codec, Line, Order, ordersIn } from "../support/orders.ts"

type Before = Partial<Omit<typeof Order.create.Type, "id">>

type After = { readonly [K in keyof Order]?: Order[K] | undefined }

type Case = [name: string, before: Before, changes: Update.Changes<typeof Order>, after: After]

/** What atomic updates do, whichever store does them. */
export const updateContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(store)(`Update / ${name}`, (it) => {
    it.effect.each(cases)("%s", ([name, before, changes, after]) =>
      Effect.gen(function*() {
        const store = yield* ordersIn(name, [{ id: "O1", ...before }])
        const { arrayFilters, update } = yield* Update.toUpdate(Order, changes)
        const { modifiedCount } = yield* store.updateOne(name, { _id: "O1" }, update, { arrayFilters })
        assert.strictEqual(modifiedCount, 1)
        const order = yield* codec.fromDocument((yield* store.findById(name, "O1")) ?? {})
        const changed = Object.fromEntries(Object.keys(after).map((key) => [key, Reflect.get(order, key)]))
        assert.deepStrictEqual(changed, after)
        assert.strictEqual(order.version, 2)
      }))

    it.effect("changes the element that the query matched", () =>
      Effect.gen(function*() {
        const store = yield* ordersIn("matched", [{ id: "O1", lines: [tea, milk, rice] }])
        const filter = Query.toFilter(Order, ($) => $.lines.any((line) => line.quantity.greaterThan(1)))
        const { update } = yield* Update.toUpdate(Order, ($) => [$.lines.matched.quantity.increment(5)])
        yield* store.updateOne("matched", filter, update)
        const { lines } = yield* codec.fromDocument((yield* store.findById("matched", "O1")) ?? {})
        assert.deepStrictEqual(lines.map(({ quantity }) => quantity), [1, 7, 3])
      }))

    it.effect("sets the current time at the store's precision", () =>
      Effect.gen(function*() {
        const store = yield* ordersIn("now", [{ id: "O1" }])
        const { update } = yield* Update.toUpdate(Order, ($) => [
          $.placed.currentDate(),
          $.paid.currentDate(),
          $.due.currentDate()
        ])
        yield* store.updateOne("now", {}, update)
        const stored = (yield* store.findById("now", "O1")) ?? {}
        const { due, paid, placed } = yield* codec.fromDocument(stored)
        assert.isDefined(placed)
        assert.instanceOf(stored["placed"], Date)
        assert.strictEqual(stored["paid"], paid!.epochMilliseconds / 1000)
        assert.deepStrictEqual(stored["due"], DateTime.toDateUtc(due!))
        assert.strictEqual(due!.epochMilliseconds % 86_400_000, 0)
      }))

    it.effect("changes nothing when a value is invalid", () =>
      Effect.gen(function*() {
        const store = yield* ordersIn("invalid", [{ id: "O1" }])
        const before = yield* store.findById("invalid", "O1")
        const error = yield* Update.toUpdate(Order, ($) => [$.total.increment(1), $.customer.set("x")]).pipe(
          Effect.flatMap(({ update }) => store.updateOne("invalid", {}, update)),
          Effect.flip
        )
        assert.strictEqual(error._tag, "ValidationException")
        assert.deepStrictEqual(yield* store.findById("invalid", "O1"), before)
      }))
  })

const line = (id: string, product: string, quantity: number, more: Partial<Line> = {}) =>
  new Line({ id, product, quantity, ...more })

const tea = line("L1", "tea", 1)

const milk = line("L2", "milk", 2)

const rice = line("L3", "rice", 3)

const bern = new Address({ street: "Main", city: "Bern" })

const cases: ReadonlyArray<Case> = [
  ["sets a text", {}, ($) => [$.customer.set("Joan")], { customer: "Joan", total: 0 }],
  ["sets a date", {}, ($) => [$.due.set(at("2026-05-01"))], { due: at("2026-05-01") }],
  ["sets a marshalled date-time", {}, ($) => [$.paid.set(at("1969-05-01"))], { paid: at("1969-05-01") }],
  ["sets a number that is stored as text", {}, ($) => [$.cents.set(2.5)], { cents: 2.5 }],
  ["sets null where it is a value", { confirmed: true }, ($) => [$.confirmed.set(null)], { confirmed: null }],
  ["sets a list", { tags: ["a"] }, ($) => [$.tags.set(["b", "c"])], { tags: ["b", "c"] }],
  ["sets a model", {}, ($) => [$.address.set(bern)], { address: bern }],
  ["sets a field of a model", { address: bern }, ($) => [$.address.city.set("Biel")], {
    address: new Address({ street: "Main", city: "Biel" })
  }],
  ["removes an optional field", { rating: 1 }, ($) => [$.rating.unset()], { rating: undefined }],
  ["removes an optional field of a model", { address: { ...bern, isPresent: true } }, ($) => [$.address.unset()], {
    address: undefined
  }],
  ["increments", { total: 1, rating: 1 }, ($) => [$.total.increment(0.5), $.rating.increment(-3)], {
    total: 1.5,
    rating: -2
  }],
  ["increments what is missing", {}, ($) => [$.rating.increment(3)], { rating: 3 }],
  ["multiplies", { total: 3 }, ($) => [$.total.multiply(1.5)], { total: 4.5 }],
  ["takes the lesser and the greater", { total: 3, rating: 3 }, ($) => [$.total.min(2), $.rating.max(4)], {
    total: 2,
    rating: 4
  }],
  ["takes the later", { due: at("2026-01-01") }, ($) => [$.due.max(at("2026-01-02"))], { due: at("2026-01-02") }],
  ["appends", { tags: ["a"] }, ($) => [$.tags.append("a")], { tags: ["a", "a"] }],
  ["appends to a list that is missing", {}, ($) => [$.answers.append(null)], { answers: [null] }],
  ["appends a list to a list of lists", { grid: [[1]] }, ($) => [$.grid.append([2, 3])], { grid: [[1], [2, 3]] }],
  ["puts elements at a place", { tags: ["a", "b"] }, ($) => [$.tags.appendAll(["x", "y"], { position: 1 })], {
    tags: ["a", "x", "y", "b"]
  }],
  ["keeps the last elements", { tags: ["a", "b"] }, ($) => [$.tags.appendAll(["c", "d"], { slice: -3 })], {
    tags: ["b", "c", "d"]
  }],
  ["appends a model", { lines: [tea] }, ($) => [$.lines.append(milk)], { lines: [tea, milk] }],
  ["completes a model that it appends", {}, ($) => [$.lines.append({ id: "L1", product: "tea" })], { lines: [tea] }],
  ["adds what a list doesn't have", { tags: ["a"] }, ($) => [$.tags.addAllToSet(["a", "b", "b"])], {
    tags: ["a", "b"]
  }],
  ["adds no model twice", { lines: [tea] }, ($) => [$.lines.addToSet(tea)], { lines: [tea] }],
  ["removes an element", { tags: ["a", "b", "a"] }, ($) => [$.tags.remove("a")], { tags: ["b"] }],
  ["removes a null", { answers: [1, null, 2] }, ($) => [$.answers.remove(null)], { answers: [1, 2] }],
  ["removes several elements", { tags: ["a", "b", "c"] }, ($) => [$.tags.removeAll(["a", "c", "z"])], { tags: ["b"] }],
  [
    "removes a model that is equal, not those that are alike",
    { lines: [tea, line("L1", "tea", 1, { note: "hot" })] },
    ($) => [$.lines.remove(tea)],
    { lines: [line("L1", "tea", 1, { note: "hot" })] }
  ],
  [
    "removes the models that fulfil a condition",
    { lines: [tea, milk, rice] },
    ($) => [$.lines.removeWhere((line) => line.quantity.greaterThan(1).and(line.product.startsWith("m")))],
    { lines: [tea, rice] }
  ],
  ["removes the first", { tags: ["a", "b"] }, ($) => [$.tags.popFirst()], { tags: ["b"] }],
  ["removes the last", { tags: ["a", "b"] }, ($) => [$.tags.popLast()], { tags: ["a"] }],
  ["changes an element by its place", { lines: [tea, milk] }, ($) => [$.lines.at(1).product.set("oat milk")], {
    lines: [tea, line("L2", "oat milk", 2)]
  }],
  ["changes every element", { lines: [tea, milk] }, ($) => [$.lines.each.quantity.increment(1)], {
    lines: [line("L1", "tea", 2), line("L2", "milk", 3)]
  }],
  [
    "changes the elements that fulfil a condition",
    { lines: [tea, milk, rice] },
    ($) => {
      const large = $.lines.where((line) => line.quantity.greaterThan(1))
      return [large.quantity.multiply(10), large.note.set("much"), $.total.increment(1)]
    },
    { lines: [tea, line("L2", "milk", 20, { note: "much" }), line("L3", "rice", 30, { note: "much" })], total: 1 }
  ],
  [
    "changes the elements that fulfil either condition",
    { lines: [tea, milk, rice] },
    ($) => [$.lines.where((line) => line.product.equals("tea").or(line.quantity.equals(3))).note.set("x")],
    { lines: [line("L1", "tea", 1, { note: "x" }), milk, line("L3", "rice", 3, { note: "x" })] }
  ],
  ["does what the store alone can do", { rating: 5 }, () => [Update.native("$bit", "rating", { and: 4 })], {
    rating: 4
  }]
]
