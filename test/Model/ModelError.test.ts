import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { problemsOf } from "../../src/Model/codec/fieldProblems.ts"
import { Converter, Model, Validator } from "../../src/Model/index.ts"
import { everyTextOf } from "../support/everyText.ts"

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty)
}) {}

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String.pipe(Validator.notEmpty),
  quantity: Schema.Int.pipe(Validator.min(1))
}) {}

class Order extends Model.Class<Order>()("Order", {
  customer: Schema.String.pipe(Validator.notEmpty, Validator.min(3)),
  kind: Schema.Literals(["order", "offer"]),
  lines: Schema.Array(Line).pipe(Validator.notEmpty, Validator.max(2)),
  tags: Schema.Array(Schema.String.pipe(Validator.max(3))).pipe(Model.withDefault(() => [])),
  billing: Address,
  shipping: Address.pipe(Model.optional)
}) {}

const valid = {
  customer: "Jane",
  kind: "order",
  lines: [{ sku: "a", quantity: 1 }],
  billing: { street: "Main", city: "Bern" }
} as const

/** What is wrong with an order that differs from a valid one, whatever the types say of it. */
const problemsWith = (more: object) => Effect.flip(Model.finalise(Order, { ...valid, ...more }))

describe("PropertyRequiredException", () => {
  it.effect("names the model and the field", () =>
    Effect.gen(function*() {
      const error = yield* problemsWith({ customer: undefined })
      assert.strictEqual(error._tag, "PropertyRequiredException")
      assert.strictEqual(error.model, "Order")
      assert.strictEqual(error.field, "customer")
      assert.strictEqual(error.message, "The property customer on class Order is required")
      assert.deepStrictEqual(error.problems.map((problem) => ({ ...problem })), [
        { field: "customer", validator: "Required", message: "must be given" }
      ])
    }))

  it.effect("precedes all other problems, and lists them too", () =>
    Effect.gen(function*() {
      const error = yield* problemsWith({ customer: "", lines: [{ sku: "a" }] })
      assert.strictEqual(error._tag, "PropertyRequiredException")
      assert.strictEqual(error.field, "lines.0.quantity")
      assert.sameDeepMembers(error.problems.map(({ field, validator }) => [field, validator]), [
        ["lines.0.quantity", "Required"],
        ["customer", "NotEmpty"],
        ["customer", "Min"]
      ])
    }))

  it.effect("treats a value that is no object as an empty one", () =>
    Effect.gen(function*() {
      for (const nothing of [null, undefined, "text", 3, []]) {
        // @ts-expect-error none of these is what a caller may send
        const error = yield* Effect.flip(Model.finalise(Address, nothing))
        assert.deepStrictEqual(error.problems.map(({ field }) => field), ["street", "city"])
      }
    }))
})

describe("ValidationException", () => {
  it.effect("names the model, the field, the validator and the value", () =>
    Effect.gen(function*() {
      const error = yield* problemsWith({ customer: "Jo" })
      assert.strictEqual(error._tag, "ValidationException")
      assert.deepInclude(error, { model: "Order", field: "customer", validator: "Min", value: "Jo" })
      assert.strictEqual(error.message, "The property customer on class Order must have at least 3 characters")
    }))

  it.effect("names the type of a value of another type", () =>
    Effect.gen(function*() {
      const error = yield* problemsWith({ customer: 3, kind: "gift", lines: "none" })
      assert.sameDeepMembers(error.problems.map((problem) => ({ ...problem })), [
        { field: "customer", validator: "Type", message: "must be a text" },
        { field: "kind", validator: "Type", message: "must be one of order, offer" },
        { field: "lines", validator: "Type", message: "must be a list" }
      ])
    }))

  it.effect("reports every problem of every field, of nested models and of their lists, once", () =>
    Effect.gen(function*() {
      const error = yield* problemsWith({
        customer: "",
        kind: "gift",
        lines: [{ sku: "a", quantity: 1 }, { sku: "", quantity: 0 }, { sku: "c", quantity: 1.5 }],
        tags: ["abcd", "abc", "abcde"],
        billing: { street: 3, city: "" },
        shipping: "nowhere"
      })
      assert.sameDeepMembers(error.problems.map(({ field, validator }) => `${field} ${validator}`), [
        "customer NotEmpty",
        "customer Min",
        "kind Type",
        "lines.1.sku NotEmpty",
        "lines.1.quantity Min",
        "lines.2.quantity Type",
        "tags.0 Max",
        "tags.2 Max",
        "billing.street Type",
        "billing.city NotEmpty",
        "shipping Type"
      ])
    }))

  it.effect("checks a list once its elements are valid", () =>
    Effect.gen(function*() {
      const none = yield* problemsWith({ lines: [] })
      assert.deepInclude(none, { field: "lines", validator: "NotEmpty" })
      const line = { sku: "a", quantity: 1 }
      const many = yield* problemsWith({ lines: [line, line, line] })
      assert.deepInclude(many, { field: "lines", validator: "Max", detail: "must have at most 2 elements" })
      assert.notProperty(many, "value", "a value with parts is not shown")
    }))

  it.effect("contains the value of a nested field", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* problemsWith({ lines: [{ sku: "a", quantity: -7 }] }), {
        field: "lines.0.quantity",
        value: -7
      })
      assert.deepInclude(yield* problemsWith({ billing: { street: "Main", city: "" } }), {
        field: "billing.city",
        value: ""
      })
    }))

  it.effect("is caught by its tag", () =>
    Effect.gen(function*() {
      const caught = yield* Model.finalise(Order, { ...valid, customer: "" }).pipe(
        Effect.catchTag("PropertyRequiredException", () => Effect.succeed("required")),
        Effect.catchTag("ValidationException", (error) => Effect.succeed(error.validator))
      )
      assert.strictEqual(caught, "NotEmpty")
    }))
})

describe("an omitted field", () => {
  const canary = "CANARY-7f3a"

  /** Says of itself what it was given, as filters and codecs of users may. */
  const talkative = Schema.String.check(
    Schema.makeFilter((text: string) => text === "" || `${text} is a bad secret`)
  )

  class Secrets extends Model.Class<Secrets>()("Secrets", {
    pin: Schema.String.pipe(Validator.max(4), Validator.regexp(/^\d+$/u)),
    hash: Schema.String.pipe(
      Validator.max(4),
      Model.converted(Converter.contentHasher({ rounds: 1_000 })),
      Validator.regexp(/^never$/u)
    ),
    word: talkative.pipe(Model.withDefault(() => "")),
    changed: talkative.pipe(Model.optional, Model.converted((text) => Effect.succeed(`${text}.`)))
  }) {}

  class Vault extends Model.Class<Vault>()("Vault", {
    name: Schema.String.pipe(Model.withDefault(() => "vault")),
    password: Schema.String.pipe(
      Validator.max(4),
      Model.converted(Converter.contentHasher({ rounds: 1_000 })),
      Model.omitted,
      Model.optional
    ),
    literal: Schema.Literals(["a"]).pipe(Model.optional, Model.omitted),
    number: Schema.Int.pipe(Model.optional, Model.omitted),
    spoken: talkative.pipe(Model.optional, Model.omitted),
    list: Schema.Array(talkative).pipe(Model.optional, Model.omitted),
    record: Schema.Record(Schema.String, Schema.Int).pipe(Model.optional, Model.omitted),
    json: Schema.fromJsonString(Schema.Struct({ a: Schema.Int })).pipe(Model.optional, Model.omitted),
    secrets: Secrets.pipe(Model.optional, Model.omitted),
    all: Schema.Array(Secrets).pipe(Model.optional, Model.omitted),
    account: Schema.NullOr(Secrets).pipe(Model.optional)
  }) {}

  const inputs: { readonly [name: string]: object } = {
    "a validator": { password: canary },
    "the type of a literal": { literal: canary },
    "the type of a number": { number: canary },
    "a filter with a message of its own": { spoken: canary },
    "a filter of elements": { list: ["a", canary] },
    "an element of another type": { list: canary },
    "a record's value": { record: { a: canary } },
    "a record's name": { record: { [canary]: "a" } },
    "a nested model": { secrets: { pin: canary, hash: "ok" } },
    "a nested model's converted field": { secrets: { pin: "1", hash: canary } },
    "a nested model's filter": { secrets: { pin: "1", hash: "ok", word: canary } },
    "a nested model's filter before conversion": { secrets: { pin: "1", hash: "ok", changed: canary } },
    "a list of nested models": { all: [{ pin: canary, hash: canary }] },
    "a nested model of another type": { secrets: canary }
  }

  for (const [name, input] of Object.entries(inputs)) {
    it.effect(`is in no error after ${name} refused it`, () =>
      Effect.gen(function*() {
        // Callers without a compiler send anything.
        const error = yield* Effect.flip(Model.finalise(Vault, input as typeof Vault.create.Type))
        assert.isAbove(error.problems.length, 0)
        for (const text of [...everyTextOf(error), String(error.cause), String(error.stack)]) {
          assert.notInclude(text, canary)
          assert.include(text, text === "undefined" ? text : error.problems[0]!.field.split(".", 1)[0]!)
        }
      }))
  }

  it("has no value in the problems of the model's decoders", () => {
    const decoders = [
      Schema.toCodecJson(Vault.create),
      Schema.toCodecJson(Vault.patch),
      Schema.Struct({ vault: Vault, name: Schema.String })
    ].map((schema) => Schema.decodeUnknownResult(schema, { errors: "all" }))
    for (const [name, input] of Object.entries(inputs)) {
      for (const decode of decoders) {
        const decoded = decode({ ...input, vault: { ...input, name: 3 } })
        const problems = Result.isFailure(decoded) ? problemsOf(decoded.failure.issue) : []
        assert.notInclude(JSON.stringify(problems), canary, name)
        assert.isAbove(problems.length, 0, name)
      }
    }
  })

  it.effect("still has a path and a reason", () =>
    Effect.gen(function*() {
      // Callers without a compiler send anything.
      const refused = (input: object) => Effect.flip(Model.finalise(Vault, input as typeof Vault.create.Type))
      const reasonsFor = (input: object) =>
        Effect.map(refused(input), ({ problems }) => problems.map(({ field, message }) => [field, message]))
      assert.deepStrictEqual(yield* reasonsFor({ password: canary }), [["password", "must have at most 4 characters"]])
      assert.deepStrictEqual(yield* reasonsFor({ spoken: canary }), [["spoken", "is not valid"]])
      assert.deepStrictEqual(yield* reasonsFor({ record: { [canary]: "a" } }), [["record", "must be a whole number"]])
      assert.deepStrictEqual(yield* reasonsFor({ list: ["a", canary] }), [
        ["list.0", "is not valid"],
        ["list.1", "is not valid"]
      ])
      assert.deepStrictEqual(yield* reasonsFor({ all: [{ pin: canary }] }), [
        ["all.0.hash", "must be given"],
        ["all.0.pin", "must have at most 4 characters"],
        ["all.0.pin", "must match ^\\d+$"]
      ])
    }))
})
