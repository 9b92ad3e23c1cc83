import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { Converter, Generator, Index, Model, Validator } from "../../src/Model/index.ts"

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty),
  note: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

const addressProps = {
  street: { label: "Address.street", required: true, type: "str" },
  city: { label: "Address.city", required: true, type: "str", validators: [{ type: "NotEmpty" }] }
}

/** The description of one field. */
const describing = (field: Model.Any["store"]["fields"][string] | Schema.Top) =>
  Model.metadata(Model.Class<unknown>()("Holder", { field: field as Schema.Top }))["field"] // fields are schemas or made of some

const typeOf = (field: Schema.Top) => describing(field)?.type

describe("Model.metadata", () => {
  it("says which texts are found by their words", () => {
    class Article extends Model.Class<Article>()("Article", {
      text: Schema.String.pipe(Model.indexed(Index.text())),
      code: Schema.String.pipe(Model.indexed(Index.plain))
    }) {}
    const { code, text } = Model.metadata(Article)
    assert.deepStrictEqual([text?.text_search, code?.text_search], [true, undefined])
  })

  it("describes the fields that a caller reads, with their labels", () => {
    class User extends Model.Class<User>()("User", {
      id: Model.id(),
      name: Schema.String.pipe(Validator.notEmpty, Validator.max(50)),
      password: Schema.String.pipe(Model.omitted),
      roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
      born: Model.Date.pipe(Validator.past, Model.optional),
      created: Model.DateTime.pipe(Model.generated(Generator.dateNow)),
      ...Model.versioned
    }) {}
    assert.deepStrictEqual(Model.metadata(User), {
      id: { label: "User.id", required: false, type: "str", validators: [{ type: "Url" }] },
      name: {
        label: "User.name",
        required: true,
        type: "str",
        validators: [{ type: "NotEmpty" }, { type: "Max", value: 50 }]
      },
      roles: { label: "User.roles", required: false, type: "list", sub_type: "str", default_value: ["user"] },
      born: { label: "User.born", required: false, type: "date", validators: [{ type: "Past" }] },
      created: { label: "User.created", required: false, type: "datetime" },
      version: { label: "User.version", required: false, type: "int" }
    })
  })

  it("uses the type names of the specification", () => {
    assert.strictEqual(typeOf(Schema.String), "str")
    assert.strictEqual(typeOf(Schema.NonEmptyString), "str")
    assert.strictEqual(typeOf(Schema.Int), "int")
    assert.strictEqual(typeOf(Schema.Int.pipe(Validator.min(3))), "int")
    assert.strictEqual(typeOf(Schema.Finite), "float")
    assert.strictEqual(typeOf(Schema.Boolean), "bool")
    assert.strictEqual(typeOf(Schema.Array(Schema.Int)), "list")
    assert.strictEqual(typeOf(Model.DateTime), "datetime")
    assert.strictEqual(typeOf(Model.Date), "date")
    assert.strictEqual(typeOf(Schema.Literals(["a", "b"])), "enum")
    assert.strictEqual(typeOf(Schema.Literals(["a", "b"]).annotate({ identifier: "Kind" })), "Kind")
    assert.strictEqual(typeOf(Schema.Enum({ a: "A" }).annotate({ identifier: "Letter" })), "Letter")
    assert.strictEqual(typeOf(Address), "Address")
    assert.strictEqual(typeOf(Schema.Union([Schema.String, Schema.Int])), "any")
    assert.strictEqual(typeOf(Schema.Record(Schema.String, Schema.Int)), "any")
  })

  it("describes the type of optional and nullable fields", () => {
    class Holder extends Model.Class<Holder>()("Holder", {
      text: Schema.NullOr(Schema.String),
      day: Model.Date.pipe(Model.optional),
      moment: Schema.NullOr(Model.DateTime).pipe(Model.optional),
      kind: Schema.Literals(["a"]).annotate({ identifier: "Kind" }).pipe(Model.optional),
      plain: Schema.optionalKey(Schema.Int),
      number: Schema.Int.pipe(Model.optional, Validator.min(1), Model.withDefault(() => 1)),
      address: Schema.NullOr(Address)
    }) {}
    const metadata = Model.metadata(Holder)
    assert.deepStrictEqual(Object.values(metadata).map(({ required, type }) => [type, required]), [
      ["str", true],
      ["date", false],
      ["datetime", false],
      ["Kind", false],
      ["int", false],
      ["int", false],
      ["Address", true]
    ])
    assert.deepStrictEqual(metadata["number"]?.validators, [{ type: "Min", value: 1 }])
  })

  it("describes the elements of lists", () => {
    assert.strictEqual(describing(Schema.Array(Model.DateTime))?.sub_type, "datetime")
    assert.strictEqual(describing(Schema.Array(Schema.NullOr(Schema.Int)))?.sub_type, "int")
    assert.strictEqual(describing(Schema.Array(Schema.Array(Schema.Int)))?.sub_type, "list")
    assert.deepStrictEqual(describing(Schema.Array(Address)), {
      label: "Holder.field",
      required: true,
      type: "list",
      sub_type: { type: "Address", props: addressProps }
    })
  })

  it("lists the values of enumerations, including those in lists", () => {
    assert.deepInclude(describing(Schema.Literals(["open", "paid"])), { type: "enum", values: ["open", "paid"] })
    const Level = Schema.Enum({ low: 1, high: 2 }).annotate({ identifier: "Level" })
    assert.deepInclude(describing(Level), { type: "Level", values: [1, 2] })
    class Holder extends Model.Class<Holder>()("Holder", {
      maybe: Schema.NullOr(Schema.Literals(["a", "b"])).pipe(Model.optional, Model.withDefault(() => "a" as const))
    }) {}
    assert.deepInclude(Model.metadata(Holder)["maybe"], { type: "enum", values: ["a", "b"], default_value: "a" })
    assert.deepInclude(describing(Schema.Array(Level)), {
      type: "list",
      sub_type: { type: "Level", values: [1, 2] }
    })
    assert.notProperty(describing(Schema.String), "values")
  })

  it("describes a nested model by its own metadata, without omitted fields", () => {
    class Holder extends Model.Class<Holder>()("Holder", { home: Address.pipe(Model.optional) }) {}
    assert.deepStrictEqual(Model.metadata(Holder)["home"], {
      label: "Holder.home",
      required: false,
      type: "Address",
      props: addressProps
    })
  })

  it("does not repeat a recursive model", () => {
    interface Stored {
      readonly children: ReadonlyArray<Stored>
    }
    class Category extends Model.Class<Category>()("Category", {
      children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category))
    }) {}
    const children = { label: "Category.children", required: true, type: "list", sub_type: { type: "Category" } }
    assert.deepStrictEqual(Model.metadata(Category), { children })
    class Shop extends Model.Class<Shop>()("Shop", { root: Category }) {}
    assert.deepStrictEqual(Model.metadata(Shop)["root"]?.props, { children })
  })

  it("has defaults in their wire form", () => {
    class Holder extends Model.Class<Holder>()("Holder", {
      since: Model.DateTime.pipe(Model.withDefault(() => DateTime.makeUnsafe(0))),
      home: Address.pipe(Model.withDefault(() => new Address({ street: "Main", city: "Bern", note: "CANARY" })))
    }) {}
    const { home, since } = Model.metadata(Holder)
    assert.strictEqual(since?.default_value, "1970-01-01T00:00:00.000000")
    assert.deepStrictEqual(home?.default_value, { _type: "Address", street: "Main", city: "Bern" })
  })

  it("has defaults that are stored in another form, or written as a text", () => {
    const at = DateTime.makeUnsafe(0)
    class Holder extends Model.Class<Holder>()("Holder", {
      at: Schema.DateTimeUtc.pipe(Model.withDefault(() => at)),
      link: Schema.URL.pipe(Model.withDefault(() => new URL("https://example.org/"))),
      names: Schema.ReadonlySet(Schema.String).pipe(Model.withDefault(() => new Set(["a"]))),
      wait: Schema.Duration.pipe(Model.withDefault(() => Duration.seconds(5))),
      maybe: Schema.Option(Schema.DateTimeUtc).pipe(Model.withDefault(() => Option.some(at))),
      literal: Schema.Literals([1n, 2n]).pipe(Model.withDefault(() => 1n)),
      size: Schema.BigInt.pipe(Model.withDefault(() => 5n)),
      parts: Schema.Struct({ at: Schema.DateTimeUtc }).pipe(Model.withDefault(() => ({ at })))
    }) {}
    const shown: unknown = JSON.parse(Effect.runSync(Model.dumps(new Holder({}))))
    const defaults = Object.entries(Model.metadata(Holder)).map(([name, field]) => [name, field.default_value])
    assert.deepStrictEqual({ _type: "Holder", ...Object.fromEntries(defaults) }, shown)
  })

  it("has the validators of the input and those of a converter's output", () => {
    class Holder extends Model.Class<Holder>()("Holder", {
      slug: Schema.String.pipe(
        Validator.max(20),
        Model.converted((text) => Effect.succeed(text.trim())),
        Validator.notEmpty
      ),
      hash: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()))
    }) {}
    const { hash, slug } = Model.metadata(Holder)
    assert.deepStrictEqual(slug?.validators, [{ type: "Max", value: 20 }, { type: "NotEmpty" }])
    assert.deepStrictEqual(hash?.validators, [{ type: "Min", value: 8 }])
  })
})
