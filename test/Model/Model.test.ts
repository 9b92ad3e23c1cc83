import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Equal, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Converter, Generator, Index, Model, Validator } from "../../src/Model/index.ts"
import { everyTextOf } from "../support/everyText.ts"

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty)
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  email: Schema.String.pipe(Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.versioned
}) {
  get firstName() {
    return this.name.split(" ")[0]
  }
}

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String.pipe(Validator.notEmpty),
  quantity: Schema.Int.pipe(Validator.min(1)),
  added: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  lines: Schema.Array(Line).pipe(Validator.notEmpty),
  billing: Address,
  shipping: Schema.NullOr(Address),
  note: Schema.String.pipe(Model.optional)
}) {}

class Product extends Model.Class<Product>()("Product", { id: Model.id({ prefix: "P", brand: "ProductId" }) }) {}

class Bundle extends Model.Class<Bundle>()("Bundle", { products: Schema.Array(Product.wire.fields.id) }) {}

const jane = { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }

const hashed = "$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90"

const storedJane = { ...jane, password: hashed }

const order = {
  lines: [{ sku: "a", quantity: 1 }, { sku: "b", quantity: 2 }],
  billing: { street: "Main", city: "Bern" },
  shipping: null
}

const messageOf = (run: () => unknown): string => {
  try {
    return JSON.stringify(run())
  } catch (error) {
    return String(error)
  }
}

describe("Model.Class", () => {
  it("derives schemas for stored, read, created and patched documents", () => {
    const all = ["id", "name", "email", "password", "roles", "address", "created", "version"]
    assert.deepStrictEqual(Object.keys(User.store.fields), all)
    assert.deepStrictEqual(Object.keys(User.fields), all)
    assert.deepStrictEqual(Object.keys(User.wire.fields), ["_type", ...all.filter((key) => key !== "password")])
    assert.deepStrictEqual(Object.keys(User.create.fields), all)
    assert.deepStrictEqual(Object.keys(User.patch.fields), all.filter((key) => key !== "id"))
    assert.strictEqual(User.modelName, "User")
  })

  it("names its schemas for documentation after itself", () => {
    const names = [User.wire, User.create, User.patch, User.store].map(({ ast }) => ast.annotations?.["identifier"])
    assert.deepStrictEqual(names, ["User", "UserCreate", "UserPatch", "UserStored"])
  })

  it("constructs instances, with defaults and generated values", () => {
    const user = new User(storedJane)
    assert.instanceOf(user, User)
    assert.strictEqual(user.firstName, "Jane")
    assert.deepStrictEqual(user.roles, ["user"])
    assert.strictEqual(user.version, 1)
    assert.match(user.id, /^U[0-9a-f-]{36}$/u)
    assert.instanceOf(User.make({ ...storedJane, id: "U1" }), User)
    assert.throws(() => new User({ ...storedJane, email: "nowhere" }))
  })

  it("rejects an unconverted value in the constructor", () => {
    for (const make of [() => new User(jane), () => User.make(jane)]) {
      const message = messageOf(make)
      assert.include(message, "password")
      assert.include(message, "must be converted first, as Model.finalise does")
      assert.notInclude(message, jane.password)
    }
    class Trimmed extends Model.Class<Trimmed>()("Trimmed", {
      text: Schema.String.pipe(Model.converted((text) => Effect.succeed(text.trim()))),
      note: Model.field(Schema.String, { converter: (text) => Effect.succeed(text.toLowerCase()) })
    }) {}
    assert.strictEqual(new Trimmed({ text: "a" }).text, "a")
    assert.include(messageOf(() => new Trimmed({ text: " a" })), "text")
    assert.include(messageOf(() => new Trimmed({ text: "a", note: "A" })), "note")
  })

  it.effect("generates and decodes a branded identifier like any other", () =>
    Effect.gen(function*() {
      const { id } = yield* Model.finalise(Product, {})
      assert.match(id, /^P[0-9a-f-]{36}$/u)
      const bundle = yield* Model.fromRecord(Bundle, { products: [id] })
      assert.deepStrictEqual(bundle.products, [id])
      assert.strictEqual(Product.wire.fields.id.make("P1"), "P1")
      assert.isFalse(Schema.is(Product.wire.fields.id)(""))
    }))

  it.effect("does not convert the output of the last of several converters again", () =>
    Effect.gen(function*() {
      class Chained extends Model.Class<Chained>()("Chained", {
        secret: Schema.String.pipe(
          Model.converted((text) => Effect.succeed(text.toLowerCase())),
          Model.converted(Converter.contentHasher({ rounds: 1_000 }))
        )
      }) {}
      const first = yield* Model.finalise(Chained, { secret: "Correct HORSE" })
      assert.isTrue(yield* Converter.verifyContent("correct horse", first.secret))
      assert.deepStrictEqual(yield* Model.finalise(Chained, first), first)
      assert.deepStrictEqual(new Chained(first), first)
    }))

  it("prefers a generator to a default", () => {
    class Both extends Model.Class<Both>()("Both", {
      first: Schema.String.pipe(Model.generated(Effect.succeed("generated")), Model.withDefault(() => "default")),
      second: Schema.String.pipe(Model.withDefault(() => "default"), Model.generated(Effect.succeed("generated")))
    }) {}
    assert.deepStrictEqual({ ...new Both({}) }, { first: "generated", second: "generated" })
    // What was stored without the field was not made just now.
    assert.deepStrictEqual({ ...Schema.decodeUnknownSync(Both)({}) }, { first: "default", second: "default" })
  })

  it("merges a nested model and replaces a list", () => {
    const accepts = Schema.is(Order.patch)
    assert.isTrue(accepts({ billing: { city: "Basel" }, lines: [{ sku: "a", quantity: 1 }] }))
    assert.isFalse(accepts({ lines: [{ sku: "a" }] }))
    assert.isFalse(accepts({ lines: [] }))
    assert.isFalse(accepts({ billing: null }))
    assert.isTrue(accepts({ shipping: null, note: null }))
  })

  it("reads and writes stored documents", () => {
    const stored = { id: "U1", ...storedJane, created: new Date(0), version: 3, address: null }
    const user = Schema.decodeUnknownSync(User)(stored)
    assert.instanceOf(user, User)
    assert.deepStrictEqual(user.roles, ["user"], "an old document has no roles")
    assert.notProperty(user, "address")
    assert.deepStrictEqual(Schema.encodeSync(User)(user), {
      id: "U1",
      ...storedJane,
      roles: ["user"],
      created: new Date(0),
      version: 3
    })
  })

  it("rejects a model in a position where its omitted fields would be visible", () => {
    const places: ReadonlyArray<readonly [string, Schema.Top]> = [
      ["a struct", Schema.Struct({ user: User })],
      ["a record", Schema.Record(Schema.String, User)],
      ["a tuple", Schema.Tuple([User])],
      ["a union of models", Schema.Union([User, Address])],
      ["a list of structs", Schema.Array(Schema.Struct({ user: User }))],
      ["an Option", Schema.Option(User)],
      ["a transformation", User.pipe(Schema.decodeTo(Schema.Any))],
      ["an annotated copy", User.annotate({ description: "the owner" })]
    ]
    for (const [place, schema] of places) {
      assert.throws(
        () => Model.Class<unknown>()("Project", { name: Schema.String, owner: schema }),
        /^Project\.owner holds the model User where its variants can't be told apart\./u,
        place
      )
      assert.throws(() => Model.Class<unknown>()("Project", { owner: schema.pipe(Model.omitted) }), /^Project\.owner/u)
    }
  })

  it("rejects field names that documents and responses use", () => {
    for (const name of ["_type", "_id", "_links", "_embedded"]) {
      assert.throws(
        () => Model.Class<unknown>()("Project", { [name]: Schema.String }),
        `Project.${name} has a name that is not for fields`
      )
    }
  })

  it("rejects values that can't be stored or shown, and names that no path can address", () => {
    const fields: ReadonlyArray<readonly [name: string, field: Schema.Top, message: string]> = [
      ["value", Schema.Symbol, "Box.value holds a symbol, which can't be stored"],
      ["value", Schema.Array(Schema.Struct({ tag: Schema.UniqueSymbol(Symbol("x")) })), "Box.value holds a symbol"],
      ["value", Schema.instanceOf(Set), "Box.value holds values of a declared type that has no JSON form"],
      [
        "value",
        Schema.Option(Schema.instanceOf(Promise)),
        "Box.value holds values of a declared type that has no JSON"
      ],
      ["value", Schema.Redacted(Schema.String), "Box.value holds redacted values, which no caller may see"],
      ["value", Schema.Struct({ key: Schema.RedactedFromValue(Schema.String) }), "Box.value holds redacted values"],
      ["value", Schema.File, "Box.value holds files, which can't be stored"],
      ["value", Schema.Struct({ "a.b": Schema.String }), "Box.value holds the name \"a.b\", which no path leads to"],
      ["value", Schema.Struct({ ["__proto__"]: Schema.String }), "Box.value holds the name \"__proto__\""],
      ["a.b", Schema.String, "Box.a.b has a name that no path leads to"],
      ["__proto__", Schema.String, "Box.__proto__ has a name that no path leads to"],
      ["$set", Schema.String, "Box.$set has a name that no path leads to"]
    ]
    for (const [name, field, message] of fields) {
      assert.throws(() => Model.Class<unknown>()("Box", { [name]: field }), message)
    }
    const Secret = Model.Class<unknown>()("Secret", { key: Schema.Redacted(Schema.String).pipe(Model.omitted) })
    assert.notProperty(Secret.wire.fields, "key")
  })

  it("accepts schemas without models in the same positions", () => {
    const Plain = Model.Class<unknown>()("Plain", {
      struct: Schema.Struct({ a: Schema.String }),
      record: Schema.Record(Schema.String, Schema.Int),
      tuple: Schema.Tuple([Schema.String, Schema.Int]),
      union: Schema.Union([Schema.String, Schema.Int])
    })
    assert.sameMembers(Object.keys(Plain.wire.fields), ["_type", "struct", "record", "tuple", "union"])
  })

  it("shows an instance without omitted fields everywhere", () => {
    const user = new User({ ...storedJane, id: "U1" })
    for (const text of everyTextOf(user)) {
      assert.notInclude(text, hashed)
      assert.include(text, "jane@example.com")
    }
    for (const text of everyTextOf({ nested: [user] })) assert.notInclude(text, hashed)
    assert.strictEqual(user.password, hashed)
  })
})

describe("Model.finalise", () => {
  it.effect("supplies missing values and makes an instance", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, jane)
      assert.instanceOf(user, User)
      assert.strictEqual(user.firstName, "Jane")
      assert.match(user.id, /^U[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
      assert.deepStrictEqual(user.roles, ["user"])
      assert.strictEqual(user.version, 1)
      assert.isTrue(yield* Converter.verifyContent("correct horse", user.password))
      assert.deepStrictEqual(Object.keys(user), ["id", "name", "email", "password", "roles", "created", "version"])
    }))

  it.effect("uses the current clock, and generates new values each time", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 hour")
      const finalise = Model.finalise(User, jane)
      const first = yield* finalise
      yield* TestClock.adjust("1 hour")
      const second = yield* finalise
      assert.strictEqual(DateTime.formatIso(first.created), "1970-01-01T01:00:00.000Z")
      assert.strictEqual(DateTime.formatIso(second.created), "1970-01-01T02:00:00.000Z")
      assert.notStrictEqual(first.id, second.id)
    }))

  it.effect("does not change given values", () =>
    Effect.gen(function*() {
      const created = DateTime.makeUnsafe(-1000)
      const user = yield* Model.finalise(User, { ...jane, id: "U1", roles: [], created, version: 7 })
      assert.strictEqual(user.id, "U1")
      assert.deepStrictEqual(user.roles, [])
      assert.isTrue(Equal.equals(user.created, created))
      assert.strictEqual(user.version, 7)
    }))

  it.effect("treats null as missing", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, { ...jane, address: null })
      assert.notProperty(user, "address")
      const { roles } = yield* Model.finalise(User, { ...jane, roles: null })
      assert.deepStrictEqual(roles, ["user"])
    }))

  it.effect("ignores unknown keys", () =>
    Effect.gen(function*() {
      const more = { ...jane, _type: "User", admin: true, __proto__: { version: 9 } }
      const user = yield* Model.finalise(User, more)
      assert.notProperty(user, "admin")
      assert.notProperty(user, "_type")
      assert.strictEqual(user.version, 1, "what an object inherits was not given")
    }))

  it.effect("makes instances of nested models, in fields, in lists and beside null", () =>
    Effect.gen(function*() {
      const { billing, lines, shipping } = yield* Model.finalise(Order, order)
      assert.instanceOf(billing, Address)
      assert.isNull(shipping)
      assert.strictEqual(lines.length, 2)
      for (const line of lines) assert.instanceOf(line, Line)
      assert.strictEqual(lines[1]!.sku, "b")
      assert.isTrue(DateTime.isDateTime(lines[1]!.added))
      const other = yield* Model.finalise(Order, { ...order, shipping: order.billing })
      assert.instanceOf(other.shipping, Address)
    }))

  it.effect("returns an instance unchanged", () =>
    Effect.gen(function*() {
      const first = yield* Model.finalise(User, { ...jane, address: { street: "Main", city: "Bern" } })
      const second = yield* Model.finalise(User, first)
      assert.deepStrictEqual(second, first)
      assert.instanceOf(second.address, Address)
    }))

  it.effect("finalises nested instances", () =>
    Effect.gen(function*() {
      class Account extends Model.Class<Account>()("Account", {
        secret: Schema.String.pipe(Model.converted((text) => Effect.succeed(text.toUpperCase())), Model.omitted)
      }) {}
      class Holder extends Model.Class<Holder>()("Holder", { account: Account }) {}
      const { account } = yield* Model.finalise(Holder, { account: new Account({ secret: "GIVEN" }) })
      assert.strictEqual(account.secret, "GIVEN")
    }))

  it.effect("supports recursive models", () =>
    Effect.gen(function*() {
      interface Stored {
        readonly name: string
        readonly secret?: string | null
        readonly children?: ReadonlyArray<Stored>
      }
      class Category extends Model.Class<Category>()("Category", {
        name: Schema.String.pipe(Validator.notEmpty),
        secret: Schema.String.pipe(Model.optional, Model.omitted),
        children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category)).pipe(
          Model.withDefault(() => [])
        )
      }) {}
      const leaf = { name: "leaf", children: [] }
      const root = yield* Model.finalise(Category, { name: "root", children: [{ name: "inner", children: [leaf] }] })
      assert.instanceOf(root.children[0]?.children[0], Category)
      const wrong = { name: "root", children: [{ name: "inner", children: [{ ...leaf, name: "" }] }] }
      const error = yield* Effect.flip(Model.finalise(Category, wrong))
      assert.strictEqual(error.field, "children.0.children.0.name")
    }))
})

describe("the order of finalisation", () => {
  const log: Array<string> = []
  const logged = <A>(entry: string, value: A) => Effect.sync(() => (log.push(entry), value))

  class Step extends Model.Class<Step>()("Step", {
    value: Schema.String.pipe(
      Validator.regexp(/^[a-z]+$/u),
      Model.generated(logged("generator", "generated")),
      Model.withDefault(() => (log.push("default"), "default")),
      Model.converted((text) => logged(`converter of ${text}`, text.toUpperCase())),
      Validator.regexp(/^[A-Z]+$/u)
    )
  }) {}

  it.effect("generates only missing values, converts them, and validates the result", () =>
    Effect.gen(function*() {
      log.length = 0
      assert.strictEqual((yield* Model.finalise(Step, {})).value, "GENERATED")
      assert.deepStrictEqual(log, ["generator", "converter of generated"])
      log.length = 0
      assert.strictEqual((yield* Model.finalise(Step, { value: "given" })).value, "GIVEN")
      assert.deepStrictEqual(log, ["converter of given"])
    }))

  it.effect("uses the default if no generator supplies a value", () =>
    Effect.gen(function*() {
      class Only extends Model.Class<Only>()("Only", {
        value: Schema.String.pipe(
          Model.withDefault(() => "default"),
          Model.converted((text) => Effect.succeed(text.toUpperCase())),
          Validator.regexp(/^[A-Z]+$/u)
        )
      }) {}
      assert.strictEqual((yield* Model.finalise(Only, {})).value, "DEFAULT")
    }))

  it.effect("applies the validators before a converter to its input, and those after it to its output", () =>
    Effect.gen(function*() {
      const before = yield* Effect.flip(Model.finalise(Step, { value: "not a word" }))
      assert.strictEqual(before.problems[0]?.message, "must match ^[a-z]+$")
      class Odd extends Model.Class<Odd>()("Odd", {
        value: Schema.String.pipe(Model.converted(() => Effect.succeed("")), Validator.notEmpty)
      }) {}
      const after = yield* Effect.flip(Model.finalise(Odd, { value: "given" }))
      assert.strictEqual(after.problems[0]?.validator, "NotEmpty")
    }))

  it("puts the validators before a converter into the input schemas, those after it into the stored and wire schemas", () => {
    const accepts = (schema: Schema.Top, value: string) => Schema.is(schema)({ _type: "Step", value })
    for (const schema of [Step.create, Step.patch]) {
      assert.deepStrictEqual([accepts(schema, "abc"), accepts(schema, "ABC")], [true, false])
    }
    for (const schema of [Step.store, Step.wire]) {
      assert.deepStrictEqual([accepts(schema, "abc"), accepts(schema, "ABC")], [false, true])
    }
  })

  it.effect("does not apply the validators before a converter to converted values", () =>
    Effect.gen(function*() {
      const step = yield* Model.finalise(Step, { value: "abc" })
      assert.deepStrictEqual(yield* Model.finalise(Step, step), step)
    }))

  it.effect("never passes a value of another type to a converter", () =>
    Effect.gen(function*() {
      // @ts-expect-error a number is not text
      const error = yield* Effect.flip(Model.finalise(Step, { value: 3 }))
      assert.deepStrictEqual(error.problems.map(({ validator }) => validator), ["Type"])
    }))

  it.effect("keeps the type of an integer", () =>
    Effect.gen(function*() {
      class Half extends Model.Class<Half>()("Half", {
        even: Schema.Int.pipe(Validator.min(2), Model.converted((n) => Effect.succeed(n > 9 ? n / 2 : n)))
      }) {}
      assert.strictEqual((yield* Model.finalise(Half, { even: 18 })).even, 9)
      const error = yield* Effect.flip(Model.finalise(Half, { even: 13 }))
      assert.deepStrictEqual(error.problems.map(({ message }) => message), ["must be a whole number"])
    }))

  it.effect("runs several converters one after the other", () =>
    Effect.gen(function*() {
      class Twice extends Model.Class<Twice>()("Twice", {
        value: Schema.String.pipe(
          Model.converted((text) => Effect.succeed(text.trim())),
          Model.converted((text) => Effect.succeed(text.toLowerCase()))
        )
      }) {}
      assert.strictEqual((yield* Model.finalise(Twice, { value: " A " })).value, "a")
    }))

  it.effect("passes a generator's defect on as a defect", () =>
    Effect.gen(function*() {
      class Broken extends Model.Class<Broken>()("Broken", {
        value: Schema.String.pipe(Model.generated(Effect.die("no entropy")))
      }) {}
      const exit = yield* Effect.exit(Model.finalise(Broken, {}))
      assert.deepStrictEqual(exit, Exit.die("no entropy"))
    }))
})
