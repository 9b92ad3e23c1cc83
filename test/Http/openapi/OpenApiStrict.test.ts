/** What the description says of bodies whose registration refuses unknown keys. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Schema } from "effect"
import * as OpenApi from "../../../src/Http/OpenApi.ts"
import { KernelEngine, Model, Resource, Service } from "../../../src/index.ts"

class Part
  extends Model.Class<Part>()("Part", { name: Schema.String, size: Schema.Struct({ width: Schema.Finite }) })
{}

class Chest extends Model.Class<Chest>()("Chest", {
  id: Model.id(),
  part: Part.pipe(Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  ...Model.audited
}) {}

class Money extends Schema.Class<Money>("Money")({ amount: Schema.Finite }) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const Chests = Resource.make(Chest, { methods })
  .action("pay", { payload: { price: Money }, success: Money }, (_, { payload: { price } }) => Effect.succeed(price))

const Tools = Service.make("ToolService")
  .operation("check", { payload: Chest, success: Chest }, ({ payload }) => Effect.succeed(payload))
  .operation("pay", { payload: { price: Money, note: Schema.String } }, () => Effect.void)

const strict = { urlBase: "/strict", onExcessProperty: "error" } as const

// The tests look into objects of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const documentOf = (engine: OpenApi.Source): Json => OpenApi.make(engine, { title: "Strict", version: "1.0.0" })

const alone = documentOf(KernelEngine.make("alone").register(Chests, strict).register(Tools, strict))

const mixed = documentOf(
  KernelEngine.make("mixed").register(Chests, strict).register(Chests, { name: "lax", urlBase: "/lax" })
    .register(Tools, { urlBase: "/lax" })
)

const bodyOf = ({ paths }: Json, method: string, path: string, type = "application/json"): Json =>
  paths[path][method].requestBody.content[type].schema

// One for all, since each compiles the schema of schemas.
const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } })

const takes = (document: Json, schema: Json, value: unknown): boolean =>
  ajv.compile({ ...schema, components: document.components })(value)

const chest = { part: { name: "a", size: { width: 1 } }, labels: { any: "b" } }

const read = { ...chest, id: "C1", inserted: "2026-01-31T09:30:00", _type: "Chest", _links: {}, _embedded: {} }

const odd = [
  { ...chest, more: 1 },
  { part: { ...chest.part, more: 1 } },
  { part: { ...chest.part, size: { width: 1, more: 1 } } }
]

describe("bodies of a registration that rejects unknown keys", () => {
  it.each([
    ["post", "/strict/chests"],
    ["put", "/strict/chests/{id}"],
    ["patch", "/strict/chests/{id}"],
    ["post", "/strict/tools/check"]
  ])("of %s %s may have no others at any depth, but for those that a caller sees", (method, path) => {
    const schema = bodyOf(alone, method, path)
    for (const value of [chest, read]) assert.isTrue(takes(alone, schema, value), JSON.stringify(value))
    for (const value of odd) assert.isFalse(takes(alone, schema, value), JSON.stringify(value))
  })

  it("have the names that they have otherwise", () => {
    assert.deepStrictEqual(bodyOf(alone, "put", "/strict/chests/{id}"), { $ref: "#/components/schemas/ChestCreate" })
    assert.isFalse(alone.components.schemas.ChestCreate.additionalProperties)
    assert.deepStrictEqual(Object.keys(alone.components.schemas).filter((name) => name.endsWith("Strict")), [
      "MoneyStrict"
    ])
  })

  it("leave responses open, and bodies of other registrations", () => {
    assert.notProperty(alone.components.schemas.Chest, "additionalProperties")
    for (const value of odd) {
      assert.isTrue(takes(mixed, bodyOf(mixed, "put", "/lax/chests/{id}"), value))
      assert.isTrue(takes(mixed, bodyOf(mixed, "post", "/lax/tools/check"), value))
      assert.isFalse(takes(mixed, bodyOf(mixed, "put", "/strict/chests/{id}"), value))
    }
    const price = { price: { amount: 1, more: 1 } }
    assert.isFalse(takes(mixed, bodyOf(mixed, "post", "/strict/chests/{id}/pay"), price))
    assert.isTrue(takes(mixed, bodyOf(mixed, "post", "/lax/chests/{id}/pay"), price))
    assert.isTrue(takes(mixed, bodyOf(mixed, "post", "/lax/tools/pay"), { ...price, note: "a" }))
    const { schema } = mixed.paths["/strict/chests/{id}/pay"].post.responses[200].content["application/json"]
    assert.isTrue(takes(mixed, schema, price.price))
  })

  it("do not change JSON Patches, and refer to no missing component", () => {
    assert.deepStrictEqual(
      bodyOf(alone, "patch", "/strict/chests/{id}", "application/json-patch+json"),
      { $ref: "#/components/schemas/JsonPatch" }
    )
    for (const document of [alone, mixed]) {
      const refs = JSON.stringify(document).match(/#\/components\/schemas\/[^"]+/gu) ?? []
      const names = [...new Set(refs.map((ref) => ref.split("/").at(-1)!))]
      assert.sameMembers(names, Object.keys(document.components.schemas))
    }
  })
})
