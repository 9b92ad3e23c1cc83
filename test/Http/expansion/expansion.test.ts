/** Expansion over HTTP: `expand` embeds what documents refer to, as `GET` of it answers to the same caller. */
import { assert, describe, it } from "@effect/vitest"
import { DocumentStore, EmbeddedStore, KernelConfig, KernelEngine, Model, OpenApi } from "appkernel"
import { ConfigProvider, Context, Effect, Layer, Schema } from "effect"
import { recordedStore } from "../../support/recordedStore.ts"
import { sendTo } from "../../support/rest.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"

class Supplier extends Model.Class<Supplier>()("Supplier", {
  id: Model.id({ prefix: "S" }),
  name: Schema.String
}) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String,
  margin: Schema.Int,
  state: Schema.Literals(["open", "draft"]),
  supplier: Model.reference(() => Supplier).pipe(Model.optional),
  ...Model.versioned,
  ...Model.softDeleted
}) {}

class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.id({ prefix: "C" }),
  name: Schema.String
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Model.reference(() => Customer),
  lines: Schema.Array(Schema.Struct({ product: Model.reference(() => Product), quantity: Schema.Int })),
  secret: Model.reference(() => Customer).pipe(Model.omitted, Model.optional),
  follows: Model.reference((): Model.Referable => Order).pipe(Model.optional),
  ...Model.versioned
}) {}

/** A document of an answer. */
interface Embedding {
  readonly id: string
  readonly name?: string
  readonly _embedded?: { readonly [path: string]: Embedding | ReadonlyArray<Embedding> }
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const open = KernelEngine.make("shop")
  .register(Order, { methods })
  .register(Product, { methods })
  .register(Supplier, { methods })
  .register(Customer, { methods, urlBase: "/api" })

const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

/** 50 orders of 10 customers, each with two products of 20. */
const documents = {
  Supplier: idsOf("S", 4).map((_id) => ({ _id, name: `supplier ${_id} ä` })),
  Product: idsOf("P", 20).map((_id, i) => ({
    _id,
    name: `product ${_id}`,
    margin: i,
    state: i % 3 === 0 ? "draft" : "open",
    supplier: `S${i % 5}`,
    version: 1
  })),
  Customer: idsOf("C", 10).map((_id) => ({ _id, name: `customer ${_id} ü€😀` })),
  Order: idsOf("O", 50).map((_id, i) => ({
    _id,
    customer: `C${i % 11}`,
    lines: [{ product: `P${i % 20}`, quantity: 1 }, { product: `P${(i + 7) % 20}`, quantity: 2 }],
    secret: "C1",
    ...i % 2 === 0 ? {} : { follows: `O${i - 1}` },
    version: 1
  }))
}

const filled = Effect.gen(function*() {
  const own = Context.get(yield* Layer.build(EmbeddedStore.layerMemory), DocumentStore.DocumentStore)
  const { calls, store } = recordedStore(own)
  for (const [collection, all] of Object.entries(documents)) yield* own.insertMany(collection, all)
  return { calls, own, store: Layer.succeed(DocumentStore.DocumentStore, store) }
})

const limitedTo = (limits: Partial<KernelConfig.Limits>) =>
  Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), ...limits })

const served = Effect.fnUntraced(function*(limits: Partial<KernelConfig.Limits> = {}) {
  const { calls, own, store } = yield* filled
  const { baseUrl } = yield* open.test({ store }).pipe(Effect.provide(limitedTo(limits)))
  const get = (path: string, headers = {}) => sendTo(baseUrl, "GET", path, undefined, headers)
  return { baseUrl, calls, get, own }
})

describe("expansion", () => {
  it.effect("embeds what is referred to, at any depth and in lists, as GET of it answers", () =>
    Effect.gen(function*() {
      const { get } = yield* served()
      const order = yield* get("/orders/O5?expand=customer,lines.product.supplier,follows")
      const { _embedded, ...own } = order.body
      assert.deepStrictEqual(own, (yield* get("/orders/O5")).body)
      assert.deepStrictEqual(Object.keys(_embedded), ["customer", "lines.product", "follows"])
      assert.deepStrictEqual(_embedded.customer, (yield* get("/api/customers/C5")).body)
      assert.deepStrictEqual(_embedded.follows, (yield* get("/orders/O4")).body)
      const [first, second] = _embedded["lines.product"]
      // There is no supplier S2 of the second one's number beyond the fourth.
      assert.deepStrictEqual(first._embedded, { supplier: (yield* get("/suppliers/S0")).body })
      const product = (yield* get("/products/P12")).body
      assert.deepStrictEqual(second, { ...product, _embedded: { supplier: (yield* get("/suppliers/S2")).body } })
    }))

  it.effect("embeds into the answers of writes what GET embeds after them, and fails before them only", () =>
    Effect.gen(function*() {
      const { baseUrl, get } = yield* served({ maxExpandPaths: 2, maxExpanded: 2 })
      const write = (method: string, path: string, body: unknown, headers = { prefer: "return=representation" }) =>
        sendTo(baseUrl, method, path, body, headers)
      const query = "?expand=customer,lines.product.supplier"
      const order = { customer: "C1", lines: [{ product: "P5", quantity: 1 }] }
      const created = yield* write("POST", `/orders${query}`, { ...order, lines: [] })
      assert.strictEqual(created.status, 201)
      const path = `/orders/${created.body.id}`
      const same = Effect.fnUntraced(function*(answer: typeof created) {
        const read = yield* get(path + query)
        assert.deepStrictEqual([answer.text, answer.headers["etag"]], [read.text, read.headers["etag"]])
        return answer.body._embedded
      })
      assert.hasAllKeys(yield* same(created), ["customer", "lines.product"])
      assert.strictEqual((yield* same(yield* write("PUT", path + query, { ...order, lines: [] }))).customer.id, "C1")
      assert.strictEqual((yield* same(yield* write("PATCH", path + query, { customer: "C2" }))).customer.id, "C2")
      const etag = (yield* get(path + query)).headers["etag"] as string
      const guarded = { "prefer": "return=representation", "if-match": etag }
      assert.strictEqual((yield* write("PATCH", path + query, { customer: "C3" }, guarded)).status, 200)
      assert.strictEqual((yield* write("PATCH", path + query, { customer: "C3" }, guarded)).status, 412)

      const before = (yield* get(path)).text
      for (const wrong of ["expand=none", "expand=secret", "expand=customer,follows,lines.product", "other=1"]) {
        for (const method of ["PUT", "PATCH"]) {
          assert.strictEqual(
            (yield* write(method, `${path}?${wrong}`, { ...order, customer: "C7" })).status,
            400,
            wrong
          )
        }
        assert.strictEqual((yield* write("POST", `/orders?${wrong}`, order)).status, 400, wrong)
      }
      assert.strictEqual((yield* get(path)).text, before)
      assert.strictEqual((yield* get("/orders?count=exact")).headers["x-total-count"], "51")

      // What can't be embedded after the write leaves its answer as it is.
      const many = idsOf("P", 5).map((product) => ({ product, quantity: 1 }))
      const large = yield* write("PATCH", path + query, { lines: many })
      assert.deepStrictEqual([large.status, large.text], [200, (yield* get(path)).text])
      assert.strictEqual((yield* get(path + query)).status, 400)
      const result = yield* write("PATCH", path + query, { customer: "C4" }, {} as never)
      assert.deepStrictEqual(result.body, { _type: "OperationResult", result: created.body.id })
    }))

  it.effect("reads the store once for each path and level of a page", () =>
    Effect.gen(function*() {
      const { calls, get } = yield* served()
      const reads = Effect.fnUntraced(function*(path: string) {
        calls.length = 0
        const page = yield* get(path)
        assert.strictEqual(page.status, 200, page.text)
        return calls.map(({ args: [collection], name }) => `${name} ${String(collection)}`)
      })
      assert.deepStrictEqual(yield* reads("/orders?page_size=50&expand=customer,lines.product"), [
        "findAndCount Order",
        "find Customer",
        "find Product"
      ])
      assert.deepStrictEqual(yield* reads("/orders?page_size=50&count=none&expand=lines.product.supplier"), [
        "find Order",
        "find Product",
        "find Supplier"
      ])
      assert.deepStrictEqual(yield* reads("/orders?customer=none&expand=customer"), ["findAndCount Order"])
      assert.deepStrictEqual(yield* reads("/orders"), ["findAndCount Order"])
    }))

  it.effect("leaves out what does not exist or is deleted, from lists too", () =>
    Effect.gen(function*() {
      const { baseUrl, get } = yield* served()
      // There are customers C0 to C9.
      assert.deepStrictEqual((yield* get("/orders/O10?expand=customer")).body._embedded, {})
      assert.strictEqual((yield* sendTo(baseUrl, "DELETE", "/products/P5")).status, 200)
      const page = (yield* get("/orders?id=O5&expand=lines.product&page_size=1")).body
      assert.deepStrictEqual(
        page._items[0]._embedded["lines.product"].map(({ id }: { id: string }) => id),
        ["P12"]
      )
      assert.include(page._links.self.href, "expand=lines.product")
    }))

  it.effect("has the fields that are selected, of documents and of embedded ones", () =>
    Effect.gen(function*() {
      const { get } = yield* served()
      const bodyOf = (query: string) => Effect.map(get(`/orders/O5?${query}`), ({ body }) => body)
      const names = (value: object) => Object.keys(value).filter((name) => !name.startsWith("_"))
      const own = yield* bodyOf("expand=customer&fields=version")
      assert.deepStrictEqual([names(own), names(own._embedded.customer)], [["id", "version"], ["id", "name"]])
      const inner = yield* bodyOf("expand=lines.product.supplier&fields=_embedded.lines.product._embedded.supplier.id")
      const [product] = inner._embedded["lines.product"]
      assert.deepStrictEqual(names(product._embedded.supplier), ["id"])
      assert.include(names(product), "margin")
      const both = yield* bodyOf("expand=lines.product&fields=id,_embedded.lines.product.name")
      assert.deepStrictEqual([names(both), names(both._embedded["lines.product"][0])], [["id"], ["id", "name"]])
      const page = yield* get("/orders?id=O5&expand=customer&fields=version")
      assert.deepStrictEqual(names(page.body._items[0]), ["id", "version"])
      assert.deepStrictEqual(page.body._items[0]._embedded, own._embedded)
      for (
        const fields of [
          "_embedded.customer.nothing",
          "_embedded.lines.product.id",
          "_embedded.customer",
          "_embedded.x.y"
        ]
      ) {
        const refused = yield* get(`/orders/O5?expand=customer&fields=${fields}`)
        assert.deepStrictEqual(
          [refused.status, refused.body.errors[0].message],
          [400, `fields "${fields}" is not a field to select`]
        )
      }
      assert.strictEqual((yield* get("/orders/O5?fields=_embedded.customer.id")).status, 400)
    }))

  it.effect("refuses paths that there are not, and more than the configuration allows", () =>
    Effect.gen(function*() {
      const { get } = yield* served({ maxExpandPaths: 2, maxExpandDepth: 2, maxExpanded: 15 })
      const messageOf = Effect.fnUntraced(function*(path: string) {
        const { body, status } = yield* get(path)
        return [status, body.errors?.[0].field, body.errors?.[0].message]
      })
      const unknown = (path: string) => [400, "expand", `expand "${path}" is not a path to expand`]
      for (const path of ["", "name", "secret", "lines", "lines.quantity", "customer.x", "lines.product.margin"]) {
        assert.deepStrictEqual(yield* messageOf(`/orders/O5?expand=${path}`), unknown(path))
        assert.deepStrictEqual(yield* messageOf(`/orders?expand=${path}&customer=none`), unknown(path))
      }
      assert.deepStrictEqual(yield* messageOf("/suppliers?expand=x"), unknown("x"))
      assert.deepStrictEqual(yield* messageOf("/orders?expand=customer,follows,lines.product"), [
        400,
        "expand",
        "expand can't take more than 2 paths"
      ])
      assert.deepStrictEqual(yield* messageOf("/orders?customer=none&expand=follows.follows.follows"), [
        400,
        "expand",
        "expand can't follow more than 2 references in one path"
      ])
      assert.deepStrictEqual(yield* messageOf("/orders?expand=lines.product"), [
        400,
        "expand",
        "expand gives more than 15 documents: ask for fewer documents, paths or fields"
      ])
    }))

  it.effect("has no more bytes than a page, which ends early by cursor", () =>
    Effect.gen(function*() {
      const { get, own } = yield* served({ maxPageBytes: 300_000 })
      for (const collection of ["Customer", "Product"]) {
        yield* own.updateMany(collection, {}, { $set: { name: "n".repeat(20_000) } })
      }
      const numbered = yield* get("/orders?fields=id&expand=customer")
      assert.deepStrictEqual([numbered.status, numbered.body.errors[0].field], [400, "page_size"])
      const all = yield* get("/orders?fields=id&expand=lines.product")
      assert.deepStrictEqual([all.status, all.body.errors[0].field], [400, "expand"])
      const ids: Array<string> = []
      let next = "/orders?cursor=&fields=id&expand=customer"
      while (next !== undefined) {
        const page = yield* get(next)
        assert.strictEqual(page.status, 200, page.text)
        assert.isBelow(page.text.length, 310_000)
        ids.push(...page.body._items.map(({ id }: { readonly id: string }) => id))
        next = page.body._links.next?.href
      }
      assert.deepStrictEqual(ids, idsOf("O", 50).toSorted())
    }))

  it.effect("counts for entity tags, which remain preconditions of writes", () =>
    Effect.gen(function*() {
      const { baseUrl, get } = yield* served()
      const path = "/orders/O5?expand=customer"
      const { headers: { etag = "" } } = yield* get(path)
      const plain = yield* get("/orders/O5")
      assert.notStrictEqual(etag, plain.headers["etag"])
      const known = { "if-none-match": String(etag) }
      assert.strictEqual((yield* get(path, known)).status, 304)
      assert.strictEqual((yield* sendTo(baseUrl, "PATCH", "/api/customers/C5", { name: "new" })).status, 200)
      const changed = yield* get(path, known)
      assert.deepStrictEqual([changed.status, changed.body._embedded.customer.name], [200, "new"])
      const matching = { "if-match": String(etag) }
      const patch = { lines: [] }
      assert.strictEqual((yield* sendTo(baseUrl, "PATCH", "/orders/O5", patch, matching)).status, 200)
      assert.strictEqual((yield* sendTo(baseUrl, "PATCH", "/orders/O5", patch, matching)).status, 412)
    }))

  it.effect("answers 500 callers with states that were written, while others write", () =>
    Effect.gen(function*() {
      const { baseUrl, get } = yield* served()
      const writing = Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i),
        (i) => sendTo(baseUrl, "PATCH", `/api/customers/C${i % 10}`, { name: `new ${i % 10}` })
      )
      const reading = Effect.forEach(
        Array.from({ length: 500 }, (_, i) => i),
        (i) => get(`/orders?page_size=5&page=${i % 10 + 1}&expand=customer,lines.product`),
        { concurrency: 500 }
      )
      const [answers, writes] = yield* Effect.all([reading, writing], { concurrency: 2 })
      assert.deepStrictEqual([...new Set([...answers, ...writes].map(({ status }) => status))], [200])
      for (const { body: { _items } } of answers) {
        for (const { _embedded, customer, lines } of _items) {
          const products: ReadonlyArray<{ readonly id: string }> = _embedded["lines.product"]
          assert.deepStrictEqual(
            products.map(({ id }) => id),
            lines.map(({ product }: { readonly product: string }) => product)
          )
          if (customer === "C10") assert.notProperty(_embedded, "customer")
          else assert.include([`customer ${customer} ü€😀`, `new ${customer.slice(1)}`], _embedded.customer.name)
        }
      }
    }))

  embeddedStores((name, layer) => {
    it.effect(`embeds the same bytes whatever texts are kept, with two writers beside the readers / ${name}`, () =>
      Effect.gen(function*() {
        const store = Context.get(yield* Layer.build(layer), DocumentStore.DocumentStore)
        for (const [collection, all] of Object.entries(documents)) yield* store.insertMany(collection, all)
        // The middle one keeps a few texts only.
        const urls = yield* Effect.forEach(
          ["1", "4 KiB", "1 MiB"],
          (bytes) =>
            open.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) }).pipe(
              Effect.map(({ baseUrl }) => baseUrl),
              Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_CACHE_TEXTS: bytes } })))
            )
        )
        const paths = ["/orders?page_size=20&expand=customer,follows", "/orders/O7?expand=lines.product.supplier"]
        const texts = (url: string) =>
          Effect.map(
            Effect.forEach(paths, (path) => sendTo(url, "GET", path), { concurrency: 2 }),
            (answers) => answers.map(({ text }) => text)
          )
        const names = new Map<string, Set<string>>()
        for (const { _id, name } of [...documents.Customer, ...documents.Product, ...documents.Supplier]) {
          names.set(_id, new Set([name]))
        }
        /** The documents that are embedded in one, at any depth. Each has a name that was written. */
        const embeddedIn = (document: Embedding): ReadonlyArray<string> =>
          Object.values(document._embedded ?? {}).flat().flatMap((one) => {
            if (one.name !== undefined) assert.include(Array.from(names.get(one.id) ?? []), one.name, one.id)
            return [one.id, ...embeddedIn(one)]
          })
        for (let round = 0; round < 6; round++) {
          const write = (writer: number) =>
            Effect.gen(function*() {
              const name = `${round} ${["plain", "é", "日本", "\u{1d11e}"][(round + writer) % 4]}`
              for (const id of [`C${round + writer}`, `P${7 * (1 + writer)}`]) names.get(id)?.add(name)
              yield* store.updateOne("Customer", { _id: `C${round + writer}` }, { $set: { name } })
              yield* store.updateOne("Product", { _id: `P${7 * (1 + writer)}` }, { $set: { name, margin: round } })
              yield* store.updateOne("Order", { _id: `O${round + writer}` }, { $set: { customer: "C1" } })
            })
          const beside = Effect.all([...urls, ...urls].map(texts), { concurrency: "unbounded" })
          const [answers] = yield* Effect.all([beside, write(0), write(1)], { concurrency: "unbounded" })
          for (const [list, one] of answers.map((answer) => answer.map((text) => JSON.parse(text)))) {
            for (const item of list._items) {
              const { customer, follows } = item
              const expected = [customer, follows].filter((id) => id !== undefined && id !== "C10")
              assert.deepStrictEqual(embeddedIn(item), expected)
            }
            assert.deepStrictEqual(embeddedIn(one), ["P7", "S2", "P14"])
          }
          const [anew, ...kept] = yield* Effect.forEach(urls, texts)
          for (const one of kept) assert.deepStrictEqual(one, anew)
          const [page, order] = (anew ?? []).map((text) => JSON.parse(text))
          const { _embedded: _, ...product } = order._embedded["lines.product"][0]
          assert.strictEqual(JSON.stringify(product), (yield* sendTo(urls[2]!, "GET", "/products/P7")).text)
          const { customer } = page._items[0]._embedded
          assert.strictEqual(
            JSON.stringify(customer),
            (yield* sendTo(urls[2]!, "GET", `/api/customers/${customer.id}`)).text
          )
        }
      }))
  })

  it.effect("is described by the OpenAPI document, where there is something to expand", () =>
    Effect.sync(() => {
      const { components, paths } = OpenApi.make(open, { title: "", version: "" })
      const pathsAt = (path: string) =>
        (Reflect.get(Object(paths[path]?.["get"]), "parameters") as ReadonlyArray<{ readonly $ref?: string }>)
          .map((one) => one.$ref === undefined ? one : components.parameters?.[one.$ref.split("/").at(-1) ?? ""])
          .flatMap((one) => Reflect.get(Object(one), "name") === "expand" ? [Reflect.get(Object(one), "schema")] : [])
      const from = (prefix: string) => ["customer", "lines.product", "follows"].map((name) => prefix + name)
      const ofOrders = [...from(""), "lines.product.supplier", ...from("follows.")]
      assert.deepStrictEqual(pathsAt("/orders"), [{ type: "array", items: { type: "string", enum: ofOrders } }])
      assert.deepStrictEqual(pathsAt("/orders/{id}"), pathsAt("/orders"))
      assert.deepStrictEqual(pathsAt("/suppliers"), [])
      const embedded = (name: string) => Object(Object(components.schemas[name])["properties"])["_embedded"]
      assert.strictEqual(embedded("Order").$ref, "#/components/schemas/OrderEmbedded")
      const documentOf = (name: string) => ({ $ref: `#/components/schemas/${name}Selection` })
      assert.deepStrictEqual(Object(components.schemas["OrderEmbedded"])["properties"], {
        customer: documentOf("Customer"),
        "lines.product": { type: "array", items: documentOf("Product") },
        follows: documentOf("Order")
      })
      for (const name of ["Supplier", "OrderCreate", "OrderPatch"]) assert.isUndefined(embedded(name), name)
    }))
})
