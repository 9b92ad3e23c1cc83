import { assert, describe, it } from "@effect/vitest"
import { Validator as DocumentValidator } from "@seriousme/openapi-schema-validator"
import { Effect, Schema } from "effect"
import * as OpenApi from "../../../src/Http/OpenApi.ts"
import { Anonymous, CurrentSubject, KernelEngine, Model, Resource, Role, Service, Tokens } from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"

class Supplier extends Model.Class<Supplier>()("Supplier", { name: Schema.String, phone: Schema.String }) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id(),
  name: Schema.String,
  cost: Schema.Finite.annotate({ description: "What it was bought for." }),
  state: Schema.String,
  supplier: Supplier
}) {}

class Letter extends Model.Class<Letter>()("Letter", { id: Model.id(), owner: Schema.String, text: Schema.String }) {}

const Products = Resource.make(Product, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("order", { method: "POST", require: [Role("buyer"), CurrentSubject] }, () => Effect.void)
  .grant(Anonymous, { methods: "GET", hide: ["cost", "supplier.phone"] })
  .grant(Role("clerk"), { methods: ["GET", "PATCH"], hide: ["cost"], readOnly: ["state"] })
  .require(Role("admin"), ["GET", "POST", "PUT", "PATCH"])

const Letters = Resource.make(Letter, { methods: ["GET"] })
  .grant(Role("reader"), { rows: (me) => ($) => $.owner.equals(me.subject).and($.text.contains("codeword")) })

const Clock = Service.make("ClockService").operation(
  "now",
  { require: Anonymous, success: Schema.String },
  () => Effect.succeed("now")
)

const engine = KernelEngine.make("x").register(Products).register(Letters).register(Clock).enableSecurity()

// oxlint-disable-next-line typescript/no-explicit-any
const document: any = resolvedDocument(OpenApi.make(engine, {
  title: "x",
  version: "1",
  securitySchemes: {
    bearer: { type: "http", scheme: "bearer" },
    key: { type: "apiKey", in: "header", name: "X-API-Key" }
  }
}))

describe("OpenApi, of a service with access control", () => {
  it("says which operations need credentials, and which may have some", () => {
    const { paths, security } = document
    assert.deepStrictEqual(security, [{ bearer: [] }, { key: [] }])
    assert.deepStrictEqual(paths["/products"].get.security, [{ bearer: [] }, { key: [] }, {}])
    assert.deepStrictEqual(paths["/clocks/now"].get.security, [])
    assert.notProperty(paths["/products"].post, "security")
    assert.notProperty(paths["/products/{id}/order"].post, "security")
    assert.notProperty(
      OpenApi.make(KernelEngine.make("x").register(Products), { title: "", version: "" }),
      "components.securitySchemes"
    )
  })

  it("has 429 where guesses of credentials are slowed, and where an operation says so", () => {
    const statusesIn = (signsIn: boolean, schemes: { readonly [name: string]: OpenApi.SecurityScheme }) => {
      const all = KernelEngine.make("x").register(Products).register(Clock)
      const secured = (signsIn ? all.register(Tokens.service) : all).enableSecurity()
      const { paths } = OpenApi.make(secured, { title: "x", version: "1", securitySchemes: schemes })
      return Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, { responses }]) =>
          [`${method} ${path}`, Object.keys(Object(responses)).includes("429")] as const
        )
      )
    }
    const bearer = { type: "http", scheme: "bearer" } as const
    const basic = { type: "http", scheme: "basic" } as const
    assert.deepStrictEqual(statusesIn(false, { bearer }).filter(([, isLimited]) => isLimited), [])
    assert.deepStrictEqual(statusesIn(false, { bearer, basic }).filter(([, isLimited]) => !isLimited), [])
    assert.deepStrictEqual(statusesIn(true, { bearer }).filter(([, isLimited]) => isLimited), [["post /token", true]])
  })

  it("says who may call an operation, and nothing of what rules compare", () => {
    const said = (path: string, method: string) => document.paths[path][method].description
    assert.match(said("/products", "get"), /\n\nWho may do this: everybody; clerk; admin\.$/u)
    assert.match(said("/products/{id}", "get"), /Who may do this: everybody; clerk; admin\.$/u)
    assert.match(said("/products", "post"), /Who may do this: admin\.$/u)
    assert.strictEqual(said("/products/{id}", "delete"), "Nobody may do this.")
    assert.strictEqual(said("/products/{id}/order", "post"), "Who may do this: buyer, or the subject itself.")
    assert.match(said("/letters", "get"), /Who may do this: reader \(some documents\)\.$/u)
    assert.notInclude(JSON.stringify(document), "codeword")
  })

  it("has the responses of those who may not, and of checks that can't be made", () => {
    for (const [path, item] of Object.entries<object>(document.paths)) {
      for (const [method, { responses }] of Object.entries<Json>(item)) {
        assert.property(responses[401].headers, "WWW-Authenticate", `${method} ${path}`)
        assert.property(responses, "503", `${method} ${path}`)
      }
    }
    assert.property(document.paths["/products"].post.responses, "403")
    assert.notProperty(document.paths["/clocks/now"].get.responses, "403")
  })

  it("says who may see and set a field, which is required of nobody else", () => {
    const { Product, ProductCreate, ProductPatch, Supplier } = document.components.schemas
    assert.strictEqual(Product.properties.cost.description, "What it was bought for. Visible to admin.")
    assert.strictEqual(Product.properties.supplier.description, "`supplier.phone`: visible to clerk, or admin.")
    assert.sameMembers(Product.required, ["_type", "id", "name", "state", "supplier"])
    assert.notInclude(Supplier.required, "phone")
    assert.notProperty(Product.properties.name, "description")
    assert.strictEqual(ProductPatch.properties.state.description, "Set by admin.")
    assert.strictEqual(ProductPatch.properties.cost.description, "What it was bought for. Set by admin.")
    assert.strictEqual(ProductCreate.properties.cost.description, "What it was bought for.")
    assert.sameMembers(ProductCreate.required, ["name", "cost", "state", "supplier"])
  })

  it.effect("is valid for the official schema of OpenAPI 3.1", () =>
    Effect.gen(function*() {
      const validator = new DocumentValidator()
      const { errors } = yield* Effect.promise(() => validator.validate(structuredClone(document)))
      assert.deepStrictEqual([errors, validator.version], [undefined, "3.1"])
    }))

  it("leaves out what nobody may, if it is to", () => {
    // oxlint-disable-next-line typescript/no-explicit-any
    const { components, paths }: any = OpenApi.make(engine, { title: "x", version: "1", omitsUnreachable: true })
    assert.sameMembers(Object.keys(paths["/products/{id}"]), ["get", "put", "patch"])
    const Clerks = Resource.make(Product, { methods: ["GET", "PATCH"] })
      .grant(Role("clerk"), { hide: ["cost", "supplier.phone"], readOnly: ["state"] })
    const own = OpenApi.make(KernelEngine.make("x").register(Clerks).enableSecurity(), {
      title: "x",
      version: "1",
      omitsUnreachable: true
    })
    assert.property(components.schemas.Product.properties, "cost")
    assert.notMatch(JSON.stringify(own), /cost|phone/u)
    // oxlint-disable-next-line typescript/no-explicit-any
    assert.notProperty((own as any).components.schemas.ProductPatch.properties, "state")
  })
})

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any
