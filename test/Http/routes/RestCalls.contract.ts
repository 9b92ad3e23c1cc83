/** Actions of models, services of an application's own, and one model under several prefixes. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import {
  Action,
  type DocumentStore,
  KernelApi,
  KernelEngine,
  Model,
  Operation,
  Repository,
  Resource,
  Service,
  ServiceError,
  Validator
} from "../../../src/index.ts"
import { implementedResource, implementedService } from "../../support/implemented.ts"
import { type Answer, fieldsIn, type Method, problemsIn, refused, send, serving } from "../../support/rest.ts"

class SoldOut extends ServiceError<SoldOut>()("SoldOut", { status: 410, fields: { since: Schema.Int } }) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String.pipe(Validator.notEmpty),
  price: Schema.Int.pipe(Validator.min(0), Model.withDefault(() => 0)),
  cost: Schema.Int.pipe(Model.omitted, Model.withDefault(() => 4711))
}) {}

/** What version 2 shows of a product, and what it takes. */
class ProductV2 extends Model.Class<ProductV2>()("ProductV2", {
  id: Model.id({ prefix: "P" }),
  title: Schema.String.pipe(Validator.notEmpty),
  price: Schema.Struct({ amount: Schema.Int, currency: Schema.String })
}) {}

class Wish extends Model.Class<Wish>()("Wish", {
  id: Model.id({ prefix: "W" }),
  what: Schema.String.pipe(Validator.notEmpty),
  many: Schema.Int.pipe(Validator.min(1), Model.withDefault(() => 1)),
  secret: Schema.String.pipe(Model.omitted, Model.optional)
}) {}

const summary = Action.make(
  Product,
  "summary",
  { success: Schema.String, summary: "One line" },
  ({ name, price }) => Effect.succeed(`${name}: ${price}`)
)

const Products = Resource.make(Product, { methods: ["GET", "POST", "DELETE"] })
  .action(summary)
  .action("copy", {
    method: "POST",
    success: Product,
    status: 201,
    location: "/api/v1/products/{id}"
  }, (product) =>
    Effect.gen(function*() {
      const products = yield* Repository.for(Product)
      return yield* products.insert(yield* Model.finalise(Product, { name: `${product.name} 2` }))
    }))
  .action("touch", { method: "POST" }, () => Effect.void)
  .action("itself", { success: Product }, (product) => Effect.succeed(product))
  .action("twice", { success: Schema.Array(Product), rel: "copies" }, (product) => Effect.succeed([product, product]))
  .action(
    "digits",
    { success: Schema.Array(Schema.Int) },
    ({ price }) => Effect.succeed(String(price).split("").map(Number))
  )
  .action("raise", {
    payload: { by: Schema.Int.pipe(Validator.min(1)), note: Schema.optionalKey(Schema.String) },
    success: Schema.Struct({ price: Schema.Int, note: Schema.NullOr(Schema.String) })
  }, (product, { payload: { by, note } }) =>
    Effect.gen(function*() {
      const products = yield* Repository.for(Product)
      const { price } = yield* products.modify(product.id, (current) =>
        Effect.succeed(new Product({ ...current, price: current.price + by })))
      return { price, note: note ?? null }
    }))
  .action("search", {
    method: "GET",
    payload: { term: Schema.String, limit: Schema.Int, exact: Schema.optionalKey(Schema.Boolean) },
    success: Schema.Unknown
  }, (_, { payload }) => Effect.succeed(payload))
  .action(
    "forget",
    { method: "DELETE", payload: { reason: Schema.String }, success: Schema.String },
    (_, { payload }) => Effect.succeed(payload.reason)
  )
  .action(
    "part",
    { path: "parts/{part}/:side", query: { zoom: Schema.optionalKey(Schema.Finite) }, success: Schema.Unknown },
    ({ id }, { params, query }) => Effect.succeed({ id, ...params, ...query })
  )
  .action(
    "wish",
    { payload: Wish, success: Wish },
    ({ name }, { payload }) => Effect.succeed(new Wish({ ...payload, what: `${payload.what} of ${name}` }))
  )
  .action("sold_out", { method: "PUT", error: SoldOut, deprecated: true }, () => Effect.fail(new SoldOut({ since: 3 })))
  .action(
    "lost",
    {},
    () => Effect.asVoid(Effect.flatMap(Repository.for(Product), (products) => products.findById("elsewhere")))
  )
  .action("broken", {}, () => Effect.die(new Error("the inside")))

const viewOf = ({ id, name, price }: Product) =>
  new ProductV2({ id, title: name, price: { amount: price, currency: "CHF" } })

const ProductsV2 = Service.make("ProductController")
  .operation("list", {
    path: "./",
    query: { page_size: Schema.Int.pipe(Validator.min(1), Schema.optionalKey) },
    success: Schema.Array(ProductV2)
  }, ({ query }) =>
    Effect.gen(function*() {
      const products = yield* Repository.for(Product)
      return (yield* products.find(undefined, { sort: "name", pageSize: query.page_size ?? 50 })).map(viewOf)
    }))
  .operation("get", { path: "./{product_id}", success: ProductV2 }, ({ params }) =>
    Effect.gen(function*() {
      const products = yield* Repository.for(Product)
      return viewOf(yield* products.findById(params.product_id))
    }))
  .operation(
    "create",
    { method: "POST", path: "./", payload: ProductV2, success: ProductV2 },
    ({ payload: view }) =>
      Effect.gen(function*() {
        const products = yield* Repository.for(Product)
        const product = yield* Model.finalise(Product, { id: view.id, name: view.title, price: view.price.amount })
        return viewOf(yield* products.insert(product))
      })
  )

const Odds = Service.make("OddService")
  .operation("plain", { success: Schema.Finite }, () => Effect.succeed(7))
  .operation(
    Operation.make(
      "nested",
      { path: "./a/b", success: Schema.Array(Product) },
      () => Effect.succeed([new Product({ id: "P/1 ü", name: "n", price: 1, cost: 1 })])
    )
  )
  .operation("jobs", {
    payload: { name: Schema.String },
    success: Schema.Struct({ name: Schema.String, done: Schema.Boolean }),
    status: 202,
    location: "/api/v1/odds/jobs/{name}"
  }, ({ payload: { name } }) => Effect.succeed({ name, done: false }))
  .operation("absolute", { path: "/pay", method: "POST", payload: { sum: Schema.Int } }, () => Effect.void)

/** Each part of a request as fields and as a schema. */
const Parts = Service.make("PartService")
  .operation("seat", {
    path: "./seats/{row}/:taken/{side}",
    params: { row: Schema.Int.pipe(Validator.min(1)), taken: Schema.Boolean },
    success: { row: Schema.Int, taken: Schema.Boolean, side: Schema.String }
  }, ({ params }) => Effect.succeed(params))
  .operation("range", {
    path: "./ranges/{from}/{to}",
    params: Schema.Struct({ from: Schema.Int, to: Schema.Int }),
    query: Schema.Struct({ step: Schema.Int }),
    success: Schema.Array(Schema.Int)
  }, ({ params: { from, to }, query: { step } }) => Effect.succeed([from, to, step]))
  .operation(
    "sum",
    { payload: Schema.Array(Schema.Int), success: Schema.Int },
    ({ payload }) => Effect.succeed(payload.reduce((sum, number) => sum + number, 0))
  )
  .operation(
    "find",
    {
      method: "GET",
      payload: Schema.Struct({ limit: Schema.Int }),
      query: { open: Schema.Boolean },
      success: Schema.Unknown
    },
    ({ payload, query }) => Effect.succeed({ ...payload, ...query })
  )
  .operation(
    "count",
    { method: "GET", payload: Wish, success: Wish },
    ({ payload }) => Effect.succeed(payload)
  )

export const engine = KernelEngine.make("calls")
  .register(Products, { urlBase: "/api/v1" })
  .register(Products, { urlBase: "/api/plain", name: "plain", enableHateoas: false, tags: ["plain"] })
  .register(Product, { urlBase: "/internal", segment: "things", name: "things" })
  .register(ProductsV2, { urlBase: "/api/v2/", name: "products_v2" })
  .register(Odds, { urlBase: "api/v1" })
  .register(Parts)

/** The same service, described apart from its implementation. */
export const apart: typeof engine = KernelEngine.fromApi(
  KernelApi.make("calls")
    .register(Products.description, { urlBase: "/api/v1" })
    .register(Products.description, { urlBase: "/api/plain", name: "plain", enableHateoas: false, tags: ["plain"] })
    .register(Product, { urlBase: "/internal", segment: "things", name: "things" })
    .register(ProductsV2.description, { urlBase: "/api/v2/", name: "products_v2" })
    .register(Odds.description, { urlBase: "api/v1" })
    .register(Parts.description),
  [implementedService(Parts), implementedResource(Products), implementedService(ProductsV2), implementedService(Odds)]
)

const products = "/api/v1/products"

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const resultOf = (answer: Answer): unknown => {
  assert.deepStrictEqual(Object.keys(okay(answer).body), ["_type", "result"])
  assert.strictEqual(answer.body._type, "OperationResult")
  return answer.body.result
}

export const callsContract = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore, E>,
  served = engine
) =>
  it.layer(serving(served, store), { excludeTestServices: true })(`calls / ${name}`, (it) => {
    const created = (body: object = {}) =>
      Effect.map(
        send("POST", products, { name: "Tea", price: 42, ...body }),
        (answer) => String(okay(answer, 201).body.result)
      )

    it.effect("an action's result is a model, a list, any other value, or nothing", () =>
      Effect.gen(function*() {
        const id = yield* created()
        const path = `${products}/${id}`
        assert.strictEqual(resultOf(yield* send("GET", `${path}/summary`)), "Tea: 42")
        assert.isNull(resultOf(yield* send("POST", `${path}/touch`)))
        const shown = okay(yield* send("GET", path)).body
        assert.deepStrictEqual(okay(yield* send("GET", `${path}/itself`)).body, shown)
        assert.deepStrictEqual([shown._type, shown.id, shown.cost], ["Product", id, undefined])
        assert.deepStrictEqual(okay(yield* send("GET", `${path}/twice`)).body, {
          _type: "list",
          _items: [shown, shown],
          _links: { self: { href: `${path}/twice` } }
        })
        assert.deepStrictEqual(okay(yield* send("GET", `${path}/digits`)).body, {
          _type: "list",
          _items: [4, 2],
          _links: { self: { href: `${path}/digits` } }
        })
      }))

    it.effect("parameters of a path have the types of their schemas, and are texts without one", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(okay(yield* send("GET", "/parts/seats/7/yes/left")).body, {
          row: 7,
          taken: true,
          side: "left"
        })
        assert.deepStrictEqual(okay(yield* send("GET", "/parts/ranges/1/9?step=2")).body._items, [1, 9, 2])
        const wrong = yield* send("GET", "/parts/seats/0/perhaps/left")
        assert.strictEqual(wrong.status, 400, wrong.text)
        assert.deepStrictEqual(fieldsIn(wrong), ["row", "taken"])
        const text = yield* send("GET", "/parts/ranges/one/9?step=2")
        assert.deepStrictEqual(problemsIn(text), ["from Type"])
      }))

    it.effect("a payload has any schema, and that of a GET is in its query", () =>
      Effect.gen(function*() {
        assert.strictEqual(resultOf(yield* send("POST", "/parts/sum", [1, 2, 3])), 6)
        const wrong = yield* send("POST", "/parts/sum", [1, "2"])
        assert.strictEqual(wrong.status, 400, wrong.text)
        assert.deepStrictEqual(resultOf(yield* send("GET", "/parts/find?limit=3&open=no")), { limit: 3, open: false })
        const wish = okay(yield* send("GET", "/parts/count?what=Tea")).body
        assert.deepStrictEqual([wish._type, wish.what, wish.many], ["Wish", "Tea", 1])
      }))

    it.effect("documents link to their actions, with methods and arguments, unless links are disabled", () =>
      Effect.gen(function*() {
        const id = yield* created()
        const path = `${products}/${id}`
        assert.deepStrictEqual(okay(yield* send("GET", path)).body._links, {
          self: { href: path, methods: ["GET", "POST", "DELETE"] },
          collection: { href: products, methods: "GET" },
          summary: { href: `${path}/summary`, methods: "GET" },
          touch: { href: `${path}/touch`, methods: "POST" },
          itself: { href: `${path}/itself`, methods: "GET" },
          copies: { href: `${path}/twice`, methods: "GET" },
          digits: { href: `${path}/digits`, methods: "GET" },
          copy: { href: `${path}/copy`, methods: "POST" },
          raise: { href: `${path}/raise`, methods: "POST", args: ["by", "note"] },
          search: { href: `${path}/search`, methods: "GET", args: ["term", "limit", "exact"] },
          forget: { href: `${path}/forget`, methods: "DELETE", args: ["reason"] },
          part: { href: `${path}/parts/{part}/{side}`, methods: "GET", templated: true, args: ["zoom"] },
          wish: { href: `${path}/wish`, methods: "POST", args: ["id", "what", "many"] },
          sold_out: { href: `${path}/sold_out`, methods: "PUT" },
          lost: { href: `${path}/lost`, methods: "GET" },
          broken: { href: `${path}/broken`, methods: "GET" }
        })
        for (const own of [`/api/plain/products/${id}`, `/api/plain/products/${id}/itself`]) {
          assert.notProperty(okay(yield* send("GET", own)).body, "_links")
        }
        const { _items } = okay(yield* send("GET", `/api/plain/products/${id}/twice`)).body
        assert.notProperty(_items[0], "_links")
        const thing = okay(yield* send("GET", `/internal/things/${id}`)).body
        assert.deepStrictEqual(thing._links, {
          self: { href: `/internal/things/${id}`, methods: ["GET"] },
          collection: { href: "/internal/things", methods: "GET" }
        })
      }))

    it.effect("a response has the declared status, and a Location made from the result", () =>
      Effect.gen(function*() {
        const made = yield* send("POST", "/api/v1/odds/jobs", { name: "a b" })
        assert.deepStrictEqual([made.status, made.headers["location"], made.body], [
          202,
          "/api/v1/odds/jobs/a%20b",
          { name: "a b", done: false }
        ])
        // Clients would leave the path.
        for (const name of ["..", "."]) {
          const away = yield* send("POST", "/api/v1/odds/jobs", { name })
          assert.deepStrictEqual([away.status, away.headers["location"]], [202, undefined])
        }
        const within = yield* send("POST", "/api/v1/odds/jobs", { name: "..." })
        assert.strictEqual(within.headers["location"], "/api/v1/odds/jobs/...")
        const path = `${products}/${yield* created()}`
        const copyProblem = yield* send("POST", `${path}/copy`)
        assert.deepStrictEqual([copyProblem.status, copyProblem.headers["location"]], [
          201,
          `${products}/${copyProblem.body.id}`
        ])
        assert.strictEqual(copyProblem.body._type, "Product")
      }))

    it.effect("arguments are read from the body, or from the query without one, and validated", () =>
      Effect.gen(function*() {
        const path = `${products}/${yield* created({ price: 1 })}`
        assert.deepStrictEqual(okay(yield* send("POST", `${path}/raise`, { by: 2, note: "n", more: 1 })).body, {
          price: 3,
          note: "n"
        })
        assert.deepStrictEqual(okay(yield* send("POST", `${path}/raise/`, { by: 1 })).body, { price: 4, note: null })
        assert.deepStrictEqual(problemsIn(yield* send("POST", `${path}/raise`, { by: 0, note: 1 })), [
          "by Min",
          "note Type"
        ])
        assert.deepStrictEqual(problemsIn(yield* send("POST", `${path}/raise`, {})), ["by Required"])
        refused(400, yield* send("POST", `${path}/raise`, "{"))
        refused(
          415,
          yield* send("POST", `${path}/raise`, "by=1", { "content-type": "application/x-www-form-urlencoded" })
        )
        refused(415, yield* send("POST", `${path}/raise`))
        refused(413, yield* send("POST", `${path}/raise`, { by: 1, note: "x".repeat(1_048_576) }))
        assert.deepStrictEqual(resultOf(yield* send("GET", `${path}/search?term=a%20b&limit=3&exact=true`)), {
          term: "a b",
          limit: 3,
          exact: true
        })
        assert.sameMembers(fieldsIn(yield* send("GET", `${path}/search?limit=x`)), ["term", "limit"])
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}/search?term=a&limit=1&limit=2`)), ["limit"])
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}/search?term=a&limit=1&nope=2`)), ["nope"])
        assert.strictEqual(resultOf(yield* send("DELETE", `${path}/forget?reason=old`)), "old")
        assert.deepStrictEqual(fieldsIn(yield* send("DELETE", `${path}/forget`, { reason: "old" })), ["reason"])
        for (
          const [text, exact] of [["yes", true], ["Y", true], ["on", true], ["n", false], ["No", false], ["off", false]]
        ) {
          const found = resultOf(yield* send("GET", `${path}/search?term=a&limit=3&exact=${text}`))
          assert.deepStrictEqual(found, { term: "a", limit: 3, exact })
        }
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}/search?term=a&limit=1&exact=maybe`)), ["exact"])
        const wish = okay(yield* send("POST", `${path}/wish`, { what: "a box" })).body
        assert.deepStrictEqual(wish, { _type: "Wish", id: wish.id, what: "a box of Tea", many: 1 })
        assert.match(wish.id, /^W/u)
        assert.deepStrictEqual(fieldsIn(yield* send("POST", `${path}/wish`, { what: "", many: 0 })), ["what", "many"])
      }))

    it.effect("paths have parameters, decoded, and identifiers of any characters", () =>
      Effect.gen(function*() {
        const id = yield* created({ id: "a/b c;ü%?" })
        const path = `${products}/${encodeURIComponent(id)}`
        assert.deepStrictEqual(resultOf(yield* send("GET", `${path}/parts/x%2Fy/left%20side?zoom=1.5`)), {
          id,
          part: "x/y",
          side: "left side",
          zoom: 1.5
        })
        assert.strictEqual(resultOf(yield* send("GET", `${path}/summary/`)), "Tea: 42")
        assert.strictEqual(
          okay(yield* send("GET", `${path}/itself`)).body._links.summary.href,
          `${path}/summary`
        )
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}/parts/a/b?zoom=far`)), ["zoom"])
      }))

    it.effect("an unknown document is a 404, another method a 405, and an error has its declared status", () =>
      Effect.gen(function*() {
        const path = `${products}/${yield* created()}`
        const calls: ReadonlyArray<readonly [method: Method, name: string, body?: unknown]> = [
          ["GET", "summary"],
          ["POST", "raise", { by: 1 }],
          ["POST", "raise", { by: "wrong" }],
          ["PUT", "sold_out"],
          ["GET", "search"]
        ]
        for (const [method, name, body] of calls) {
          const answer = refused(404, yield* send(method, `${products}/none/${name}`, body))
          assert.strictEqual(answer.body.message, "Product none does not exist")
        }
        refused(404, yield* send("GET", `${path}/nothing`))
        refused(404, yield* send("GET", `${path}/summary/more`))
        for (
          const [method, name, allow] of [
            ["POST", "summary", "GET, HEAD, QUERY, OPTIONS"],
            ["GET", "raise", "POST, OPTIONS"],
            ["PATCH", "sold_out", "PUT, OPTIONS"]
          ] as const
        ) {
          assert.strictEqual(refused(405, yield* send(method, `${path}/${name}`, {})).headers["allow"], allow)
          const options = yield* send("OPTIONS", `${path}/${name}`)
          assert.deepStrictEqual([options.status, options.text, options.headers["allow"]], [204, "", allow])
        }
        assert.deepStrictEqual(refused(410, yield* send("PUT", `${path}/sold_out`)).body, {
          _type: "ErrorMessage",
          code: 410,
          error: "SoldOut",
          message: "Sold out",
          since: 3
        })
        assert.include(refused(404, yield* send("GET", `${path}/lost`)).body.message, "elsewhere")
        assert.notInclude(refused(500, yield* send("GET", `${path}/broken`)).text, "inside")
        refused(406, yield* send("GET", `${path}/summary`, undefined, { accept: "text/html" }))
        const head = okay(yield* send("HEAD", `${path}/summary`))
        assert.strictEqual(head.text, "")
      }))

    it.effect("a service's operations are at their paths, and have links of registered models", () =>
      Effect.gen(function*() {
        assert.strictEqual(resultOf(yield* send("GET", "/api/v1/odds/plain/")), 7)
        assert.deepStrictEqual(okay(yield* send("GET", "/api/v1/odds/a/b")).body._items[0]._links.self, {
          href: `${products}/${encodeURIComponent("P/1 ü")}`,
          methods: ["GET", "POST", "DELETE"]
        })
        assert.isNull(resultOf(yield* send("POST", "/api/v1/pay", { sum: 1 })))
        refused(404, yield* send("GET", "/api/v1/odds"))
        assert.strictEqual(refused(405, yield* send("GET", "/api/v1/pay")).headers["allow"], "POST, OPTIONS")
      }))

    it.effect("one model is served in two versions, each by its prefix, over one repository", () =>
      Effect.gen(function*() {
        const v2 = "/api/v2/products"
        const made = okay(
          yield* send("POST", `${v2}/`, { title: "Mug", price: { amount: 9, currency: "CHF" } })
        ).body
        assert.deepStrictEqual(made, {
          _type: "ProductV2",
          id: made.id,
          title: "Mug",
          price: { amount: 9, currency: "CHF" }
        })
        assert.deepInclude(okay(yield* send("GET", `${products}/${made.id}`)).body, {
          _type: "Product",
          name: "Mug",
          price: 9
        })
        const old = yield* created({ name: "A first" })
        assert.deepStrictEqual(okay(yield* send("GET", `${v2}/${old}`)).body.title, "A first")
        const list = okay(yield* send("GET", `${v2}?page_size=1`)).body
        assert.deepStrictEqual([list._type, list._items.length, list._items[0].title], ["list", 1, "A first"])
        assert.strictEqual(list._links.self.href, `${v2}?page_size=1`)
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${v2}?page_size=0`)), ["page_size"])
        assert.deepStrictEqual(fieldsIn(yield* send("POST", v2, { title: "" })), ["title", "price"])
        refused(404, yield* send("GET", `${v2}/none`))
        assert.strictEqual(
          refused(405, yield* send("DELETE", v2)).headers["allow"],
          "GET, POST, HEAD, QUERY, OPTIONS"
        )
      }))
  })
