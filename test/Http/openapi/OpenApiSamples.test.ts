import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Layer, Schema } from "effect"
import { engine as shop } from "../../../examples/shop/engine.ts"
import { sampleText } from "../../../src/Http/openapi/sampleText.ts"
import { EmbeddedStore, KernelEngine, KernelServer, Model, OpenApi, Validator } from "../../../src/index.ts"
import { send } from "../../support/rest.ts"
import { administrator, credentials, payments } from "../../support/shop.ts"

// The tests look into bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

class Odd extends Model.Class<Odd>()("Odd", {
  id: Model.id({ prefix: "O" }),
  parts: Schema.Array(Schema.Struct({ size: Schema.Int.pipe(Validator.min(7)) })).pipe(Validator.min(1)),
  code: Schema.String.pipe(Validator.regexp(/^(?:AB|CD)-\d{2,4}[^a]?x+$/u)),
  share: Schema.Finite.pipe(Validator.max(0.5)),
  choice: Schema.Union([Schema.Int, Schema.String]),
  labels: Schema.Record(Schema.String, Schema.String),
  moment: Model.DateTime
}) {}

const samplesOf = (engine: OpenApi.Source) => {
  const document: Json = OpenApi.make(engine, { title: "Samples", version: "1" })
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: "document", components: document.components })
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).flatMap(([method, { requestBody }]) =>
      Object.entries<Json>(requestBody?.content ?? {}).flatMap(([type, { example, examples, schema }]) => {
        const isValid = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll("\"#/", "\"document#/")))
        const values = example === undefined ? Object.values<Json>(examples ?? {}).map(({ value }) => value) : [example]
        return { call: `${method} ${path}`, type, values, isValid }
      })
    )
  )
}

describe("samples of request bodies", () => {
  const samples = samplesOf(shop)

  it("exist for every JSON body, and satisfy its schema", () => {
    const bodies = samples.filter(({ type }) => type.startsWith("application/") && !type.endsWith("urlencoded"))
    assert.isAbove(bodies.length, 8)
    for (const { call, isValid, type, values } of bodies) {
      assert.isNotEmpty(values, `${call} ${type}`)
      for (const value of values) assert.isTrue(isValid(value), `${call}: ${JSON.stringify(isValid.errors)}`)
    }
  })

  it("contain nothing that the server generates", () => {
    for (const { call, values } of samples) {
      for (const sample of values.flat()) {
        for (const key of ["id", "created", "added", "placed", "version", "paid"]) assert.notProperty(sample, key, call)
      }
    }
    const product = samples.find(({ call }) => call === "post /api/v1/products")
    assert.deepStrictEqual(product?.values[0], {
      code: "AAA-0000",
      name: "text",
      description: "text",
      price: 1,
      cost: 1,
      currency: "CHF",
      stock: 1,
      tags: [],
      dimensions: { width: 1, height: 1, depth: 1 }
    })
  })

  it("exist for patterns, bounds, unions, records and dates", () => {
    const [sample] = samplesOf(KernelEngine.make("odd").register(Odd, { methods: ["POST"] }))
    assert.deepStrictEqual(sample?.values, [sample?.values[0], [sample?.values[0]]])
    assert.isTrue(sample?.isValid(sample.values[0]), JSON.stringify(sample?.isValid.errors))
    assert.deepStrictEqual(sample?.values[0].parts, [{ size: 7 }])
    assert.strictEqual(sample?.values[0].code, "AB-000x")
  })

  it("of a pattern match it, or don't exist", () => {
    const patterns: ReadonlyArray<readonly [pattern: string, text: string | undefined]> = [
      ["^[A-Z]{2}$", "AA"],
      ["^(?=.{3})[a-z]+$", undefined],
      ["^\\p{Lu}\\u0041?$", undefined],
      ["^[^a-c]\\.(?<n>x|y){2}$", undefined],
      ["^\\d{4}-\\d{2}$", "0000-00"],
      ["^[^]{3}", "aaa"]
    ]
    assert.isUndefined(sampleText({ pattern: "(" }))
    for (const [pattern, text] of patterns) {
      const found = sampleText({ pattern })
      if (text !== undefined) assert.strictEqual(found, text)
      if (found !== undefined) assert.match(found, new RegExp(pattern, "u"))
    }
    assert.strictEqual(sampleText({ pattern: "^[a-z]*$", minLength: 5 }), "aaaaa")
    assert.strictEqual(sampleText({ minLength: 6, maxLength: 8 }), "textxx")
    assert.strictEqual(sampleText({ maxLength: 2 }), "te")
  })

  const served = shop.layerServe.pipe(
    Layer.provide(payments),
    Layer.provideMerge(credentials),
    Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 })),
    Layer.provideMerge(EmbeddedStore.layerMemory)
  )
  it.layer(served)((it) => {
    it.effect("are accepted for new documents", () =>
      Effect.gen(function*() {
        const admin = yield* administrator
        for (const { call, type, values } of samples) {
          const [method = "", path = ""] = call.split(" ")
          if (method !== "post" || path.includes("{") || /\/(?:orders|pay|token)$/u.test(path)) continue
          for (const value of values.slice(0, 1)) {
            const unique = path.startsWith("/api/v2") ? { ...value, email: "other@example.com" } : value
            const { body, status } = yield* send("POST", path, unique, { ...admin, "content-type": type })
            assert.include([200, 201], status, JSON.stringify(body))
          }
        }
      }))
  })
})
