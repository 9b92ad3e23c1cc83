import { assert, describe, it } from "@effect/vitest"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Validator as DocumentValidator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import * as OpenApi from "../../src/Http/OpenApi.ts"
import { withArticle } from "../../src/Http/openapi/texts.ts"
import * as Preconditions from "../../src/Http/request/preconditions.ts"
import {
  History,
  KernelConfig,
  KernelEngine,
  Model,
  Resource,
  Service,
  ServiceError,
  Validator
} from "../../src/index.ts"
import { Badge, newUser, Note, User } from "../support/models.ts"
import { resolvedDocument } from "../support/resolvedDocument.ts"

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", {
  status: 403,
  fields: { attempts: Schema.Int }
}) {}

class Receipt extends Model.Class<Receipt>()("Receipt", {
  id: Model.id({ prefix: "P" }),
  at: Model.DateTime.annotate({ title: "Payment", description: "When it was paid" }),
  amount: Schema.Finite.pipe(Validator.min(0.05)),
  currency: Schema.Literals(["CHF", "EUR"]).pipe(Model.withDefault(() => "CHF" as const)),
  reference: Schema.String.annotate({ description: "What it is for" }).pipe(Validator.regexp(/^[A-Z]{2}-\d+$/u)),
  codes: Schema.Array(Schema.String).pipe(Validator.unique),
  ...Model.audited
}) {}

/** A model that holds its own kind. */
interface StoredFolder {
  readonly id: string
  readonly folders: ReadonlyArray<StoredFolder>
}
class Folder extends Model.Class<Folder>()("Folder", {
  id: Model.id(),
  folders: Schema.Array(Schema.suspend((): Schema.Codec<Folder, StoredFolder> => Folder))
}) {}

const Users = Resource.make(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("change_password", {
    payload: { current_password: Schema.String, new_password: Schema.String.check(Schema.isMinLength(8)) },
    success: Schema.String,
    error: WrongPassword
  }, () => Effect.succeed("changed"))
  .action(
    "friends",
    { success: Schema.Array(User), deprecated: true, tags: ["social", "users"] },
    () => Effect.succeed([])
  )

const Payments = Service.make("PaymentService")
  .operation("pay", {
    path: "/pay",
    summary: "Pay an order",
    description: "Once.",
    tags: ["orders", "money"],
    payload: Receipt,
    success: Receipt
  }, () => Effect.die("not called"))
  .operation("rates", {
    path: "./{currency}",
    query: { day: Schema.optionalKey(Schema.String) },
    success: Schema.Struct({ rate: Schema.Finite })
  }, () => Effect.succeed({ rate: 1 }))
  .operation("ping", {}, () => Effect.void)

const engine = KernelEngine.make("documented")
  .register(Users, { urlBase: "/api/v1", tags: ["people", "users"] })
  .register(Note, { methods: ["POST"], enableHateoas: false })
  .register(Badge, { urlBase: "/api/v1" })
  .register(Folder)
  .register(Payments, { urlBase: "/api/v1", tags: ["money"] })

const document = OpenApi.make(engine, { title: "Shop", version: "1.2.3" })

// The tests look into objects of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
const { components: { schemas }, paths }: any = resolvedDocument(document)

const made = (...input: Parameters<typeof OpenApi.make>): Json => resolvedDocument(OpenApi.make(...input))

const users = paths["/api/v1/users"]
const user = paths["/api/v1/users/{id}"]

describe("OpenApi", () => {
  describe("as a document", () => {
    it("is valid for the official schema of OpenAPI 3.1", async () => {
      const validator = new DocumentValidator()
      const { errors, valid } = await validator.validate({ ...structuredClone(document) })
      assert.deepStrictEqual([valid, errors, validator.version], [true, undefined, "3.1"])
    })

    it("has no errors in Redocly's linter", async () => {
      const config = await createConfig({ extends: ["recommended"] })
      const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config })
      assert.deepStrictEqual(
        problems.filter(({ severity }) => severity === "error").map(({ message, ruleId }) => `${ruleId}: ${message}`),
        []
      )
    })

    it("has valid schemas that accept the requests and responses", () => {
      const ajv = new Ajv2020({ strict: false, validateFormats: false })
      ajv.addSchema({ $id: "document", components: document.components })
      const accepts = (name: string, value: unknown) =>
        ajv.validate({ $ref: `document#/components/schemas/${name}` }, value)
      for (const name of Object.keys(schemas)) assert.isBoolean(accepts(name, {}))
      assert.isTrue(accepts("UserCreate", { ...newUser(), address: null, unknown: 1 }))
      assert.isFalse(accepts("UserCreate", { ...newUser(), password: "short" }))
      assert.isTrue(accepts("UserPatch", { age: null }))
      const folder = { _type: "Folder", id: "1", folders: [{ _type: "Folder", id: "2", folders: [] }] }
      assert.isTrue(accepts("Folder", folder))
      assert.isFalse(accepts("Folder", { ...folder, folders: [{ id: 2 }] }))
    })

    it("refers to every component, and to no missing one", () => {
      const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/gu)].map(([, name]) =>
        name
      )
      assert.sameMembers([...new Set(named)], Object.keys(schemas))
    })

    it("is the same every time, and is plain data", () => {
      assert.deepStrictEqual(OpenApi.make(engine, { title: "Shop", version: "1.2.3" }), document)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(document)), document)
    })

    it("has each model once, by its name", () => {
      assert.sameMembers(
        Object.keys(schemas).filter((name) => /^(?:User|Address|Folder|Receipt|Note)/u.test(name)),
        ["User", "UserCreate", "UserPatch", "UserSelection", "Address", "AddressCreate", "AddressPatch", "AddressPart"]
          .concat(["Folder", "FolderSelection", "FolderPart", "Receipt", "ReceiptCreate", "Note", "NoteCreate"])
      )
    })
  })

  describe("versioning, as specified", () => {
    it("6: every operation has the tags of the registration, followed by its own", () => {
      assert.deepStrictEqual(users.get.tags, ["people", "users"])
      assert.deepStrictEqual(paths["/api/v1/users/{id}/change_password"].post.tags, ["people", "users"])
      assert.deepStrictEqual(paths["/api/v1/users/{id}/friends"].get.tags, ["people", "users", "social"])
      assert.deepStrictEqual(paths["/api/v1/pay"].post.tags, ["money", "orders"])
      assert.deepStrictEqual(paths["/folders"].get.tags, ["folders"])
      assert.sameMembers(
        document.tags.map(({ name }) => name),
        ["people", "users", "social", "notes", "badges", "folders", "money", "orders"]
      )
    })

    it("7: only deprecated operations are marked as deprecated", () => {
      assert.isTrue(paths["/api/v1/users/{id}/friends"].get.deprecated)
      assert.strictEqual(JSON.stringify(document).match(/"deprecated":/gu)?.length, 1)
    })

    it("8: it is OpenAPI 3.1.0, with the configured title and version", () => {
      assert.strictEqual(document.openapi, "3.1.0")
      assert.deepStrictEqual(document.info, { title: "Shop", version: "1.2.3" })
    })

    it("8: bodies are those of the models that an operation names", () => {
      const { post } = paths["/api/v1/pay"]
      assert.deepStrictEqual(bodyOf(post.requestBody), ref("ReceiptCreate"))
      assert.deepStrictEqual(bodyOf(post.responses[200]), ref("Receipt"))
      assert.deepStrictEqual([post.summary, post.description], ["Pay an order", "Once."])
    })

    it("8: bodies of the built-in routes are those of the model's class", () => {
      assert.deepStrictEqual(bodyOf(users.post.requestBody).anyOf[0], ref("UserCreate"))
      assert.deepStrictEqual(bodyOf(user.put.requestBody), ref("UserCreate"))
      assert.deepStrictEqual(bodyOf(user.patch.requestBody), ref("UserPatch"))
    })

    it("8: an unknown body is an object", () => {
      const api = HttpApi.make("x").add(
        HttpApiGroup.make("g").add(
          HttpApiEndpoint.post("any", "/any", { payload: Schema.Unknown, success: Schema.Unknown })
        )
      )
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made({ api, registrations: [] }, { title: "", version: "" })
      assert.deepStrictEqual(bodyOf(paths["/any"].post.requestBody), { type: "object" })
      assert.deepStrictEqual(bodyOf(paths["/any"].post.responses[200]), { type: "object" })
    })

    it("9: a collection is an inline object with its type, its items and links", () => {
      const schema = bodyOf(users.get.responses[200])
      assert.strictEqual(schema.type, "object")
      assert.strictEqual(schema.properties._type.type, "string")
      const items = { anyOf: [ref("User"), ref("UserSelection")] }
      assert.deepStrictEqual(schema.properties._items, { type: "array", items })
      assert.deepStrictEqual(schema.properties._links, ref("Links"))
      assert.strictEqual(schemas.Links.type, "object")
    })

    it("9: single GET, POST and PUT refer to the model; writes return it if the request prefers that", () => {
      assert.deepStrictEqual(bodyOf(user.get.responses[200]), { anyOf: [ref("User"), ref("UserSelection")] })
      for (
        const answer of [
          users.post.responses[201],
          users.post.responses[200],
          user.put.responses[200],
          user.patch.responses[200]
        ]
      ) {
        const lists = answer === users.post.responses[201] ? [ref("OperationIds")] : []
        assert.deepStrictEqual(bodyOf(answer), { oneOf: [ref("OperationResult"), ...lists, ref("User")] })
      }
      for (const { parameters } of [users.post, user.put, user.patch]) {
        assert.include(namesOf(parameters, "header"), "Prefer")
      }
      assert.deepStrictEqual(bodyOf(paths["/notes"].post.responses[201]).oneOf.at(-1), ref("Note"))
    })

    it("9: DELETE returns an OperationResult whose result is a count", () => {
      const { $ref } = bodyOf(user.delete.responses[200])
      const { properties } = schemas[$ref.split("/").at(-1)]
      assert.deepStrictEqual(properties._type.enum, ["OperationResult"])
      assert.strictEqual(properties.result.type, "integer")
    })

    it("10: it registers no routes", () => {
      assert.notInclude(Object.keys(engine.api.groups).join(), "appkernel")
      assert.deepStrictEqual(Object.keys(paths).filter((path) => /openapi|appkernel/u.test(path)), [])
    })
  })

  describe("parameters", () => {
    it("of a collection are those of its pages, and a text for each field", () => {
      const names = namesOf(users.get.parameters, "query")
      assert.includeMembers(names, ["page", "page_size", "sort_by", "sort_order", "query", "logic", "fields", "cursor"])
      assert.includeMembers(names, ["id", "name", "email", "age", "address.city", "previous.street", "created"])
      for (const name of ["name", "age", "address.city", "created"]) {
        assert.deepStrictEqual(parameter(users.get, name).schema, { type: "string" })
        assert.isFalse(parameter(users.get, name).required)
      }
      assert.deepStrictEqual(names.filter((name) => /password|_type|_links/u.test(name)), [])
      assert.strictEqual(new Set(names).size, names.length)
    })

    it("of pages name the limits in force", () => {
      const { schema } = parameter(users.get, "page_size")
      assert.deepStrictEqual(schema, { type: "integer", minimum: 1, maximum: 1_000, default: 50 })
      const limits = { defaultPageSize: 5, maxPageSize: 10 }
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made(engine, { title: "", version: "", limits })
      const small = parameter(paths["/folders"].get, "page_size").schema
      assert.deepStrictEqual([small.maximum, small.default], [10, 5])
    })

    it("of paths and queries are those of the operation", () => {
      const { parameters } = paths["/api/v1/payments/{currency}"].get
      assert.deepStrictEqual(namesOf(parameters, "path"), ["currency"])
      assert.deepStrictEqual(namesOf(parameters, "query"), ["day"])
    })

    it("of queries are numbers, booleans and lists", () => {
      const Search = Service.make("Search").operation("search", {
        query: {
          limit: Schema.Int.pipe(Validator.min(1), Validator.max(9), Schema.optionalKey),
          open: Schema.Boolean,
          tags: Schema.Array(Schema.String)
        }
      }, () => Effect.void)
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made(KernelEngine.make("x").register(Search), { title: "", version: "" })
      assert.deepStrictEqual(paths["/searches/search"].get.parameters, [
        { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 9 }, required: false },
        { name: "open", in: "query", schema: { type: "boolean" }, required: true },
        { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } }, required: true }
      ])
    })

    it("of paths are numbers and booleans, and texts without a schema", () => {
      const Seats = Service.make("Seat").operation("seat", {
        path: "./{row}/{taken}/{side}",
        params: { row: Schema.Int.pipe(Validator.min(1), Validator.max(9)), taken: Schema.Boolean },
        query: { row: Schema.optionalKey(Schema.Boolean) }
      }, () => Effect.void)
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made(KernelEngine.make("x").register(Seats), { title: "", version: "" })
      assert.deepStrictEqual(paths["/seats/{row}/{taken}/{side}"].get.parameters, [
        { name: "row", in: "path", schema: { type: "integer", minimum: 1, maximum: 9 }, required: true },
        { name: "taken", in: "path", schema: { type: "boolean" }, required: true },
        { name: "side", in: "path", schema: { type: "string" }, required: true },
        { name: "row", in: "query", schema: { type: "boolean" }, required: false }
      ])
    })

    it("that are JSON have the schema of their content", () => {
      const content = parameter(users.get, "query").content
      assert.deepStrictEqual(content, { "application/json": { schema: { type: "object" } } })
      const { content: piped, required, schema } = parameter(paths["/api/v1/users/aggregate"].get, "pipe")
      assert.deepStrictEqual([required, schema], [true, undefined])
      const ajv = new Ajv2020({ strict: false })
      const accepts = (pipe: unknown) => ajv.validate(piped["application/json"].schema, pipe)
      assert.isTrue(accepts([{ $match: { name: "x" } }, { $limit: 1 }]))
      for (const pipe of [{}, [{}], [{ $out: "x" }], [{ $match: {}, $limit: 1 }]]) assert.isFalse(accepts(pipe))
    })

    it("that name fields do so by a pattern", () => {
      for (
        const [operation, name, right, wrong] of [
          [users.get, "sort_by", ["name", "-name", "address.city,-id"], ["", "nope", "name,", "password", "--name"]],
          [users.get, "fields", ["name", "address.city,id"], ["", "-name", "password", "address_city"]],
          [user.get, "fields", ["name"], ["nope"]]
        ] as const
      ) {
        const pattern = new RegExp(parameter(operation, name).schema.pattern, "u")
        for (const text of right) assert.match(text, pattern)
        for (const text of wrong) assert.notMatch(text, pattern)
      }
    })

    it("that make conditions are the lists of entity tags that the server reads", () => {
      const parts = ["*", "\"\"", "\"1\"", "W/\"é\"", ",", " ", "\t", "x", "\""]
      for (const name of ["If-Match", "If-None-Match"]) {
        const pattern = new RegExp(parameter(user.put, name).schema.pattern, "u")
        for (let n = 0; n < parts.length ** 4; n++) {
          const text = [n, n / 9, n / 81, n / 729].map((digit) => parts[Math.floor(digit) % 9]).join("")
          const isRead = Result.isSuccess(Preconditions.read({ "if-match": text }))
          assert.strictEqual(pattern.test(text), isRead, text)
        }
      }
    })

    it("that state preferences are any text", () => {
      const { schema } = parameter(users.post, "Prefer")
      assert.deepStrictEqual(schema, { type: "string", examples: ["return=representation"] })
    })

    it("of a DELETE include its payload, which is not a body", () => {
      const Things = Resource.make(Note).action("forget", {
        method: "DELETE",
        payload: { really: Schema.Boolean },
        query: { days: Schema.optionalKey(Schema.Int) }
      }, () => Effect.void)
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made(KernelEngine.make("x").register(Things), { title: "", version: "" })
      const operation = paths["/notes/{id}/forget"].delete
      assert.notProperty(operation, "requestBody")
      assert.deepStrictEqual(namesOf(operation.parameters, "query"), ["really", "days"])
      assert.deepStrictEqual(parameter(operation, "really").schema, { type: "boolean" })
    })

    it("of a recursive model end at the recursion", () => {
      const names = namesOf(paths["/folders"].get.parameters, "query")
      assert.includeMembers(names, ["id", "folders"])
      assert.notInclude(names, "folders.folders.id")
    })
  })

  describe("schemas", () => {
    it("exclude omitted fields from responses, and accept them in bodies as write-only", () => {
      assert.notProperty(schemas.User.properties, "password")
      assert.deepStrictEqual(schemas.UserCreate.properties.password, { type: "string", minLength: 8, writeOnly: true })
      assert.isTrue(schemas.UserPatch.properties.password.writeOnly)
      assert.include(schemas.UserCreate.required, "password")
    })

    it("keep constraints, defaults, titles and descriptions", () => {
      const { amount, at, codes, currency, reference } = schemas.Receipt.properties
      assert.deepStrictEqual(amount, { type: "number", format: "double", minimum: 0.05 })
      assert.deepStrictEqual(currency, { type: "string", enum: ["CHF", "EUR"], default: "CHF" })
      assert.deepStrictEqual(reference, {
        type: "string",
        description: "What it is for",
        pattern: String.raw`^[A-Z]{2}-\d+$`
      })
      assert.isTrue(codes.uniqueItems)
      assert.deepStrictEqual([at.title, at.description], ["Payment", "When it was paid"])
      assert.strictEqual(schemas.User.properties.email.format, "email")
      assert.deepStrictEqual(schemas.UserCreate.properties.roles.default, ["user"])
      assert.notProperty(schemas.UserPatch.properties.roles, "default")
    })

    it("have an e-mail address as an example if it is valid", () => {
      for (const { properties } of [schemas.User, schemas.UserCreate, schemas.UserPatch]) {
        assert.deepStrictEqual(properties.email.examples, ["jane@example.com"])
        assert.match("jane@example.com", new RegExp(properties.email.pattern, "u"))
      }
    })

    it("have the same type of each property wherever they are joined", () => {
      const typesOf = (
        schema: Json
      ): Json => (schema.$ref === undefined ? schema : schemas[schema.$ref.split("/").at(-1)])
      for (const { allOf = [] } of Object.values<Json>(schemas)) {
        const types = new Map<string, string>()
        for (const part of allOf) {
          for (const [name, { type }] of Object.entries<Json>(typesOf(part).properties)) {
            assert.strictEqual(types.get(name) ?? type, type, name)
            types.set(name, type)
          }
        }
      }
    })

    it("mark fields that clients can read but not send", () => {
      assert.isTrue(schemas.Receipt.properties.inserted.readOnly)
      assert.notProperty(schemas.ReceiptCreate.properties, "inserted")
      assert.notProperty(schemas.Receipt.properties.amount, "readOnly")
    })

    it("of patches have null where a patch may have it", () => {
      class Inner extends Model.Class<Inner>()("Inner", { note: Schema.NullOr(Schema.String) }) {}
      class Outer extends Model.Class<Outer>()("Outer", {
        id: Model.id(),
        nullable: Schema.NullOr(Schema.String),
        required: Schema.String,
        byDefault: Schema.String.pipe(Model.withDefault(() => "x")),
        any: Schema.Json.pipe(Model.optional),
        inner: Schema.NullOr(Inner),
        parts: Schema.Struct({
          nullable: Schema.NullOr(Schema.String),
          required: Schema.String,
          optional: Schema.optionalKey(Schema.String)
        })
      }) {}
      const own = made(KernelEngine.make("x").register(Outer, { methods: ["PATCH"] }), {
        title: "",
        version: ""
      })
      const { InnerPatch, OuterPatch: { properties } } = own.components.schemas
      const nullOr = (schema: object) => ({ anyOf: [schema, { type: "null" }] })
      const text = { type: "string" }
      assert.deepStrictEqual(InnerPatch.properties.note, nullOr(text))
      assert.deepStrictEqual(properties.nullable, nullOr(text))
      assert.deepStrictEqual(properties.required, text)
      assert.deepStrictEqual(properties.byDefault, nullOr(text))
      assert.deepStrictEqual(properties.any, {})
      assert.deepStrictEqual(properties.inner, nullOr(ref("InnerPatch")))
      assert.deepStrictEqual(properties.parts.properties, {
        nullable: nullOr(text),
        required: text,
        optional: { anyOf: [{ type: "null" }, text] }
      })
    })

    it("describe texts that stand for other values by their form and an example", () => {
      class Precise extends Model.Class<Precise>()("Precise", {
        id: Model.id(),
        price: Schema.BigDecimal,
        count: Schema.BigInt,
        at: Schema.DateTimeUtc,
        bytes: Schema.Uint8Array,
        link: Schema.URL
      }) {}
      const own = made(KernelEngine.make("x").register(Precise, { methods: ["POST"] }), {
        title: "",
        version: ""
      })
      const { properties } = own.components.schemas.PreciseCreate
      assert.deepStrictEqual(
        ["price", "count", "at", "bytes", "link"].map((name) => [properties[name].format, properties[name].examples]),
        [
          ["decimal128", ["12.50"]],
          ["int64", ["42"]],
          ["date-time", ["2026-01-31T09:30:00.123Z"]],
          ["byte", ["aGVsbG8="]],
          ["uri", ["https://example.com/"]]
        ]
      )
      assert.match("1e-20", new RegExp(properties.price.pattern, "u"))
      assert.notMatch("text", new RegExp(properties.price.pattern, "u"))
      const { one } = own.paths["/precises"].post.requestBody.content["application/json"].examples
      assert.strictEqual(one.value.price, "12.50")
    })

    it("say of numbers of more than 32 bits how wide they are, and of bytes among others their encoding only", () => {
      class Wide extends Model.Class<Wide>()("Wide", {
        id: Model.id(),
        small: Schema.Int.pipe(Validator.min(-5), Validator.max(50)),
        whole: Schema.Int,
        natural: Schema.Int.pipe(Validator.min(0)),
        millis: Schema.DateTimeUtcFromMillis,
        price: Schema.Finite,
        level: Schema.Literals([1, 2]),
        mixed: Schema.Union([Schema.Uint8Array, Schema.Boolean]),
        bytes: Schema.NullOr(Schema.Uint8Array)
      }) {}
      const own = made(KernelEngine.make("x").register(Wide, { methods: ["GET"] }), { title: "", version: "" })
      const { properties } = own.components.schemas.Wide
      const names = ["small", "whole", "natural", "millis", "price", "level"]
      assert.deepStrictEqual(
        names.map((name) => properties[name].format),
        [undefined, "int64", "int64", "int64", "double", undefined]
      )
      const encodings = ["mixed", "bytes"].map((name) => {
        const [{ contentEncoding, format }] = properties[name].anyOf
        return [contentEncoding, format]
      })
      assert.deepStrictEqual(encodings, [["base64", undefined], ["base64", "byte"]])
    })

    it("describe date-times as they are written, without a format that demands a zone", () => {
      const [sent, nothing] = schemas.UserCreate.properties.created.anyOf
      assert.deepStrictEqual(nothing, { type: "null" })
      for (const schema of [schemas.User.properties.created, sent]) {
        assert.notProperty(schema, "format")
        const pattern = new RegExp(schema.pattern, "u")
        for (const text of ["2026-01-31T09:30:00.123000", "2026-01-31T09:30Z", "2026-01-31 09:30:00+01:00"]) {
          assert.match(text, pattern)
        }
        assert.notMatch("2026-01-31", pattern)
      }
      assert.deepStrictEqual(schemas.User.properties.born, { type: "string", format: "date" })
    })

    it("do not change text fields that have the format themselves", () => {
      const Zoned = Schema.Struct({ at: Schema.String.annotate({ format: "date-time" }) })
      const api = HttpApi.make("x").add(
        HttpApiGroup.make("g").add(HttpApiEndpoint.get("zoned", "/zoned", { success: Zoned }))
      )
      // oxlint-disable-next-line typescript/no-explicit-any
      const { paths }: any = made({ api, registrations: [] }, { title: "", version: "" })
      assert.deepStrictEqual(bodyOf(paths["/zoned"].get.responses[200]).properties.at, {
        type: "string",
        format: "date-time"
      })
    })

    it("have names that do not depend on the order of registration, and that say where they are used", () => {
      class First extends Model.Class<First>()("Person", { id: Model.id(), name: Schema.String }) {}
      class Second extends Model.Class<Second>()("Person", { id: Model.id(), first: Schema.String }) {}
      class Street extends Model.Class<Street>()("Place", { street: Schema.String }) {}
      class Road extends Model.Class<Road>()("Place", { road: Schema.String }) {}
      class Home extends Model.Class<Home>()("Home", { id: Model.id(), at: Street }) {}
      class Office extends Model.Class<Office>()("Office", { id: Model.id(), at: Road }) {}
      const Cart = Schema.Struct({ notes: Schema.Array(Note) }).annotate({ identifier: "Cart" })
      interface Tree {
        readonly trees: ReadonlyArray<Tree>
      }
      const Tree: Schema.Codec<Tree> = Schema.Struct({
        trees: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
      })
      class Garden extends Model.Class<Garden>()("Garden", { id: Model.id(), tree: Tree }) {}
      const Carts = Service.make("CartService").operation(
        "fill",
        { path: "./fill", method: "POST", payload: Cart, success: Cart },
        ({ payload }) => Effect.succeed(payload)
      )
      const methods = ["GET", "POST"] as const
      const one = KernelEngine.make("x").register(First, { methods, urlBase: "/v1" })
        .register(Second, { methods, urlBase: "/v2", name: "second" })
        .register(Home, { methods }).register(Office, { methods }).register(Garden, { methods }).register(Carts)
      const other = KernelEngine.make("x").register(Carts).register(Garden, { methods })
        .register(Office, { methods }).register(Second, { methods, urlBase: "/v2", name: "second" })
        .register(Home, { methods }).register(First, { methods, urlBase: "/v1" })
      const sorted = (part: Json): Json =>
        Array.isArray(part)
          ? part.map(sorted)
          : Object(part) === part
          ? Object.fromEntries(Object.keys(part).toSorted().map((key) => [key, sorted(part[key])]))
          : part
      const { components, paths } = OpenApi.make(one, { title: "", version: "" })
      const again = OpenApi.make(other, { title: "", version: "" })
      assert.deepStrictEqual(sorted(again.components), sorted(components))
      assert.deepStrictEqual(sorted(again.paths), sorted(paths))
      const named = Object.keys(components.schemas)
      assert.includeMembers(named, [
        "Person",
        "V2Person",
        "V2PersonCreate",
        "Place",
        "OfficesPlace",
        "Cart",
        "CartInput"
      ])
      assert.deepStrictEqual(named.filter((name) => name.includes("_")), [])
      assert.include(named, "GardenTree")
    })

    it("of an enumeration are one list of its values, with their names", () => {
      const Size = Schema.Enum({ small: "S", large: "L" })
      class Shirt extends Model.Class<Shirt>()("Shirt", { id: Model.id(), size: Size }) {}
      const { components } = made(KernelEngine.make("x").register(Shirt), { title: "", version: "" })
      assert.deepStrictEqual(components.schemas.Shirt.properties.size, {
        type: "string",
        enum: ["S", "L"],
        "x-enum-varnames": ["small", "large"]
      })
    })

    it("of bodies require no field with a default", () => {
      class Step extends Model.Class<Step>()("Step", {
        name: Schema.String,
        count: Schema.Int.pipe(Model.withDefault(() => 1)),
        note: Schema.NullOr(Schema.String).pipe(Model.withDefault(() => null)),
        kind: Model.field(Schema.String, { required: true, default: "x" })
      }) {}
      const Steps = Service.make("StepService").operation("walk", {
        method: "POST",
        payload: { steps: Schema.Array(Step), far: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))) }
      }, () => Effect.void)
      const { components, paths } = made(KernelEngine.make("x").register(Steps), { title: "", version: "" })
      assert.deepStrictEqual(bodyOf(paths["/steps/walk"].post.requestBody).required, ["steps"])
      assert.deepStrictEqual(components.schemas.StepCreate.required, ["name"])
    })

    it("that several operations share are in the document once", () => {
      const text = JSON.stringify(document)
      for (
        const [kind, names] of [["parameters", ["page_size", "Prefer"]], ["responses", [
          "BadRequest",
          "NotFound"
        ]]] as const
      ) {
        for (const name of names) assert.isAbove(text.split(`"#/components/${kind}/${name}"`).length, 2, name)
      }
      const refs = [...text.matchAll(/"#\/components\/(parameters|headers|responses)\/([^"]+)"/gu)]
      const all: Json = document.components
      for (const [, kind, name] of refs) assert.property(all[kind!], name!)
      for (const kind of ["parameters", "headers", "responses"]) {
        assert.sameMembers(Object.keys(all[kind]), [
          ...new Set(refs.filter(([, of]) => of === kind).map(([, , name]) => name))
        ])
      }
    })

    it("of documents with some of their fields require none but the identifier and the type", () => {
      assert.deepStrictEqual(schemas.UserSelection.required, ["_type", "id"])
      assert.sameMembers(Object.keys(schemas.UserSelection.properties), Object.keys(schemas.User.properties))
      assert.deepStrictEqual(schemas.UserSelection.properties.address, ref("AddressPart"))
      assert.deepStrictEqual(schemas.AddressPart.required, ["_type"])
    })

    it("have links if the documents have them", () => {
      assert.deepStrictEqual(schemas.User.properties._links, ref("Links"))
      assert.notProperty(schemas.Note.properties, "_links")
    })

    it("accept undeclared properties, like the server", () => {
      assert.notInclude(JSON.stringify(document), "\"additionalProperties\":false")
    })
  })

  describe("bodies and responses", () => {
    it("have every content type that the server accepts", () => {
      assert.sameMembers(Object.keys(users.post.requestBody.content), ["application/json", "multipart/form-data"])
      assert.sameMembers(Object.keys(user.put.requestBody.content), ["application/json"])
      assert.sameMembers(Object.keys(user.patch.requestBody.content), [
        "application/json",
        "application/merge-patch+json",
        "application/json-patch+json"
      ])
      assert.deepStrictEqual(
        user.patch.requestBody.content["application/json-patch+json"].schema,
        ref("JsonPatch")
      )
      assert.strictEqual(schemas.JsonPatch.type, "array")
    })

    it("of a POST may be lists; the response has all identifiers", () => {
      assert.deepStrictEqual(bodyOf(users.post.requestBody), {
        anyOf: [ref("UserCreate"), { type: "array", items: ref("UserCreate"), minItems: 1, maxItems: 50 }]
      })
      assert.deepStrictEqual(users.post.requestBody.content["multipart/form-data"].schema, ref("UserCreate"))
      assert.deepStrictEqual(schemas.OperationIds.properties.result, { type: "array", items: { type: "string" } })
      assert.notInclude(JSON.stringify(user.put.responses), "OperationIds")
    })

    it("of a POST say whether it replaces a document, as the registration says, or else the configuration", () => {
      for (const own of ["replace", "error", undefined] as const) {
        for (const configured of ["replace", "error"] as const) {
          const described = made(
            KernelEngine.make("x").register(Note, {
              methods: ["POST"],
              ...own === undefined ? {} : { onKnownId: own }
            }),
            { title: "", version: "", limits: { ...KernelConfig.Limits.defaultValue(), onKnownId: configured } }
          )
          const { description, responses } = described.paths["/notes"].post
          const creates = (own ?? configured) === "error"
          assert.deepStrictEqual(
            Object.keys(responses).filter((status) => status < "300"),
            creates ? ["201"] : ["200", "201"]
          )
          assert.match(description, creates ? /the answer is 409/u : /that one is replaced/u)
        }
      }
    })

    it("have a tag that an earlier state lacks, that of a restored document, and where the body of a write is", () => {
      class Kept extends Model.Class<Kept>()("Kept", {
        id: Model.id(),
        ...Model.versioned,
        ...Model.softDeleted,
        ...Model.historied
      }) {}
      const { paths } = made(
        KernelEngine.make("x").register(
          Resource.make(Kept, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
            .action(History.revision(Kept))
            .action(History.restore(Kept))
            .action(History.restoreDeleted(Kept))
        ),
        { title: "", version: "" }
      )
      const { get, patch, put } = paths["/kepts/{id}"]
      assert.isUndefined(get.responses[200].headers.ETag.required)
      assert.isTrue(get.responses[304].headers.ETag.required)
      for (const path of ["/kepts/{id}/restore", "/kepts/{id}/revisions/{revision}/restore"]) {
        assert.property(paths[path].post.responses[200].headers, "ETag", path)
      }
      for (const { responses } of [put, patch, paths["/kepts"].post]) {
        assert.property(responses[200].headers, "Content-Location")
      }
    })

    it("have an entity tag if the model has versions, and take conditions wherever they may fail", () => {
      assert.isTrue(user.get.responses[200].headers.ETag.required)
      assert.isTrue(user.get.responses[304].headers.ETag.required)
      for (const answer of [users.post.responses[201], user.put.responses[200], user.patch.responses[200]]) {
        assert.property(answer.headers, "ETag")
      }
      assert.notProperty(paths["/folders/{id}"].get.responses[200], "headers")
      for (const operation of [users.post, user.get, user.put, user.patch, user.delete]) {
        assert.includeMembers(namesOf(operation.parameters, "header"), ["If-Match", "If-None-Match"])
        assert.containsAllKeys(operation.responses, ["400", "412"])
      }
    })

    it("describe the Location of a new document", () => {
      assert.property(users.post.responses[201].headers, "Location")
      assert.notProperty(users.post.responses[200].headers, "Location")
    })

    it("are an ErrorMessage for errors, described by the status", () => {
      for (const operation of Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item))) {
        for (const [status, answer] of Object.entries<Json>(operation.responses)) {
          if (Number(status) < 400) continue
          const schema = bodyOf(answer)
          for (const { $ref } of schema.anyOf ?? [schema]) {
            const name = $ref.split("/").at(-1)
            assert.deepStrictEqual(name === "ErrorMessage" ? ref(name) : schemas[name].allOf[0], ref("ErrorMessage"))
          }
          assert.match(answer.description, /^[A-Z].+ /)
        }
      }
      assert.sameMembers(Object.keys(schemas.ErrorMessage.properties), [
        "_type",
        "code",
        "message",
        "errors",
        "upstream_service"
      ])
      assert.deepStrictEqual(schemas.ErrorMessage.required, ["_type", "code", "message"])
    })

    it("name the application's own errors as well", () => {
      const answer = paths["/api/v1/users/{id}/change_password"].post.responses[403]
      assert.deepStrictEqual(bodyOf(answer), ref("WrongPassword"))
      const [base, own] = schemas.WrongPassword.allOf
      assert.deepStrictEqual(base, ref("ErrorMessage"))
      assert.sameMembers(Object.keys(own.properties), ["code", "error", "attempts"])
      assert.strictEqual(answer.description, "Wrong password (`WrongPassword`)")
    })

    it("name all errors of one status, those of the framework included", () => {
      class Full extends ServiceError<Full>()("Full", { status: 409, message: "Full", fields: { left: Schema.Int } }) {}
      class Shut extends ServiceError<Shut>()("Shut", { status: 409, message: "Shut" }) {}
      const resource = Resource.make(Note, { methods: ["POST"] })
        .beforePost(() => Effect.fail(new Shut()), { error: [Full, Shut] })
      const described = made(KernelEngine.make("full").register(resource), { title: "F", version: "1" })
      const { schema } = described.paths["/notes"].post.responses[409].content["application/json"]
      const named = schema.anyOf.map(({ $ref }: Json) => $ref.split("/").at(-1))
      assert.sameMembers(named, ["ErrorMessage", "Full", "Shut"])
    })

    it("of actions and operations are those that they declare", () => {
      const { post } = paths["/api/v1/users/{id}/change_password"]
      assert.sameMembers(Object.keys(bodyOf(post.requestBody).properties), ["current_password", "new_password"])
      assert.strictEqual(bodyOf(post.responses[200]).properties.result.type, "string")
      assert.strictEqual(post.summary, "Change password")
      const friends = paths["/api/v1/users/{id}/friends"].get
      assert.deepStrictEqual(bodyOf(friends.responses[200]).properties._items.items, ref("User"))
      const rate = bodyOf(paths["/api/v1/payments/{currency}"].get.responses[200])
      assert.strictEqual(rate.properties.rate.type, "number")
    })
  })

  describe("operations", () => {
    it("have an identifier each, a summary and a tag", () => {
      const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
      const ids = operations.map(({ operationId }) => operationId)
      assert.strictEqual(new Set(ids).size, operations.length)
      for (const { summary, tags } of operations) {
        assert.match(summary, /^[A-Z]/)
        assert.isNotEmpty(tags)
      }
      assert.includeMembers(ids, ["users.list", "users.create", "users.change_password", "payments.pay"])
    })

    it("are named with the right article", () => {
      assert.deepStrictEqual(
        [users.post.summary, user.put.summary, user.delete.summary],
        ["Create a User", "Replace a User", "Delete a User"]
      )
      for (const name of ["Order", "Address", "Update", "SKU", "Hour", "Invoice", "X"]) {
        assert.strictEqual(withArticle(name), `an ${name}`)
      }
      for (const name of ["User", "Unit", "URL", "Product", "Heading", "Once", "One", "Europe", "Badge"]) {
        assert.strictEqual(withArticle(name), `a ${name}`)
      }
    })

    it("on documents come first, and those on their descriptions last", () => {
      const below = Object.keys(paths).filter((path) => path.startsWith("/api/v1/users"))
      assert.deepStrictEqual(below.map((path) => path.slice("/api/v1/users".length)), [
        "",
        "/{id}",
        "/{id}/change_password",
        "/{id}/friends",
        "/aggregate",
        "/query",
        "/schema",
        "/meta"
      ])
      const first = Object.keys(paths).indexOf("/api/v1/users")
      assert.deepStrictEqual(Object.keys(paths).slice(first, first + below.length), below)
    })

    it("have tags that are described", () => {
      const descriptions = new Map(document.tags.map(({ description, name }) => [name, description]))
      assert.strictEqual(descriptions.get("people"), "Documents of the model `User`, at `/api/v1/users`")
      assert.strictEqual(descriptions.get("orders"), "Operations at `/api/v1/pay`")
      for (const { description, name } of document.tags) assert.match(description ?? "", /^[A-Z].+`/u, name)
    })

    it("of two registrations of one model are distinguished by their names", () => {
      const twice = KernelEngine.make("x").register(Note, { urlBase: "/v1" }).register(Note, {
        urlBase: "/v2",
        name: "notes_v2"
      })
      const own = OpenApi.make(twice, { title: "", version: "" })
      const ids = Object.values(own.paths).flatMap((item) => Object.values(item)).map(({ operationId }) => operationId)
      assert.includeMembers(ids, ["notes.list", "notes_v2.list"])
      assert.strictEqual(new Set(ids).size, ids.length)
    })

    it("fail with each declared error under its own name, however often it is declared", () => {
      const Guarded = Resource.make(Note, { methods: ["POST", "PUT"] })
        .beforePost(() => Effect.fail(new WrongPassword({ attempts: 1 })), { error: [WrongPassword] })
        .beforePut(() => Effect.fail(new WrongPassword({ attempts: 1 })), { error: [WrongPassword] })
      const own = made(KernelEngine.make("x").register(Guarded), { title: "", version: "" })
      const { paths } = own
      for (const { responses } of [paths["/notes"].post, paths["/notes/{id}"].put]) {
        assert.deepStrictEqual(bodyOf(responses[403]), ref("WrongPassword"))
        // What a hook may fail with besides.
        assert.deepStrictEqual(bodyOf(responses[404]), ref("ErrorMessage"))
      }
      assert.property(own.components.schemas, "WrongPassword")
    })

    it("are those that are registered", () => {
      assert.sameMembers(Object.keys(paths["/notes"]), ["post"])
      assert.notProperty(paths, "/notes/{id}")
      assert.sameMembers(Object.keys(paths["/api/v1/badges"]), ["get"])
    })
  })

  describe("servers and security", () => {
    it("are the origin of the document and no scheme by default", () => {
      assert.deepStrictEqual(document.servers, [{ url: "/" }])
      assert.deepStrictEqual(document.security, [])
      assert.notProperty(document.components, "securitySchemes")
      const servers = [{ url: "https://api.example.org", description: "Production" }]
      assert.deepStrictEqual(OpenApi.make(engine, { title: "", version: "", servers }).servers, servers)
    })

    it("of an endpoint's own middleware are kept", () => {
      class Key extends HttpApiMiddleware.Service<Key>()("test/OpenApi/Key", {
        security: { key: HttpApiSecurity.apiKey({ key: "x-key", in: "header" }) }
      }) {}
      const api = HttpApi.make("x").add(
        HttpApiGroup.make("g").add(HttpApiEndpoint.get("get", "/thing").middleware(Key))
      )
      const secured = OpenApi.make({ api, registrations: [] }, { title: "", version: "" })
      assert.deepStrictEqual(secured.components.securitySchemes?.["key"], {
        type: "apiKey",
        name: "x-key",
        in: "header"
      })
      assert.deepStrictEqual(secured.paths["/thing"]?.["get"]?.["security"], [{ key: [] }])
    })
  })
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const bodyOf = (body: Json): Json => body.content["application/json"].schema

const namesOf = (parameters: Json, place: string): Array<string> =>
  parameters.filter((parameter: Json) => parameter.in === place).map(({ name }: Json) => name)

const parameter = (operation: Json, name: string): Json =>
  operation.parameters.find((parameter: Json) => parameter.name === name)
