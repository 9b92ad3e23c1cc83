/** What is said of data objects, sentence by sentence. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { format } from "node:util"
import { Converter, Generator, Index, Marshaller, Model, ModelError, Validator } from "../../src/Model/index.ts"
import { modelTypeId } from "../../src/Model/shape/variants.ts"
import { CurrentUser } from "../../src/Security/index.ts"

class Colour extends Model.Class<Colour>()("Colour", { name: Model.field(Schema.String, { required: true }) }) {}

const Size = { small: "S", large: "L" } as const

const paint = { name: "red" }

class Everything extends Model.Class<Everything>()("Everything", {
  text: Model.field(Schema.String),
  whole: Model.field(Schema.Int),
  float: Model.field(Schema.Finite),
  flag: Model.field(Schema.Boolean),
  list: Model.field(Schema.Array(Schema.Int)),
  moment: Model.field(Model.DateTime),
  day: Model.field(Model.Date),
  size: Model.field(Schema.Enum(Size)),
  colour: Model.field(Colour),
  colours: Model.field(Schema.Array(Colour)),
  any: Model.field(Schema.Union([Schema.String, Schema.Int]))
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Model.field(Schema.String, { required: true, validators: [Validator.notEmpty], index: Index.unique }),
  roles: Model.field(Schema.Array(Schema.String), { default: () => ["user"] }),
  level: Model.field(Schema.Int, { default: 3, validators: [Validator.min(1), Validator.max(5)] }),
  password: Model.field(Schema.String.pipe(Validator.min(8)), {
    required: true,
    converter: Converter.contentHasher({ rounds: 1_000 }),
    omit: true
  }),
  created: Model.field(Model.DateTime, { required: true, generator: Generator.dateNow }),
  seen: Model.field(Model.DateTime, { marshaller: Marshaller.timestamp }),
  owner: Model.field(Schema.String, { generator: Generator.currentUserId })
}) {}

/** The same, piped. */
class Piped extends Model.Class<Piped>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  level: Schema.Int.pipe(Validator.min(1), Validator.max(5), Model.withDefault(() => 3)),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  created: Model.DateTime.pipe(Model.generated(Generator.dateNow)),
  seen: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  owner: Schema.String.pipe(Model.optional, Model.generated(Generator.currentUserId))
}) {}

const jane = { name: "Jane", password: "correct horse" }

const problemsOf = <A>(effect: Effect.Effect<A, ModelError.ModelError>) =>
  Effect.map(Effect.flip(effect), (error) => error.problems.map(({ field, validator }) => `${field} ${validator}`))

describe("A field of a model", () => {
  it("has the type that comes first: text, numbers, booleans, lists, date-times, dates, enums, models, any schema", () => {
    const types = Object.values(Model.metadata(Everything)).map(({ sub_type, type }) => [type, sub_type])
    assert.deepStrictEqual(types.slice(0, 7), [
      ["str", undefined],
      ["int", undefined],
      ["float", undefined],
      ["bool", undefined],
      ["list", "int"],
      ["datetime", undefined],
      ["date", undefined]
    ])
    assert.strictEqual(types[8]?.[0], "Colour")
    assert.deepInclude(types[9]?.[1], { type: "Colour" })
  })

  it.effect("is optional unless it is declared required", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual({ ...yield* Model.finalise(Everything, {}) }, {})
    }))

  it.effect("that is required and has no value fails with PropertyRequiredException, when finalised and when dumped", () =>
    Effect.gen(function*() {
      // A caller of another language sends what it wants.
      const missing = yield* Model.finalise(Colour, {} as never).pipe(
        Effect.as("none"),
        Effect.catchTag("PropertyRequiredException", (error) => Effect.succeed(error.message))
      )
      assert.strictEqual(missing, "The property name on class Colour is required")
      const empty: Colour = Object.create(Colour.prototype)
      assert.strictEqual((yield* Effect.flip(Model.dumps(empty)))._tag, "PropertyRequiredException")
      assert.strictEqual((yield* Effect.flip(Model.toRecord(empty)))._tag, "PropertyRequiredException")
    }))

  it.effect("with a default_value has it when none is given", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, jane)
      assert.deepStrictEqual([user.level, user.roles], [3, ["user"]])
      assert.strictEqual((yield* Model.finalise(User, { ...jane, level: 4 })).level, 4)
    }))

  it.effect("with validators has them run", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(User, { ...jane, name: "", level: 6 })), [
        "name NotEmpty",
        "level Max"
      ])
    }))

  it.effect("with a generator has a value supplied when none is given", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000)
      assert.strictEqual((yield* Model.finalise(User, jane)).created.epochMilliseconds, 1_000)
      const given = DateTime.makeUnsafe(5)
      assert.deepStrictEqual((yield* Model.finalise(User, { ...jane, created: given })).created, given)
    }))

  it.effect("with a converter has an existing value converted", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, jane)
      assert.isTrue(yield* Converter.verifyContent(jane.password, user.password))
    }))

  it.effect("with a marshaller is converted between the instance and the wire", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, { ...jane, seen: DateTime.makeUnsafe(1_500) })
      assert.strictEqual(JSON.parse(yield* Model.dumps(user)).seen, 1.5)
    }))

  it.effect("that is omitted is excluded from every string and wire representation", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, jane)
      for (const text of [yield* Model.dumps(user), JSON.stringify(user), format("%s", user)]) {
        assert.notInclude(text, "pbkdf2")
      }
      assert.notProperty(User.wire.fields, "password")
    }))

  it("with an index names it", () => {
    assert.strictEqual(User[modelTypeId]["name"]?.index, Index.unique)
  })

  it.effect("is the same whether it is piped or written with its attributes", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000)
      assert.deepStrictEqual(Model.metadata(User), Model.metadata(Piped))
      assert.deepStrictEqual(Model.jsonSchema(User), Model.jsonSchema(Piped))
      assert.deepStrictEqual(
        Model.jsonSchema(User, { mongoCompatibility: true }),
        Model.jsonSchema(Piped, { mongoCompatibility: true })
      )
      for (const input of [jane, { ...jane, id: "U1", level: 9 }, { ...jane, name: "", password: "short" }]) {
        const both = yield* Effect.all(
          ([User, Piped] as const).map((model) =>
            Model.finalise(model, { id: "U1", ...input }).pipe(
              Effect.map(({ password, ...rest }) => ({ ...rest, isHashed: password.startsWith("$pbkdf2-sha256$") })),
              Effect.catch((error) => Effect.succeed(error.problems))
            )
          )
        )
        assert.deepStrictEqual(both[0], both[1])
      }
    }))
})

describe("A model", () => {
  it("has a constructor with named arguments", () => {
    assert.strictEqual(new Colour(paint).name, "red")
    assert.strictEqual(Colour.make(paint).name, "red")
  })

  it.effect("exposes its class name as _type on the wire", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(JSON.parse(yield* Model.dumps(new Colour(paint))), { _type: "Colour", name: "red" })
    }))

  it.effect("is finalised field by field: generator, default, converter, validators", () =>
    Effect.gen(function*() {
      const steps: Array<string> = []
      const note = (step: string) => <A>(value: A) =>
        Effect.sync(() => {
          steps.push(step)
          return value
        })
      class Ordered extends Model.Class<Ordered>()("Ordered", {
        value: Model.field(Schema.String, {
          required: true,
          generator: Effect.flatMap(Effect.void, () => note("generator")(undefined)),
          default: () => {
            steps.push("default")
            return "d"
          },
          converter: (value) => note("converter")(`${value}c`),
          validators: [Validator.make("Seen", (value: string) => {
            steps.push("validator")
            return value === "dc"
          }, { message: "must be seen" })]
        })
      }) {}
      assert.strictEqual((yield* Model.finalise(Ordered, {})).value, "dc")
      assert.deepStrictEqual(steps.slice(0, 4), ["generator", "default", "converter", "validator"])
    }))

  it.effect("reports every problem of every field, those of nested models included", () =>
    Effect.gen(function*() {
      class Palette extends Model.Class<Palette>()("Palette", {
        main: Colour,
        others: Schema.Array(Colour),
        size: Schema.Int.pipe(Validator.min(1))
      }) {}
      const input = { main: {}, others: [paint, { name: 1 }], size: 0 }
      // The types refuse it, callers send it.
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Palette, input as never)), [
        "main.name Required",
        "others.1.name Type",
        "size Min"
      ])
    }))

  it("in lists of lists is rejected, since its variants could not be told apart", () => {
    assert.throws(
      () => Model.Class<never>()("Grid", { rows: Schema.Array(Schema.Array(Colour)) }),
      "can't be told apart"
    )
  })

  it.effect("that is recursive is validated at every depth", () =>
    Effect.gen(function*() {
      interface Stored {
        readonly name: string
        readonly children: ReadonlyArray<Stored>
      }
      class Cat extends Model.Class<Cat>()("Cat", {
        name: Schema.String.pipe(Validator.notEmpty),
        children: Schema.Array(Schema.suspend((): Schema.Codec<Cat, Stored> => Cat))
      }) {}
      const child = new Cat({ name: "", children: [] }, { disableChecks: true })
      assert.deepStrictEqual(yield* problemsOf(Model.dumps(new Cat({ name: "a", children: [child] }))), [
        "children.0.name NotEmpty"
      ])
    }))

  it.effect("may have conditional rules over all fields, which may be effectful", () =>
    Effect.gen(function*() {
      class Invoice extends Model.Class<Invoice>()("Invoice", {
        state: Schema.Literals(["open", "paid"]),
        paid: Model.DateTime.pipe(Model.optional),
        due: Model.DateTime
      }, {
        validate: (invoice) =>
          Effect.gen(function*() {
            if (invoice.state === "paid" && invoice.paid === undefined) {
              return yield* Effect.fail(
                new ModelError.Problem({ field: "paid", validator: "Paid", message: "must say when" })
              )
            }
            const now = yield* DateTime.now
            if (invoice.due.epochMilliseconds < now.epochMilliseconds) {
              return yield* Effect.fail([
                new ModelError.Problem({ field: "due", validator: "Due", message: "is over" }),
                new ModelError.Problem({ field: "", validator: "Invoice", message: "is late" })
              ])
            }
          })
      }) {}
      class Ledger extends Model.Class<Ledger>()("Ledger", { invoices: Schema.Array(Invoice) }) {}
      const due = DateTime.makeUnsafe(1_000)
      const open = { state: "open" as const, due }
      assert.instanceOf(yield* Model.finalise(Invoice, open), Invoice)
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Ledger, { invoices: [open, { state: "paid", due }] })), [
        "invoices.1.paid Paid"
      ])
      yield* TestClock.setTime(2_000)
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Invoice, open)), ["due Due", " Invoice"])
      const late = new Invoice(open)
      assert.deepStrictEqual(yield* problemsOf(Model.dumps(late)), ["due Due", " Invoice"])
      assert.deepStrictEqual(yield* problemsOf(Model.toRecord(new Ledger({ invoices: [late] }))), [
        "invoices.0.due Due",
        "invoices.0 Invoice"
      ])
    }))

  it.effect("reports the validator's type, the value and the message of a validation error", () =>
    Effect.gen(function*() {
      const found = yield* Model.finalise(User, { ...jane, level: 9 }).pipe(
        Effect.map(() => undefined),
        Effect.catchTag(
          "ValidationException",
          ({ detail, field, validator, value }) => Effect.succeed({ detail, field, validator, value })
        )
      )
      assert.deepStrictEqual(found, { detail: "must be at most 5", field: "level", validator: "Max", value: 9 })
    }))
})

describe("A custom validator", () => {
  const even = Validator.make("Even", (value: number) => value % 2 === 0, {
    message: "must be even",
    value: 2,
    jsonSchema: { multipleOf: 2 }
  })
  const after = Validator.related(
    "After",
    "to",
    ({ from, to }: { readonly from: number; readonly to: number }) => to > from,
    { message: "must be after from" }
  )

  class Stay extends Model.Class<Stay>()("Stay", { from: Schema.Int.pipe(even), to: Schema.Int }, {
    validators: [after]
  }) {}

  it.effect("validates one value", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Stay, { from: 1, to: 2 })), ["from Even"])
    }))

  it.effect("validates all fields, and reports on one", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Stay, { from: 2, to: 1 })), ["to After"])
      assert.deepStrictEqual(yield* problemsOf(Model.dumps(new Stay({ from: 2, to: 1 }))), ["to After"])
    }))

  it("adds its constraint to the JSON schema and its entry to the metadata", () => {
    // Every schema has properties.
    const properties = Model.jsonSchema(Stay)["properties"] as { readonly from: object }
    assert.deepInclude(properties.from, { multipleOf: 2 })
    assert.deepStrictEqual(Model.metadata(Stay)["from"]?.validators, [{ type: "Even", value: 2 }])
    assert.deepStrictEqual(Model.metadata(Stay)["to"]?.validators, [{ type: "After" }])
  })

  it("works in any schema", () => {
    const struct = Schema.Struct({ from: Schema.Int.pipe(even), to: Schema.Int }).check(after)
    assert.deepStrictEqual(Schema.decodeUnknownSync(struct)({ from: 2, to: 3 }), { from: 2, to: 3 })
    assert.throws(() => Schema.decodeUnknownSync(struct)({ from: 1, to: 3 }), "must be even")
    assert.throws(() => Schema.decodeUnknownSync(struct)({ from: 4, to: 3 }), "must be after from")
  })
})

describe("Unique", () => {
  class Tagged extends Model.Class<Tagged>()("Tagged", {
    code: Schema.String.pipe(Validator.unique),
    tags: Schema.Array(Schema.String).pipe(Validator.unique),
    parts: Model.field(Schema.Array(Colour), { validators: [Validator.unique] })
  }) {}

  it("installs a unique index", () => {
    assert.strictEqual(Tagged[modelTypeId]["code"]?.index, Index.unique)
    assert.isUndefined(Tagged[modelTypeId]["tags"]?.index)
  })

  it.effect("rejects a list with a duplicate element", () =>
    Effect.gen(function*() {
      const input = { code: "a", tags: ["a", "b"], parts: [paint] }
      assert.instanceOf(yield* Model.finalise(Tagged, input), Tagged)
      assert.deepStrictEqual(
        yield* problemsOf(Model.finalise(Tagged, { ...input, tags: ["a", "a"], parts: [paint, { ...paint }] })),
        ["tags Unique", "parts Unique"]
      )
    }))

  it.effect("takes linear time for a long list", () =>
    Effect.gen(function*() {
      const tags = Array.from({ length: 200_000 }, (_, i) => `t${i}`)
      assert.strictEqual((yield* Model.finalise(Tagged, { code: "a", tags })).tags.length, 200_000)
    }))

  it.effect("distinguishes elements by type and value", () =>
    Effect.gen(function*() {
      const at = DateTime.makeUnsafe
      class Mixed extends Model.Class<Mixed>()("Mixed", {
        values: Schema.Array(Schema.Any).pipe(Validator.unique)
      }) {}
      const finalised = (values: ReadonlyArray<unknown>) => Effect.exit(Model.finalise(Mixed, { values }))
      const different = [
        1,
        "1",
        1n,
        null,
        [1],
        [1, 2],
        ["1,2"],
        { a: 1 },
        { a: "1" },
        { a: 1, b: 2 },
        at(1),
        at(2),
        true
      ]
      assert.strictEqual((yield* finalised(different))._tag, "Success")
      for (const twice of [[1, 1], [{ a: 1, b: [2] }, { b: [2], a: 1 }], [at(5), at(5)], [null, null], [[], []]]) {
        assert.strictEqual((yield* finalised(twice))._tag, "Failure")
      }
    }))

  it("is uniqueItems in the JSON schema, and an entry in the metadata", () => {
    // Every schema has properties.
    const properties = Model.jsonSchema(Tagged)["properties"] as { readonly tags: object }
    assert.deepInclude(properties.tags, { uniqueItems: true })
    for (const name of ["code", "tags", "parts"]) {
      assert.deepStrictEqual(Model.metadata(Tagged)[name]?.validators, [{ type: "Unique" }])
    }
  })
})

describe("A generator", () => {
  it.effect("current_user returns the current identity, and nothing without one", () =>
    Effect.gen(function*() {
      const finalised = Model.finalise(User, jane)
      assert.strictEqual(
        (yield* Effect.provideService(finalised, CurrentUser, { subject: "U7", roles: [], claims: {} })).owner,
        "U7"
      )
      assert.notProperty(yield* finalised, "owner")
      assert.isUndefined(new User({ ...yield* finalised }).owner)
    }))

  it.effect("that supplies no value fails for a required field", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", {
        owner: Schema.String.pipe(Model.generated(Generator.currentUserId))
      }) {}
      assert.deepStrictEqual(yield* problemsOf(Model.finalise(Note, {})), ["owner Required"])
    }))

  it.effect("uuid of version 7 starts with the clock's time, so that identifiers are ordered", () =>
    Effect.gen(function*() {
      class Event extends Model.Class<Event>()("Event", { id: Model.id({ prefix: "E", version: 7 }) }) {}
      const ids: Array<string> = []
      for (const millis of [1_000, 1_000, 1_001, 5_000_000]) {
        yield* TestClock.setTime(millis)
        ids.push((yield* Model.finalise(Event, {})).id)
      }
      assert.deepStrictEqual(ids.toSorted(), ids)
      assert.strictEqual(new Set(ids).size, 4)
      assert.match(ids[3]!, /^E0000004c-4b40-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
    }))
})
