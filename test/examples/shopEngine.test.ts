import { assert, it } from "@effect/vitest"
import { type DocumentStore, EmbeddedStore, KernelClient, KernelServer, Repository } from "appkernel"
import { Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpServer } from "effect/http"
import { engine } from "../../examples/shop/engine.ts"
import { Order } from "../../examples/shop/models/Order.ts"
import { Payment } from "../../examples/shop/models/Payment.ts"
import { Product } from "../../examples/shop/models/Product.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"

const product = {
  code: "LMP-0001",
  name: "Lamp",
  price: 40,
  currency: "CHF" as const,
  stock: 3
}

const jane = { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }

/** The client of a shop of its own, and where it is. */
const shop = Effect.gen(function*() {
  const baseUrl = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
  return { client: yield* KernelClient.make(engine, { baseUrl }), baseUrl }
})

const stockOf = (id: Product["id"]) =>
  Effect.map(Effect.flatMap(Repository.for(Product), (all) => all.findById(id)), ({ stock }) => stock)

type Store = Layer.Layer<DocumentStore.DocumentStore, unknown>

const suite = (store: string, layerStore: Store) => {
  const served = engine.layerServe.pipe(
    Layer.provide(Repository.layer(Payment)),
    Layer.provideMerge([KernelServer.layerWith({ address: "127.0.0.1", port: 0 }), layerStore, FetchHttpClient.layer])
  )

  // Transactions that meet wait a moment, in real time, before they begin again.
  it.layer(served, { excludeTestServices: true })(`the engine of the shop / ${store}`, (it) => {
    it.effect("changes a password when the current one is given", () =>
      Effect.gen(function*() {
        const { client } = yield* shop
        const { result: id } = yield* client.users.create({ payload: jane })
        const change = (current: string, next: string) =>
          client.users.change_password({
            params: { id },
            payload: { current_password: Redacted.make(current), new_password: Redacted.make(next) }
          })
        const wrong = yield* Effect.flip(change("battery staple", "battery staple"))
        assert.strictEqual(wrong._tag, "WrongPassword")
        assert.strictEqual(wrong.message, "The current password is wrong")
        const short = yield* Effect.flip(change(jane.password, "short"))
        assert.strictEqual(short._tag, "SchemaError", "the client knows as well as the service what is too short")
        assert.strictEqual((yield* change(jane.password, "battery staple")).result, "Password changed")
        assert.strictEqual((yield* Effect.flip(change(jane.password, "x".repeat(8))))._tag, "WrongPassword")
        assert.strictEqual((yield* client.users.get({ params: { id } })).version, 2)
      }))

    it.effect("summarises a product's reviews", () =>
      Effect.gen(function*() {
        const { client } = yield* shop
        const { result: id } = yield* client.products.create({ payload: { ...product, code: "LMP-0002" } })
        const summary = yield* client.products.get_summary({ params: { id } })
        assert.strictEqual(summary.result, "Lamp (LMP-0002): 40.00 CHF, 3 in stock")
        const { _links } = yield* client.products.get({ params: { id } })
        assert.deepStrictEqual(_links?.["get_summary"], {
          href: `/api/v1/products/${id}/get_summary`,
          methods: "GET"
        })
      }))

    it.effect("takes all ordered items out of the stock, or none", () =>
      Effect.gen(function*() {
        const { client } = yield* shop
        const { result: lamp } = yield* client.products.create({ payload: { ...product, code: "LMP-0003" } })
        const { result: bulb } = yield* client.products.create({ payload: { ...product, code: "BLB-0001", stock: 1 } })
        const order = (lamps: number, bulbs: number) =>
          client.orders.create({
            payload: {
              customer: "U1",
              lines: [{ product: lamp, quantity: lamps, price: 40 }, { product: bulb, quantity: bulbs, price: 5 }]
            }
          })
        const { result: id } = yield* order(2, 1)
        assert.deepStrictEqual([yield* stockOf(lamp), yield* stockOf(bulb)], [1, 0])
        const refused = yield* Effect.flip(order(1, 1))
        assert.strictEqual(refused._tag, "OutOfStock")
        if (refused._tag === "OutOfStock") assert.deepStrictEqual([refused.product, refused.quantity], [bulb, 1])
        assert.deepStrictEqual([yield* stockOf(lamp), yield* stockOf(bulb)], [1, 0])
        const stored = yield* Effect.flatMap(Repository.for(Order), (orders) => orders.findById(id))
        const again = yield* Effect.flip(client.orders.create({ payload: { ...stored } }))
        assert.strictEqual(again._tag, "AlreadyPlaced")
      }))

    it.effect("does not oversell under concurrent orders", () =>
      Effect.gen(function*() {
        const { client } = yield* shop
        const { result: lamp } = yield* client.products.create({
          payload: { ...product, code: "LMP-0004", stock: 5 }
        })
        const order = client.orders.create({
          payload: { customer: "U1", lines: [{ product: lamp, quantity: 1, price: 40 }] }
        })
        const results = yield* Effect.all(
          Array.from({ length: 20 }, () =>
            Effect.match(order, { onSuccess: () => "placed", onFailure: ({ _tag }) => _tag })),
          { concurrency: 20 }
        )
        assert.deepStrictEqual(
          [
            results.filter((result) =>
              result === "placed"
            ).length,
            new Set(results).size
          ],
          [5, 2],
          [...new Set(results)].join()
        )
        assert.include(results, "OutOfStock")
        assert.strictEqual(yield* stockOf(lamp), 0)
      }))

    it.effect("takes the payment of an order, once", () =>
      Effect.gen(function*() {
        const { client } = yield* shop
        const { result: lamp } = yield* client.products.create({ payload: { ...product, code: "LMP-0005" } })
        const { result: order } = yield* client.orders.create({
          payload: { customer: "U1", lines: [{ product: lamp, quantity: 2, price: 40 }] }
        })
        const wrong = yield* Effect.flip(client.payments.pay({ payload: { order, amount: 1 } }))
        assert.strictEqual(wrong._tag, "WrongAmount")
        if (wrong._tag === "WrongAmount") assert.strictEqual(wrong.due, 80)
        const receipt = yield* client.payments.pay({ payload: { order, amount: 80 } })
        assert.deepStrictEqual([receipt._type, receipt.order, receipt.amount], ["Receipt", order, 80])
        assert.strictEqual((yield* client.orders.get({ params: { id: order } })).state, "paid")
        assert.deepStrictEqual(yield* client.payments.status({ params: { payment_id: receipt.payment } }), receipt)
        assert.strictEqual(
          (yield* Effect.flip(client.payments.pay({ payload: { order, amount: 80 } })))._tag,
          "NotPayable"
        )
        const unknown = yield* Effect.flip(
          client.payments.pay({ payload: { order: Order.wire.fields.id.make("O-none"), amount: 80 } })
        )
        assert.strictEqual(unknown._tag, "NotFound")
        assert.deepStrictEqual((yield* client.payments.methods())._items, ["card", "invoice"])
      }))

    it.effect("shows the same users in a second version", () =>
      Effect.gen(function*() {
        const { baseUrl, client } = yield* shop
        const { result: id } = yield* client.users.create({ payload: { ...jane, email: "jane.2@example.com" } })
        const second = yield* client.users_v2.get({ params: { user_id: id } })
        assert.deepStrictEqual([second._type, second.full_name, second.email], [
          "UserV2",
          jane.name,
          "jane.2@example.com"
        ])
        assert.notProperty(second, "name")
        assert.notProperty(second, "password")
        const created = yield* client.users_v2.create({
          payload: { full_name: "Ada Lovelace", email: "ada.2@example.com", password: "analytical engine" }
        })
        assert.strictEqual((yield* client.users.get({ params: { id: created.id } })).name, "Ada Lovelace")
        const page = yield* client.users_v2.list({ query: { page: 1, page_size: 1 } })
        assert.deepStrictEqual(page._items.map(({ full_name }) => full_name), ["Ada Lovelace"])
        const taken = yield* Effect.flip(client.users_v2.create({
          payload: { full_name: "Eve", email: "ada.2@example.com", password: "analytical engine" }
        }))
        assert.strictEqual(taken._tag, "Conflict")
        const { paths } = yield* HttpClient.get(`${baseUrl}/openapi.json`).pipe(
          Effect.flatMap((response) => response.json),
          Effect.flatMap(
            Schema.decodeUnknownEffect(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) }))
          )
        )
        assert.includeMembers(Object.keys(paths), ["/api/v1/users/{id}", "/api/v2/users/{user_id}"])
      }))
  })
}

suite("memory", EmbeddedStore.layerMemory)
suite("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("the engine of the shop on a server / mongodb", (layer) => suite("mongodb", layer))
