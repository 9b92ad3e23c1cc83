import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Converter, type DocumentStore, Update } from "../../src/index.ts"
import { at, Order } from "../support/orders.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { updateContract } from "./Update.contract.ts"

storeMatrix(updateContract)

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
