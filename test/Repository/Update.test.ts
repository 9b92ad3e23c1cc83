import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { Converter, type DocumentStore, Query, Update } from "../../src/index.ts"
import { Address, at, codec, Line, Order, ordersIn } from "../support/orders.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

type Before = Partial<Omit<typeof Order.create.Type, "id">>

type After = { readonly [K in keyof Order]?: Order[K] | undefined }

type Case = [name: string, before: Before, changes: Update.Changes<typeof Order>, after: After]

/** What atomic updates do, whichever store does them. */
storeMatrix((name, store) =>
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
)

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

const updateOf = (changes: Update.Changes<typeof Order>) => Update.toUpdate(Order, changes)

const refusalOf = (changes: Update.Changes<typeof Order>) => Effect.flip(updateOf(changes))

describe("an update", () => {
  it.effect.each<[string, Update.Changes<typeof Order>, DocumentStore.Update]>([
    ["joins changes by their operators", ($) => [$.total.set(1), $.rating.increment(2), $.customer.set("Jane")], {
      $set: { total: 1, customer: "Jane" },
      $inc: { rating: 2, version: 1 }
    }],
    ["appends a document as an element, whatever is in it", ($) => [$.lines.append({ id: "L1", product: "$each" })], {
      $push: { lines: { $each: [{ id: "L1", product: "$each", quantity: 1, discounts: [] }] } },
      $inc: { version: 1 }
    }],
    [
      "removes an element by its value",
      ($) => [$.lines.remove({ id: "L1", product: "x", quantity: 0, discounts: [] })],
      {
        $pullAll: { lines: [{ id: "L1", product: "x", quantity: 0, discounts: [] }] },
        $inc: { version: 1 }
      }
    ],
    ["has values in their stored form", ($) => [$.paid.max(at("2026-01-01")), $.due.set(at("2026-01-01T10:00:00Z"))], {
      $max: { paid: 1_767_225_600 },
      $set: { due: new Date("2026-01-01") },
      $inc: { version: 1 }
    }],
    // @ts-expect-error to the type, null is no value
    ["removes an optional field that is set to nothing", ($) => [$.rating.set(null)], {
      $unset: { rating: "" },
      $inc: { version: 1 }
    }],
    ["has the paths of elements", ($) => [
      $.lines.matched.quantity.set(2),
      $.lines.each.discounts.append(0.5),
      $.lines.at(3).note.unset()
    ], {
      $set: { "lines.$.quantity": 2 },
      $push: { "lines.$[].discounts": { $each: [0.5] } },
      $unset: { "lines.3.note": "" },
      $inc: { version: 1 }
    }]
  ])("%s", ([, changes, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* updateOf(changes), { update: expected, arrayFilters: undefined })
    }))

  it.effect("has one array filter for each condition on elements", () =>
    Effect.gen(function*() {
      const { arrayFilters, update } = yield* updateOf(($) => [
        $.lines.where((line) => line.product.equals("tea")).quantity.set(1),
        $.lines.where((line) => line.product.equals("tea")).note.set("x"),
        $.lines.where((line) => line.quantity.equals(1).or(line.quantity.equals(2))).discounts.popLast()
      ])
      const [tea = "", , few = ""] = [...Object.keys(update["$set"] ?? {}), ...Object.keys(update["$pop"] ?? {})].map(
        (path) => path.slice("lines.$[".length, path.indexOf("]"))
      )
      assert.match(tea, /^[a-z][a-z0-9]+$/u)
      assert.deepStrictEqual(update, {
        $set: { [`lines.$[${tea}].quantity`]: 1, [`lines.$[${tea}].note`]: "x" },
        $pop: { [`lines.$[${few}].discounts`]: 1 },
        $inc: { version: 1 }
      })
      assert.deepStrictEqual(arrayFilters, [
        { [`${tea}.product`]: { $eq: "tea" } },
        { $or: [{ [`${few}.quantity`]: { $eq: 1 } }, { [`${few}.quantity`]: { $eq: 2 } }] }
      ])
    }))

  it.effect("converts the values of $set", () =>
    Effect.gen(function*() {
      const { update } = yield* updateOf(($) => [$.pin.set("1234")])
      const { pin } = Object(update["$set"])
      assert.match(pin, /^\$pbkdf2-sha256\$1000\$/u)
      assert.isTrue(yield* Converter.verifyContent("1234", pin))
      const again = yield* updateOf(($) => [$.pin.set(pin)])
      assert.deepStrictEqual(again.update["$set"], { pin })
    }))
})

describe("an invalid value", () => {
  it.effect.each<[string, Update.Changes<typeof Order>, field: string, validator: string]>([
    ["that is set", ($) => [$.customer.set("x")], "customer", "Min"],
    ["of a field of a model", ($) => [$.address.city.set("")], "address.city", "NotEmpty"],
    ["in a model", ($) => [$.address.set({ street: "", city: "" })], "address.city", "NotEmpty"],
    ["that is appended", ($) => [$.tags.append("")], "tags", "NotEmpty"],
    ["that is added", ($) => [$.tags.addToSet("")], "tags", "NotEmpty"],
    ["in a model that is appended", ($) => [$.lines.append({ product: "x" })], "lines.product", "Min"],
    ["in an element", ($) => [$.lines.each.quantity.set(0)], "lines.quantity", "Min"],
    ["that may become the least", ($) => [$.total.min(-1)], "total", "Min"],
    ["of another kind of number", ($) => [$.rating.increment(0.5)], "rating", "Type"],
    ["that is no number", ($) => [$.total.increment(Number.NaN)], "total", "Type"],
    ["that is no factor", ($) => [$.total.multiply(Number.POSITIVE_INFINITY)], "total", "Type"],
    ["that is in the future", ($) => [$.placed.set(at("2999-01-01"))], "placed", "Past"],
    ["that is yet to be converted", ($) => [$.pin.set("1")], "pin", "Min"]
  ])("%s is told of", ([, changes, field, validator]) =>
    Effect.gen(function*() {
      const error = yield* refusalOf(changes)
      assert.strictEqual(error._tag, "ValidationException")
      if (error._tag === "ValidationException") {
        assert.deepStrictEqual([error.model, error.field, error.validator], ["Order", field, validator])
        assert.deepStrictEqual(error.problems.map((problem) => problem.field), [field])
      }
    }))

  it.effect("is reported with all others, missing ones first", () =>
    Effect.gen(function*() {
      const error = yield* refusalOf(($) => [
        $.customer.set("x"),
        $.total.increment(1),
        // @ts-expect-error the product is missing
        $.lines.append({ quantity: 0 }),
        $.tags.append("")
      ])
      assert.strictEqual(error._tag, "PropertyRequiredException")
      assert.strictEqual(error.message, "The property lines.product on class Order is required")
      if (error._tag === "PropertyRequiredException") {
        assert.deepStrictEqual(error.problems.map(({ field, validator }) => `${field} ${validator}`), [
          "lines.product Required",
          "customer Min",
          "lines.quantity Min",
          "tags NotEmpty"
        ])
      }
    }))

  it.effect("does not show values of omitted fields", () =>
    Effect.gen(function*() {
      const [open, omitted] = [
        yield* refusalOf(($) => [$.customer.set("x")]),
        yield* refusalOf(($) => [$.pin.set("1")])
      ]
      assert.deepInclude(open, { value: "x" })
      assert.notProperty(omitted, "value")
    }))
})

describe("a rejection", () => {
  it.effect.each<[string, Update.Changes<typeof Order>, detail: string]>([
    ["no change", () => [], "an update needs changes"],
    ["two changes of a field", ($) => [$.total.set(1), $.total.increment(1)], "several changes of \"total\" conflict"],
    [
      "changes of a model and of a field in it",
      ($) => [$.address.unset(), $.customer.set("Jane"), $.address.city.set("Bern")],
      "several changes of \"address.city\" conflict"
    ],
    ["another identifier", () => [Update.native("$set", "_id", "O2")], "\"id\" can't change"],
    ["another version", () => [Update.native("$set", "version", 9)], "several changes of \"version\" conflict"]
  ])("meets %s before a value is looked at", ([, changes, detail]) =>
    Effect.gen(function*() {
      const error = yield* refusalOf(changes)
      assert.strictEqual(error._tag, "QueryRejected")
      if (error._tag === "QueryRejected") assert.strictEqual(error.detail, detail)
    }))

  it.effect("rejects managed fields in untyped updates", () =>
    Effect.gen(function*() {
      // @ts-expect-error the identifier stays
      const id = yield* refusalOf(($) => [$.id.set("O2")])
      assert.strictEqual(id.message, "The store rejected the update: \"id\" can't change")
      // @ts-expect-error the version is the framework's
      const version = yield* refusalOf(($) => [$.version.set(2)])
      assert.strictEqual(version._tag, "QueryRejected")
      // @ts-expect-error what is stored as text can't be added to
      const cents = yield* refusalOf(($) => [$.cents.increment(2)])
      assert.strictEqual(cents.message, "The store rejected the update: \"cents\" is stored in another form")
    }))
})
