import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, JsonSchema as EffectJsonSchema, Result, Schema, SchemaRepresentation } from "effect"
import { Converter, Generator, JsonSchema, Model, Validator } from "../../src/Model/index.ts"
import { compileSerialiser } from "../../src/Model/internal/serialiser.ts"

const Kind = Schema.Enum({ private: "private", company: "company" }).annotate({ identifier: "Kind" })

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty),
  note: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  email: Schema.String.pipe(Validator.email),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher()),
    Model.omitted
  ),
  age: Schema.Int.pipe(Validator.min(0), Validator.max(150), Model.optional),
  height: Schema.Finite.pipe(Model.optional),
  active: Schema.Boolean,
  kind: Kind,
  size: Schema.Literals(["S", "L"]).pipe(Model.optional),
  level: Schema.Enum({ low: 1, high: 2 }),
  roles: Schema.Array(Schema.String.pipe(Validator.max(10))).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  previous: Schema.Array(Address),
  invoice: Schema.NullOr(Address),
  nickname: Schema.NullOr(Schema.String),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  born: Model.Date.pipe(Model.optional),
  measures: Schema.Struct({ waist: Schema.Finite, neck: Schema.optionalKey(Schema.Finite) })
}) {}

const schema = JsonSchema.make(User)

const propertiesOf = (document: JsonSchema.JsonSchema) =>
  document["properties"] as { readonly [name: string]: JsonSchema.JsonSchema } // every model has properties

const properties = propertiesOf(schema)

/** Reads a JSON schema as a stranger does, and says whether the value fits it. */
const validatorOf = (document: JsonSchema.JsonSchema) => {
  const read = EffectJsonSchema.fromSchemaDraft07(document)
  // What a document of JSON is read as needs no services.
  const schema = SchemaRepresentation.fromJsonSchemaDocument(read, { patterns: "apply" }) as Schema.Codec<unknown>
  const decode = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })
  return (value: unknown) => Result.isSuccess(decode(value))
}

describe("JsonSchema.make", () => {
  it("is a draft-04 document of the model's wire form", () => {
    assert.deepInclude(schema, {
      $schema: "http://json-schema.org/draft-04/schema#",
      title: "User",
      type: "object",
      additionalProperties: true
    })
    assert.deepStrictEqual(Object.keys(properties), Object.keys(User.wire.fields))
    assert.deepStrictEqual(properties["_type"], { type: "string", enum: ["User"] })
  })

  it("requires what is always there", () => {
    const optional = new Set(["_type", "age", "height", "size", "address", "born"])
    assert.deepStrictEqual(
      schema["required"],
      Object.keys(User.wire.fields).filter((field) => !optional.has(field))
    )
  })

  it("has nothing of what is omitted, at no depth", () => {
    const text = JSON.stringify(schema)
    assert.notInclude(text, "password")
    assert.notInclude(text, "note")
  })

  it("has the types, formats and constraints of the fields", () => {
    assert.deepStrictEqual(properties["name"], { type: "string", minLength: 1 })
    assert.deepInclude(properties["email"], { type: "string", format: "email" })
    assert.deepStrictEqual(properties["active"], { type: "boolean" })
    assert.deepStrictEqual(properties["level"], { type: "number", enum: [1, 2] })
    assert.deepStrictEqual(properties["created"], { type: "string", format: "date-time" })
    assert.deepStrictEqual(properties["roles"], { type: "array", items: { type: "string", maxLength: 10 } })
    assert.deepStrictEqual(properties["measures"], {
      type: "object",
      properties: { waist: { type: "number" }, neck: { type: "number" } },
      required: ["waist"],
      additionalProperties: true
    })
  })

  it("allows null for what need not be there", () => {
    assert.deepStrictEqual(properties["age"], { type: ["integer", "null"], minimum: 0, maximum: 150 })
    assert.deepStrictEqual(properties["height"], { type: ["number", "null"] })
    assert.deepStrictEqual(properties["size"], { type: ["string", "null"], enum: ["S", "L", null] })
    assert.deepStrictEqual(properties["born"], { type: ["string", "null"], format: "date" })
    assert.deepStrictEqual(properties["nickname"], { type: ["string", "null"] })
    assert.deepStrictEqual(properties["address"], { anyOf: [{ $ref: "#/definitions/Address" }, { type: "null" }] })
    assert.deepStrictEqual(properties["invoice"], { anyOf: [{ $ref: "#/definitions/Address" }, { type: "null" }] })
  })

  it("defines nested models and named enumerations once, under their names", () => {
    assert.deepStrictEqual(properties["previous"], { type: "array", items: { $ref: "#/definitions/Address" } })
    assert.deepStrictEqual(properties["kind"], { $ref: "#/definitions/Kind" })
    assert.deepStrictEqual(schema["definitions"], {
      Kind: { type: "string", enum: ["private", "company"] },
      Address: {
        type: "object",
        properties: {
          _type: { type: "string", enum: ["Address"] },
          street: { type: "string" },
          city: { type: "string", minLength: 1 }
        },
        required: ["street", "city"],
        additionalProperties: true
      }
    })
  })

  it("has no definitions and no list of required fields where there are none", () => {
    class Note extends Model.Class<Note>()("Note", { text: Schema.String.pipe(Model.optional) }) {}
    assert.deepStrictEqual(JsonSchema.make(Note), {
      $schema: "http://json-schema.org/draft-04/schema#",
      title: "Note",
      type: "object",
      properties: { _type: { type: "string", enum: ["Note"] }, text: { type: ["string", "null"] } },
      additionalProperties: true
    })
  })

  it("refuses properties that are not the model's when asked to, at every depth", () => {
    const strict = JsonSchema.make(User, { additionalProperties: false })
    assert.isFalse(strict["additionalProperties"])
    assert.isFalse(propertiesOf(strict)["measures"]?.["additionalProperties"])
    assert.nestedPropertyVal(strict, "definitions.Address.additionalProperties", false)
  })

  it("refers to the root for a model that holds its own kind", () => {
    interface Stored {
      readonly children: ReadonlyArray<Stored>
    }
    class Category extends Model.Class<Category>()("Category", {
      children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category))
    }) {}
    const recursive = JsonSchema.make(Category)
    assert.deepStrictEqual(propertiesOf(recursive)["children"], { type: "array", items: { $ref: "#" } })
    assert.notProperty(recursive, "definitions")
  })

  const accepts = validatorOf(JsonSchema.make(User, { additionalProperties: false }))
  const serialise = compileSerialiser(User)
  const users = Arbitrary.schema(
    User.pipe(Schema.check(Schema.makeFilter(({ created }) => created.epochMilliseconds < 0)))
  )

  it.prop("accepts every document that the server writes", [users], ([user]) => {
    const { id, ...fields } = Schema.encodeSync(User)(user)
    const written: unknown = JSON.parse(serialise({ _id: id, ...fields }, "")!)
    assert.isTrue(accepts(written))
  })

  it.effect("refuses what the server never writes", () =>
    Effect.gen(function*() {
      const user = yield* Model.finalise(User, {
        name: "Jane",
        email: "jane@example.com",
        password: "correct horse",
        active: true,
        kind: "private",
        level: 1,
        previous: [{ street: "Main", city: "Bern" }],
        invoice: null,
        nickname: null,
        measures: { waist: 80 }
      })
      const { id, ...fields } = yield* Schema.encodeEffect(User)(user)
      const written: object = JSON.parse(serialise({ _id: id, ...fields }, "")!)
      assert.isTrue(accepts(written))
      const wrong: ReadonlyArray<object> = [
        { name: "" },
        { name: undefined },
        { email: "nowhere" },
        { age: -1 },
        { age: 1.5 },
        { kind: "other" },
        { level: 3 },
        { roles: "user" },
        { roles: ["far too long a role"] },
        { previous: [{ _type: "Address", street: "Main", city: "" }] },
        { password: "secret" },
        { _type: "Person" }
      ]
      for (const more of wrong) assert.isFalse(accepts(JSON.parse(JSON.stringify({ ...written, ...more }))))
    }))
})
