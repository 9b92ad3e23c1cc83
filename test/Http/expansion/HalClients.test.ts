/** Clients of HAL follow the links and take the embedded documents, as they do with any service. */
import { assert, describe, it } from "@effect/vitest"
import { History, KernelEngine, Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"
import { join } from "node:path"
import { npm } from "../../support/clientTools.ts"
import { sendTo } from "../../support/rest.ts"

class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.id({ prefix: "C" }),
  name: Schema.String,
  orders: Model.referencedBy((): Model.Referable => Order, "customer")
}) {}

class Product extends Model.Class<Product>()("Product", { id: Model.id({ prefix: "P" }), name: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Model.reference(() => Customer),
  lines: Schema.Array(Schema.Struct({ product: Model.reference(() => Product), quantity: Schema.Int })),
  state: Schema.Literals(["open", "paid"]),
  ...Model.versioned,
  ...Model.historied
}) {}

const methods = ["GET", "POST", "PATCH"] as const

const shop = KernelEngine.make("shop")
  .register(Customer, { methods })
  .register(Product, { methods })
  .register(
    Resource.make(Order, { methods }).action(History.revisions(Order)).action(History.revision(Order)).action(
      History.restore(Order)
    )
  )

const filled = Effect.gen(function*() {
  const { baseUrl, client: { customers, orders, products } } = yield* shop.test()
  const { result: customer } = yield* customers.create({ payload: { name: "Ann" } })
  const { result: tea } = yield* products.create({ payload: { name: "tea" } })
  const { result: cup } = yield* products.create({ payload: { name: "cup" } })
  const lines = [{ product: tea, quantity: 2 }, { product: cup, quantity: 1 }]
  const { result: order } = yield* orders.create({ payload: { customer, lines, state: "open" } })
  yield* orders.create({ payload: { customer, lines: [], state: "open" } })
  yield* orders.patch({ params: { id: order }, payload: { state: "paid" } })
  return { baseUrl, cup, customer, order, tea }
})

const tools = Effect.promise(npm("hal-clients-8.0.0", "ketting@8.0.0", "halfred@2.0.0"))

/** What is known of the clients, which have no types here. */
interface State {
  readonly data: { readonly [field: string]: unknown }
  readonly follow: (rel: string, variables?: object) => Followed
  readonly followAll: (rel: string) => Promise<ReadonlyArray<Followed>>
}

interface Followed {
  readonly get: () => Promise<State>
  readonly post: (options: object) => Promise<State>
  readonly follow: (rel: string, variables?: object) => Promise<Followed>
}

interface Ketting {
  readonly Client: new(base: string) => {
    readonly use: (middleware: (request: Request, next: (request: Request) => Promise<Response>) => unknown) => void
    readonly go: (path: string) => Followed
  }
}

interface Halfred {
  readonly enableValidation: () => void
  readonly parse: (body: unknown) => Parsed
}

interface Parsed {
  readonly [field: string]: unknown
  readonly link: (rel: string) => { readonly href: string; readonly templated: boolean } | null
  readonly embeddedResource: (rel: string, i?: number) => Parsed | null
  readonly embeddedResourceArray: (rel: string) => ReadonlyArray<Parsed> | null
  readonly validationIssues: () => ReadonlyArray<unknown>
}

describe("A client of HAL", () => {
  it.live(
    "ketting follows links and templates, and asks again for nothing that is embedded",
    () =>
      Effect.gen(function*() {
        const found = yield* tools
        if ("reason" in found) return
        const { Client }: Ketting = yield* Effect.promise(() =>
          import(join(found.folder, "node_modules/ketting/dist/index.js"))
        )
        const { baseUrl, cup, customer, order, tea } = yield* filled
        const asked: Array<string> = []
        const client = new Client(baseUrl)
        client.use((request, next) => {
          asked.push(`${request.method} ${request.url.slice(baseUrl.length)}`)
          return next(request)
        })
        const seen = yield* Effect.promise(async () => {
          const expanded = await client.go(`/orders/${order}?expand=customer,lines.product`).get()
          const owner = await expanded.follow("customer").get()
          const products = await Promise.all(
            (await expanded.followAll("lines.product")).map(async (product) => (await product.get()).data["name"])
          )
          return { owner: owner.data["name"], products, state: expanded.data["state"] }
        })
        assert.deepStrictEqual(seen, { owner: "Ann", products: ["tea", "cup"], state: "paid" })
        assert.deepStrictEqual(asked, [`GET /orders/${order}?expand=customer,lines.product`])

        const followed = yield* Effect.promise(async () => {
          const plain = client.go(`/orders/${order}`)
          const first = await (await plain.follow("revision", { revision: 1 })).get()
          await (await plain.follow("restore_revision", { revision: 1 })).post({ data: {} })
          const list = await (await plain.follow("collection")).get()
          const orders = await (await client.go(`/customers/${customer}?expand=orders`).follow("orders")).get()
          return {
            first: first.data["state"],
            items: Object(list.data["_items"]).length,
            orders: [orders.data["total"], Object(orders.data["_items"]).length]
          }
        })
        assert.deepStrictEqual(followed, { first: "open", items: 2, orders: [2, 2] })
        const { body } = yield* sendTo(baseUrl, "GET", `/orders/${order}`)
        assert.strictEqual(body.state, "open")
        assert.notInclude(asked, `GET /products/${tea}`)
        assert.notInclude(asked, `GET /products/${cup}`)
      }).pipe(Effect.scoped),
    600_000
  )

  it.live("halfred parses documents and pages, and finds nothing wrong with them", () =>
    Effect.gen(function*() {
      const found = yield* tools
      if ("reason" in found) return
      const { default: halfred }: { readonly default: Halfred } = yield* Effect.promise(() =>
        import(join(found.folder, "node_modules/halfred/halfred.js"))
      )
      halfred.enableValidation()
      const { baseUrl, customer, order } = yield* filled
      const parse = Effect.fnUntraced(function*(path: string) {
        const { body } = yield* sendTo(baseUrl, "GET", path)
        const parsed = halfred.parse(body)
        assert.deepStrictEqual(parsed.validationIssues(), [], path)
        return parsed
      })
      const one = yield* parse(`/orders/${order}?expand=customer,lines.product`)
      assert.strictEqual(one.link("customer")?.href, `/customers/${customer}`)
      assert.isTrue(one.link("revision")?.templated)
      const owner = one.embeddedResource("customer")
      assert.deepStrictEqual([owner?.["name"], owner?.link("self")?.href], ["Ann", `/customers/${customer}`])
      assert.deepStrictEqual(one.embeddedResourceArray("lines.product")?.map(({ name }) => name), ["tea", "cup"])
      const orders = (yield* parse(`/customers/${customer}?expand=orders`)).embeddedResource("orders")
      assert.strictEqual(orders?.link("self")?.href, `/orders?customer=${customer}&page=1`)
      yield* parse("/orders?page_size=1&expand=customer")
    }).pipe(Effect.scoped), 600_000)
})
