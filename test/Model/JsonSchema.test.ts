import { assert, describe, it } from "@effect/vitest"
import {
  Arbitrary,
  DateTime,
  Effect,
  JsonSchema as EffectJsonSchema,
  pipe,
  Result,
  Schema,
  SchemaGetter,
  SchemaRepresentation,
  Struct
} from "effect"
import { type Collection, Double, Long, MongoServerError, ObjectId } from "mongodb"
import { inspect } from "node:util"
import { compileSerialiser } from "../../src/Model/codec/serialiser.ts"
import { Converter, Generator, type JsonSchema, Model, Validator } from "../../src/Model/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"
import { freshDatabase, onMongo, withClient } from "../support/mongo.ts"

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

const schema = Model.jsonSchema(User)

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

describe("Model.jsonSchema", () => {
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

  it("requires the fields that a caller has to send, like the metadata", () => {
    const required = Object.entries(Model.metadata(User)).flatMap(([field, { required }]) => required ? [field] : [])
    assert.deepStrictEqual(schema["required"], required)
    for (const field of ["id", "roles", "created"]) assert.notInclude(required, field)
    class Kept extends Model.Class<Kept>()("Kept", {
      id: Schema.String,
      ...Model.versioned,
      ...Model.audited,
      ...Model.historied,
      part: Address.pipe(Model.withDefault(() => new Address({ street: "a", city: "b" })))
    }) {}
    assert.deepStrictEqual(Model.jsonSchema(Kept)["required"], ["id"])
    assert.isTrue(Model.metadata(Kept)["id"]?.required)
  })

  it("has no omitted field at any depth", () => {
    const text = JSON.stringify(schema)
    assert.notInclude(text, "password")
    assert.notInclude(text, "note")
  })

  it("has the types, formats and constraints of the fields", () => {
    assert.deepStrictEqual(properties["name"], { type: "string", minLength: 1 })
    assert.deepInclude(properties["email"], { type: "string", format: "email" })
    assert.deepStrictEqual(properties["active"], { type: "boolean" })
    assert.deepStrictEqual(properties["level"], { type: "number", enum: [1, 2] })
    assert.deepInclude(properties["created"], { type: "string" })
    assert.deepStrictEqual(properties["roles"], { type: "array", items: { type: "string", maxLength: 10 } })
    assert.deepStrictEqual(properties["measures"], {
      type: "object",
      properties: { waist: { type: "number" }, neck: { type: "number" } },
      required: ["waist"],
      additionalProperties: true
    })
  })

  it("allows null for optional fields", () => {
    assert.deepStrictEqual(properties["age"], { type: ["integer", "null"], minimum: 0, maximum: 150 })
    assert.deepStrictEqual(properties["height"], { type: ["number", "null"] })
    assert.deepStrictEqual(properties["size"], { type: ["string", "null"], enum: ["S", "L", null] })
    assert.deepInclude(properties["born"], { type: ["string", "null"], format: "date" })
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

  it("has no definitions and no required list if both are empty", () => {
    class Note extends Model.Class<Note>()("Note", { text: Schema.String.pipe(Model.optional) }) {}
    assert.deepStrictEqual(Model.jsonSchema(Note), {
      $schema: "http://json-schema.org/draft-04/schema#",
      title: "Note",
      type: "object",
      properties: { _type: { type: "string", enum: ["Note"] }, text: { type: ["string", "null"] } },
      additionalProperties: true
    })
  })

  it("rejects undeclared properties on request, at every depth", () => {
    const strict = Model.jsonSchema(User, { additionalProperties: false })
    assert.isFalse(strict["additionalProperties"])
    assert.isFalse(propertiesOf(strict)["measures"]?.["additionalProperties"])
    assert.nestedPropertyVal(strict, "definitions.Address.additionalProperties", false)
  })

  it("still accepts the type and the links of the server's documents", () => {
    const strict = Model.jsonSchema(User, { additionalProperties: false })
    assert.sameMembers(Object.keys(propertiesOf(strict)), [...Object.keys(User.wire.fields), "_links"])
    assert.notNestedProperty(strict, "definitions.Address.properties._links")
    assert.nestedProperty(strict, "definitions.Address.properties._type")
  })

  it("accepts every key of a record, whether or not undeclared properties are rejected", () => {
    class Bag extends Model.Class<Bag>()("Bag", {
      counts: Schema.Record(Schema.String, Schema.Finite),
      more: Schema.StructWithRest(Schema.Struct({ a: Schema.Finite }), [Schema.Record(Schema.String, Schema.Finite)])
    }) {}
    assert.deepInclude(propertiesOf(Model.jsonSchema(Bag, { additionalProperties: false })), {
      counts: { type: "object", additionalProperties: { type: "number" } },
      more: {
        type: "object",
        properties: { a: { type: "number" } },
        required: ["a"],
        additionalProperties: true,
        allOf: [{ type: "object", additionalProperties: { type: "number" } }]
      }
    })
  })

  it("accepts the model as first or last argument", () => {
    const options = { additionalProperties: false }
    assert.deepStrictEqual(pipe(User, Model.jsonSchema()), schema)
    assert.deepStrictEqual(pipe(User, Model.jsonSchema(options)), Model.jsonSchema(User, options))
  })

  it("describes a date-time by a pattern that the server's own and RFC 3339's match", () => {
    const { format, pattern } = properties["created"]!
    assert.strictEqual(format, "date-time")
    const matches = (text: string) => new RegExp(pattern as string, "u").test(text) // a pattern is text
    for (const text of ["2026-01-31T09:30:00.123000", "2026-01-31T09:30:00Z", "2024-02-29T23:59:59.1+01:00"]) {
      assert.isTrue(matches(text), text)
    }
    for (const text of ["2026-01-31", "2026-02-29T09:30:00", "2026-01-31T24:00:00", "2026-01-31T09:30:00+1"]) {
      assert.isFalse(matches(text), text)
    }
  })

  it("describes a date by its format and the pattern of the calendar's days", () => {
    const { format, pattern } = properties["born"]!
    assert.strictEqual(format, "date")
    const matches = (text: string) => new RegExp(pattern as string, "u").test(text) // a pattern is text
    for (const text of ["2026-01-31", "2024-02-29", "0000-12-31"]) assert.isTrue(matches(text), text)
    for (const text of ["2026-02-29", "2026-1-1", "2026-01-31T09:30:00", "2026-04-31"]) {
      assert.isFalse(matches(text), text)
    }
  })

  it("keeps titles and descriptions, those of date-times and of keys included", () => {
    class Trip extends Model.Class<Trip>()("Trip", {
      goal: Schema.String.annotate({ title: "Goal", description: "Where it goes" }),
      start: Model.DateTime.annotate({ description: "When it starts" }),
      seats: Schema.Finite.pipe(Schema.annotateKey({ description: "How many may come" }))
    }) {}
    const { goal, seats, start } = propertiesOf(Model.jsonSchema(Trip))
    assert.deepStrictEqual(goal, { type: "string", title: "Goal", description: "Where it goes" })
    assert.deepInclude(start, { type: "string", description: "When it starts" })
    assert.deepStrictEqual(seats, { type: "number", description: "How many may come" })
  })

  it("leaves out what draft-04 can't express", () => {
    class Odd extends Model.Class<Odd>()("Odd", {
      keys: Schema.Record(Schema.String, Schema.Finite).check(
        Schema.isPropertyNames(Schema.String.check(Schema.isMinLength(2))),
        Schema.isMinProperties(1)
      ),
      file: Schema.Uint8Array,
      pattern: Schema.String.pipe(Validator.regexp(/^a$/i), Validator.max(3)),
      whatever: Schema.Unknown
    }) {}
    assert.deepInclude(propertiesOf(Model.jsonSchema(Odd, { additionalProperties: false })), {
      keys: { type: "object", additionalProperties: { type: "number" }, minProperties: 1 },
      file: { type: "string", format: "byte" },
      pattern: { type: "string", maxLength: 3 },
      whatever: {}
    })
  })

  it("writes a pattern without the flag `u` if it matches the same with it", () => {
    class Coded extends Model.Class<Coded>()("Coded", {
      code: Schema.String.pipe(Validator.regexp(/^[A-Z]{3}-\d{4}$/)),
      plain: Schema.String.check(Schema.isPattern(/^[a-z]+$/)),
      three: Schema.String.pipe(Validator.regexp(/^.{3}$/)),
      keys: Schema.Record(Schema.String.check(Schema.isPattern(/^x-/)), Schema.Finite)
    }) {}
    const { code, keys, plain, three } = propertiesOf(Model.jsonSchema(Coded))
    assert.deepStrictEqual(code, { type: "string", pattern: "^[A-Z]{3}-\\d{4}$" })
    assert.deepStrictEqual(plain, { type: "string", pattern: "^[a-z]+$" })
    // Of a key, a character beyond U+FFFF is two, of which JSON schema knows one.
    assert.deepStrictEqual(three, { type: "string" })
    assert.deepStrictEqual(keys?.["patternProperties"], { "^x-": { type: "number" } })
    const stored = propertiesOf(Model.jsonSchema(Coded, { mongoCompatibility: true }))
    assert.deepInclude(stored["code"], { pattern: "^[A-Z]{3}-\\d{4}\\z" })
  })

  it("uses a rule's own keywords, those of draft-04 and of later drafts", () => {
    const says = (jsonSchema: EffectJsonSchema.JsonSchema) =>
      Schema.makeFilter(() => true, { toJsonSchema: () => jsonSchema })
    class Spoken extends Model.Class<Spoken>()("Spoken", {
      old: Schema.Finite.check(says({ minimum: 1, exclusiveMinimum: true })),
      young: Schema.Finite.check(says({ exclusiveMinimum: 1 })),
      other: Schema.String.check(says({ not: { enum: ["a"] } }), says({ maxLength: 3 })),
      struct: Schema.Struct({ a: Schema.optionalKey(Schema.String) }).check(says({ dependencies: { b: ["a"] } }))
    }) {}
    const exclusive = { type: "number", minimum: 1, exclusiveMinimum: true }
    assert.deepInclude(propertiesOf(Model.jsonSchema(Spoken)), {
      old: exclusive,
      young: exclusive,
      other: { type: "string", maxLength: 3, allOf: [{ not: { enum: ["a"] } }] },
      struct: {
        type: "object",
        properties: { a: { type: "string" } },
        additionalProperties: true,
        allOf: [{ dependencies: { b: ["a"] } }]
      }
    })
  })

  it("distinguishes schemas of the same name, and recognises an optional one", () => {
    const first = Schema.Struct({ a: Model.Date }).annotate({ identifier: "Part" })
    const second = Schema.Struct({ b: Model.Date }).annotate({ identifier: "Part" })
    class Whole extends Model.Class<Whole>()("Whole", {
      first,
      second,
      third: Schema.optionalKey(first),
      fourth: second.pipe(Model.optional)
    }) {}
    const whole = Model.jsonSchema(Whole)
    assert.deepInclude(propertiesOf(whole), {
      first: { $ref: "#/definitions/Part" },
      second: { $ref: "#/definitions/Part_1" },
      third: { anyOf: [{ $ref: "#/definitions/Part" }, { type: "null" }] },
      fourth: { anyOf: [{ $ref: "#/definitions/Part_1" }, { type: "null" }] }
    })
    assert.nestedPropertyVal(whole, "definitions.Part.properties.a.format", "date")
    assert.nestedPropertyVal(whole, "definitions.Part_1.properties.b.format", "date")
    assert.hasAllKeys(whole["definitions"], ["Part", "Part_1"])
  })

  it("defines recursive schemas, with a name or without", () => {
    interface Branch {
      readonly branches: ReadonlyArray<Branch>
    }
    const Branch = Schema.Struct({ branches: Schema.Array(Schema.suspend((): Schema.Codec<Branch> => Branch)) })
    class Plant extends Model.Class<Plant>()("Plant", {
      branch: Branch,
      named: Branch.annotate({ identifier: "a/b" })
    }) {}
    const { definitions, properties } = Model.jsonSchema(Plant)
    const branch = (name: string) => ({
      type: "object",
      properties: { branches: { type: "array", items: { $ref: `#/definitions/${name}` } } },
      required: ["branches"],
      additionalProperties: true
    })
    assert.deepInclude(properties, {
      branch: { $ref: "#/definitions/Recursive" },
      named: { $ref: "#/definitions/a~1b" }
    })
    assert.deepStrictEqual(definitions, { Recursive: branch("Recursive"), "a/b": branch("Recursive") })
  })

  it("refers to the root for a recursive model", () => {
    interface Stored {
      readonly children: ReadonlyArray<Stored>
    }
    class Category extends Model.Class<Category>()("Category", {
      children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category))
    }) {}
    const recursive = Model.jsonSchema(Category)
    assert.deepStrictEqual(propertiesOf(recursive)["children"], { type: "array", items: { $ref: "#" } })
    assert.notProperty(recursive, "definitions")
  })

  const accepts = validatorOf(Model.jsonSchema(User, { additionalProperties: false }))
  const serialise = compileSerialiser(User)
  const users = Arbitrary.schema(
    User.pipe(Schema.check(Schema.makeFilter(({ created }) => created.epochMilliseconds < 0)))
  )

  it.prop("accepts every document that the server writes", [users], ([user]) => {
    const { id, ...fields } = Schema.encodeSync(User)(user)
    const written: unknown = JSON.parse(serialise({ _id: id, ...fields }, "")!)
    assert.isTrue(accepts(written))
  })

  it.effect("rejects documents that the server never writes", () =>
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

/** Seconds since 1970, in the store and on the wire. */
const Seconds = Schema.Finite.pipe(
  Schema.decodeTo(Schema.DateTimeUtc, {
    decode: SchemaGetter.transform((seconds: number) => DateTime.makeUnsafe(seconds * 1000)),
    encode: SchemaGetter.transform((moment) => moment.epochMilliseconds / 1000)
  })
)

class Stored extends Model.Class<Stored>()("Stored", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(5)),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  code: Schema.String.pipe(Validator.regexp(/^[A-Z]{2}\u002d\d+$/u)),
  email: Schema.String.pipe(Validator.email, Model.optional),
  count: Schema.Int.pipe(Validator.min(0)),
  weight: Schema.Finite.pipe(Model.optional),
  share: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMaximum: true })),
  active: Schema.Boolean.pipe(Model.withDefault(() => true)),
  kind: Kind,
  level: Schema.Literals([1, 2]).pipe(Model.optional),
  seen: Seconds,
  created: Model.DateTime,
  born: Model.Date.pipe(Model.optional),
  days: Schema.Array(Model.Date).pipe(Validator.max(2)),
  tags: Schema.UniqueArray(Schema.String.pipe(Validator.max(3))),
  pair: Schema.Tuple([Schema.String, Schema.Int]),
  counts: Schema.Record(Schema.String.check(Schema.isPattern(/^[a-z]+$/u)), Schema.Int),
  either: Schema.Union([Schema.String, Schema.Finite]),
  nickname: Schema.NullOr(Schema.String),
  maybe: Schema.optionalKey(Schema.String),
  bytes: Schema.Uint8Array,
  address: Address.pipe(Model.optional),
  previous: Schema.Array(Address),
  // An instance has one, and no caller sees it.
  owner: Schema.instanceOf(ObjectId).pipe(Schema.annotate({ bsonType: "objectId" }), Model.optional, Model.omitted)
}) {}

const stored = Model.jsonSchema(Stored, { mongoCompatibility: true })

const address = {
  bsonType: "object",
  properties: {
    street: { bsonType: "string" },
    city: { bsonType: "string", minLength: 1 },
    note: { bsonType: ["string", "null"] }
  },
  required: ["street", "city"],
  additionalProperties: true
}

describe("Model.jsonSchema for MongoDB", () => {
  const fields = propertiesOf(stored)
  const whole = { bsonType: ["int", "long", "double"], multipleOf: 1 }

  it("describes the stored document with omitted fields and the stored identifier", () => {
    assert.deepInclude(stored, { title: "Stored", bsonType: "object", additionalProperties: true })
    assert.sameMembers(Object.keys(fields), Object.keys(Stored.fields).map((field) => field === "id" ? "_id" : field))
    assert.deepStrictEqual(fields["_id"], { bsonType: "string", minLength: 1, maxLength: 1000 })
    const { bsonType, pattern } = fields["password"] as { readonly bsonType: string; readonly pattern: string }
    assert.strictEqual(bsonType, "string")
    const inJavaScript = new RegExp(pattern.replace("\\z", "$"), "u")
    assert.match("$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90", inJavaScript)
    assert.notMatch("correct horse", inJavaScript)
  })

  it("requires fields that every document has; a field with a default may be missing in old ones", () => {
    const optional = new Set(["email", "weight", "active", "level", "born", "maybe", "address", "owner"])
    assert.deepStrictEqual(stored["required"], Object.keys(fields).filter((field) => !optional.has(field)))
  })

  it("has the types of stored values", () => {
    assert.deepInclude(fields["count"], whole)
    assert.deepStrictEqual(fields["weight"], { bsonType: ["number", "null"] })
    assert.deepStrictEqual(fields["seen"], { bsonType: "number" })
    assert.deepStrictEqual(fields["active"], { bsonType: "bool" })
    assert.deepStrictEqual(fields["created"], { bsonType: "date" })
    assert.deepStrictEqual(fields["born"], { bsonType: ["date", "null"] })
    assert.deepStrictEqual(fields["days"], { bsonType: "array", items: { bsonType: "date" }, maxItems: 2 })
    assert.deepStrictEqual(fields["bytes"], { bsonType: "binData" })
    assert.deepStrictEqual(fields["owner"], { bsonType: ["objectId", "null"] })
    assert.deepStrictEqual(fields["nickname"], { bsonType: ["string", "null"] })
    assert.deepStrictEqual(fields["kind"], { bsonType: "string", enum: ["private", "company"] })
    assert.deepStrictEqual(fields["level"], { bsonType: ["number", "null"], enum: [1, 2, null] })
  })

  it("has the constraints of stored values", () => {
    assert.deepStrictEqual(fields["name"], { bsonType: "string", minLength: 1, maxLength: 5 })
    assert.deepStrictEqual(fields["share"], { bsonType: "number", minimum: 0, maximum: 1, exclusiveMaximum: true })
    assert.deepStrictEqual(fields["tags"], {
      bsonType: "array",
      items: { bsonType: "string", maxLength: 3 },
      uniqueItems: true
    })
  })

  it("inlines nested models", () => {
    assert.deepStrictEqual(fields["address"], { ...address, bsonType: ["object", "null"] })
    assert.deepStrictEqual(fields["previous"], { bsonType: "array", items: address })
  })

  it("accepts any object for a recursive reference", () => {
    interface StoredNode {
      readonly id: string
      readonly next?: StoredNode | null
      readonly parts: ReadonlyArray<StoredNode>
    }
    class Node extends Model.Class<Node>()("Node", {
      id: Model.id(),
      next: Schema.suspend((): Schema.Codec<Node, StoredNode> => Node).pipe(Model.optional),
      parts: Schema.Array(Schema.suspend((): Schema.Codec<Node, StoredNode> => Node))
    }) {}
    class List extends Model.Class<List>()("List", { first: Node }) {}
    const node = (id: string) => ({
      bsonType: "object",
      properties: {
        [id]: { bsonType: "string", minLength: 1, maxLength: 1000 },
        next: { bsonType: ["object", "null"] },
        parts: { bsonType: "array", items: { bsonType: "object" } }
      },
      required: [id, "parts"],
      additionalProperties: true
    })
    assert.deepStrictEqual(Model.jsonSchema(Node, { mongoCompatibility: true }), { title: "Node", ...node("_id") })
    assert.deepStrictEqual(propertiesOf(Model.jsonSchema(List, { mongoCompatibility: true })), { first: node("id") })
  })

  it("rejects undeclared properties on request, except the identifier", () => {
    class Measure extends Model.Class<Measure>()("Measure", { at: Model.DateTime, size: Address }) {}
    const strict = Model.jsonSchema(Measure, { mongoCompatibility: true, additionalProperties: false })
    assert.deepStrictEqual(strict, {
      title: "Measure",
      bsonType: "object",
      properties: { at: { bsonType: "date" }, size: { ...address, additionalProperties: false }, _id: {} },
      required: ["at", "size"],
      additionalProperties: false
    })
  })

  it.each([
    [/^[a-z]+$/u, "^[a-z]+\\z"],
    [
      /^.\s$/u,
      "^[^\\n\\r\u2028\u2029][\\x09-\\x0d\\x20\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]\\z"
    ],
    [/[.$[(?<>]/u, "[.$\\[(?<>]"],
    [/\u00e9\u{1f511}\ud83d\udd11\x41\u002a\x7f/u, "é🔑🔑A\\*\\x7f"],
    [/^\p{Lu}\P{L}\p{Script=Greek}/u, "^\\p{Lu}\\P{L}\\p{Greek}"],
    [/(?<year>\d{4})(?:a|(?=b)|(?!c))\v\0[\b]/u, "(\\d{4})(?:a|(?=b)|(?!c))\\x0b\\x00[\\x08]"],
    [/🔑[^\w\-/]*/u, "🔑[^\\w\\-/]*"]
  ])("writes the pattern %s so that PCRE reads it as JavaScript does", (pattern, expected) => {
    class Text extends Model.Class<Text>()("Text", { text: Schema.String.pipe(Validator.regexp(pattern)) }) {}
    const { text } = propertiesOf(Model.jsonSchema(Text, { mongoCompatibility: true }))
    assert.deepStrictEqual(text, { bsonType: "string", pattern: expected })
  })

  it.each([
    /a/i,
    /(?<=a)b/u,
    /(a)?\1/u,
    /(?<a>a)\k<a>/u,
    /[^]/u,
    new RegExp("[]", "u"),
    /[\S]/u,
    /\cA/u,
    /\ud800/u,
    /\p{Emoji}/u,
    /\p{Letter}/u,
    /\p{sc=Grek}/u,
    /[a--b]/v
  ])("leaves out the pattern %s, which PCRE does not read so", (pattern) => {
    class Text extends Model.Class<Text>()("Text", {
      text: Schema.String.pipe(Validator.regexp(pattern)),
      keys: Schema.Record(Schema.String.check(Schema.isPattern(pattern)), Schema.String)
    }) {}
    const { keys, text } = propertiesOf(
      Model.jsonSchema(Text, { mongoCompatibility: true, additionalProperties: false })
    )
    assert.deepStrictEqual(text, { bsonType: "string" })
    assert.notProperty(keys, "patternProperties")
    assert.notPropertyVal(keys, "additionalProperties", false)
  })
})

onMongo("Model.jsonSchema for MongoDB / mongodb", (_, server) => {
  const { toDocument } = documentCodec(Stored)
  const documents = Arbitrary.schema(Stored.mapFields(Struct.omit(["owner"]))).pipe(
    Arbitrary.map((fields) => toDocument(new Stored({ ...fields, owner: new ObjectId() }))),
    // A server that is written in Python has no year 0.
    Arbitrary.filter(({ born, created, days }) =>
      [created, born, days].flat().every((day) => !(day instanceof Date) || day.getUTCFullYear() > 0)
    )
  )

  /** A collection that takes only documents of the schema. */
  const guarded = (schema: JsonSchema.JsonSchema, use: (stored: Collection) => Promise<void>) =>
    Effect.flatMap(freshDatabase(server), (name) =>
      withClient(server, async (client) => {
        await use(await client.db(name).createCollection("Stored", { validator: { $jsonSchema: schema } }))
      }))

  /** Whether the collection takes the document; what else goes wrong is none of its business. */
  const takes = (stored: Collection, document: object) =>
    stored.insertOne({ ...document }, { ignoreUndefined: true }).then(() => true, (error: unknown) => {
      assert.isTrue(error instanceof MongoServerError && error.code === 121, String(error))
      return false
    })

  it.effect.each([true, false])(
    "takes what the repository writes, with additionalProperties %s",
    (additionalProperties) =>
      Effect.gen(function*() {
        const samples = yield* Arbitrary.sampleEffect(documents, { count: 100 })
        yield* guarded(Model.jsonSchema(Stored, { mongoCompatibility: true, additionalProperties }), async (stored) => {
          for (const [i, sample] of samples.entries()) {
            const document = { ...sample, _id: `S${i}` }
            assert.isTrue(await takes(stored, document), inspect(document))
          }
        })
      })
  )

  const place = { street: "Main", city: "Bern" }

  const document = {
    name: "Jane",
    password: "$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90",
    code: "AB-12",
    count: 3,
    share: 0.5,
    active: true,
    kind: "private",
    seen: 1.5,
    created: new Date(0),
    days: [new Date(0)],
    tags: ["a", "b"],
    pair: ["a", 1],
    counts: { a: 1 },
    either: 1,
    nickname: null,
    bytes: new Uint8Array([1]),
    previous: [place]
  }

  it.effect("accepts all number types, null in optional fields, and unknown properties", () =>
    guarded(stored, async (collection) => {
      const right: ReadonlyArray<object> = [
        {},
        { count: 2 ** 40 },
        { count: Long.fromNumber(5) },
        { count: new Double(5) },
        { share: new Double(0), seen: Long.fromNumber(5), either: new Double(1.5) },
        { weight: 1, level: 2, email: "jane@example.com", born: new Date(0), address: place, owner: new ObjectId() },
        { weight: null, level: null, email: null, born: null, address: null, owner: null },
        { address: { ...place, note: null } },
        { counts: {}, days: [], tags: [], previous: [] },
        { unknown: 1, address: { ...place, unknown: 1 } }
      ]
      for (const [i, more] of right.entries()) {
        assert.isTrue(await takes(collection, { _id: `S${i}`, ...document, ...more }), JSON.stringify(more))
      }
    }))

  const wrong: ReadonlyArray<object> = [
    { _id: "" },
    { _id: 1 },
    { name: "" },
    { name: "Janine" },
    { name: null },
    { password: undefined },
    { password: "correct horse" },
    { code: "AB_12" },
    { code: "AB-12\n" },
    { email: "jane" },
    { count: 1.5 },
    { count: -1 },
    { count: "1" },
    { share: 1 },
    { weight: "1" },
    { active: 1 },
    { active: null },
    { kind: "other" },
    { level: 3 },
    { seen: new Date(0) },
    { created: "1970-01-01" },
    { created: 0 },
    { born: "1970-01-01" },
    { days: [null] },
    { days: [new Date(0), new Date(1), new Date(2)] },
    { tags: ["a", "a"] },
    { tags: ["long"] },
    { pair: ["a"] },
    { pair: ["a", 1, 2] },
    { counts: { a: "1" } },
    { either: true },
    { nickname: undefined },
    { bytes: "AQ==" },
    { address: { street: "Main" } },
    { address: { ...place, city: "" } },
    { previous: null },
    { previous: [null] },
    { previous: [{ ...place, city: 1 }] },
    { owner: "5f0000000000000000000000" }
  ]

  it.effect("rejects other documents with error 121", () =>
    guarded(stored, async (collection) => {
      assert.isTrue(await takes(collection, { _id: "S1", ...document }))
      for (const [i, more] of wrong.entries()) {
        assert.isFalse(await takes(collection, { _id: `S2${i}`, ...document, ...more }), JSON.stringify(more))
      }
    }))

  it.effect("rejects unknown properties on request", () =>
    guarded(
      Model.jsonSchema(Stored, { mongoCompatibility: true, additionalProperties: false }),
      async (collection) => {
        assert.isTrue(await takes(collection, { _id: "S1", ...document }))
        for (const more of [{ unknown: 1 }, { counts: { A: 1 } }, { address: { ...place, unknown: 1 } }]) {
          assert.isFalse(await takes(collection, { _id: "S2", ...document, ...more }), JSON.stringify(more))
        }
      }
    ))
})
