import { assert, describe, it } from "@effect/vitest"
import { type DocumentStore } from "appkernel"
import { Effect, type Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import sharp from "sharp"
import { engine } from "../../examples/shop/engine.ts"
import { Order } from "../../examples/shop/models/Order.ts"
import type { Product } from "../../examples/shop/models/Product.ts"
import { quickHashes } from "../support/quickHashes.ts"
import { surroundings } from "../support/shop.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

const product = {
  code: "LMP-0001",
  name: "Lamp",
  price: 40,
  currency: "CHF" as const,
  stock: 3
}

const jane = { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }

type Store = Layer.Layer<DocumentStore.DocumentStore, unknown>

const suite = (store: string, layerStore: Store) => {
  const opened = Effect.gen(function*() {
    const { anonymous, as, baseUrl, idle, repositories, store: documents, token } = yield* engine.test({
      store: surroundings(layerStore)
    })
    const stockOf = (id: Product["id"]) => Effect.map(repositories.products.findById(id), ({ stock }) => stock)
    return {
      anonymous,
      as,
      documents,
      admin: yield* as({ subject: "U-admin", roles: ["admin"] }),
      customer: yield* as({ subject: "U1" }),
      idle,
      repositories,
      stockOf,
      baseUrl,
      token
    }
  }).pipe(Effect.provide(quickHashes))

  // Transactions that meet wait a moment, in real time, before they begin again.
  describe(`the engine of the shop / ${store}`, () => {
    it.live("changes a password when the current one is given", () =>
      Effect.gen(function*() {
        const { anonymous, as } = yield* opened
        const { result: id } = yield* anonymous.users.create({ payload: jane })
        const client = yield* as({ subject: id })
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

    it.live("summarises a product's reviews", () =>
      Effect.gen(function*() {
        const { admin, anonymous } = yield* opened
        const { result: id } = yield* admin.products.create({ payload: { ...product, code: "LMP-0002" } })
        const summary = yield* anonymous.products.get_summary({ params: { id } })
        assert.strictEqual(summary.result, "Lamp (LMP-0002): 40.00 CHF, 3 in stock")
        const { _links } = yield* anonymous.products.get({ params: { id } })
        assert.deepStrictEqual(_links?.["get_summary"], {
          href: `/api/v1/products/${id}/get_summary`,
          methods: "GET"
        })
      }))

    it.live("shows everybody the picture that a product was created with, and a small one", () =>
      Effect.gen(function*() {
        const { anonymous, baseUrl, token } = yield* opened
        const admin = Redacted.value(yield* token({ subject: "U-admin", roles: ["admin"] }))
        const drawn = sharp({ create: { width: 640, height: 480, channels: 3, background: "red" } }).jpeg()
        const picture = yield* Effect.promise(() => drawn.toBuffer())
        const { headers, id } = yield* Effect.promise(async () => {
          const form = new FormData()
          for (const [name, value] of Object.entries({ ...product, code: "LMP-0009" })) form.set(name, String(value))
          form.set("picture", new Blob([Uint8Array.from(picture)], { type: "image/jpeg" }), "lamp.jpg")
          const authorization = `Bearer ${admin}`
          const made = await fetch(`${baseUrl}/api/v1/products`, {
            method: "POST",
            headers: { authorization },
            body: form
          })
          const { result: id } = Object(await made.json())
          const small = await fetch(`${baseUrl}/api/v1/products/${id}/picture?size=thumbnail`)
          const { width } = await sharp(await small.arrayBuffer()).metadata()
          assert.strictEqual(width, 200)
          return { headers: (await fetch(`${baseUrl}/api/v1/products/${id}/picture`)).headers, id }
        })
        assert.deepStrictEqual([headers.get("content-type"), headers.get("cache-control")], ["image/jpeg", "no-cache"])
        const shown = yield* anonymous.products.get({ params: { id } })
        assert.deepInclude(shown.picture, { name: "lamp.jpg", type: "image/jpeg" })
        assert.deepStrictEqual(shown._links?.["picture"], {
          href: `/api/v1/products/${id}/picture`,
          methods: ["GET"],
          sizes: ["thumbnail"]
        })
      }))

    it.live("takes all ordered items out of the stock, or none", () =>
      Effect.gen(function*() {
        const { admin, customer, documents, idle, repositories, stockOf } = yield* opened
        const { result: lamp } = yield* admin.products.create({ payload: { ...product, code: "LMP-0003" } })
        const { result: bulb } = yield* admin.products.create({ payload: { ...product, code: "BLB-0001", stock: 1 } })
        const order = (lamps: number, bulbs: number) =>
          customer.orders.create({
            payload: {
              lines: [{ product: lamp, quantity: lamps, price: 40 }, { product: bulb, quantity: bulbs, price: 5 }]
            }
          })
        const { result: id } = yield* order(2, 1)
        assert.deepStrictEqual([yield* stockOf(lamp), yield* stockOf(bulb)], [1, 0])
        const refused = yield* Effect.flip(order(1, 1))
        assert.strictEqual(refused._tag, "OutOfStock")
        if (refused._tag === "OutOfStock") assert.deepStrictEqual([refused.product, refused.quantity], [bulb, 1])
        assert.deepStrictEqual([yield* stockOf(lamp), yield* stockOf(bulb)], [1, 0])
        const stored = yield* repositories.orders.findById(id)
        assert.strictEqual<string>(stored.customer, "U1")
        // Nobody chooses what something costs.
        assert.deepStrictEqual(stored.lines.map(({ price }) => price), [40, 40])
        const again = yield* Effect.flip(customer.orders.create({ payload: { id, lines: stored.lines } }))
        assert.strictEqual(again._tag, "AlreadyPlaced")
        // One receipt, and none of the orders that were refused.
        yield* idle
        const { _items: jobs } = yield* admin.jobs.list({ query: { queue: "send-receipt" } })
        assert.deepStrictEqual(jobs.map(({ state }) => state), ["done"])
        assert.notProperty(jobs[0], "element")
        const [receipt] = yield* documents.find("QueuedJob", { filter: { queue: "send-receipt" } })
        assert.deepStrictEqual(JSON.parse(String(receipt?.["element"])).payload, { order: id })
        assert.strictEqual((yield* Effect.flip(customer.jobs.list()))._tag, "Forbidden")
      }))

    it.live("does not oversell under concurrent orders", () =>
      Effect.gen(function*() {
        const { admin, customer, stockOf } = yield* opened
        const { result: lamp } = yield* admin.products.create({
          payload: { ...product, code: "LMP-0004", stock: 5 }
        })
        const order = customer.orders.create({
          payload: { lines: [{ product: lamp, quantity: 1, price: 40 }] }
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

    it.live("takes the payment of an order, once", () =>
      Effect.gen(function*() {
        const { admin, anonymous, customer } = yield* opened
        const { result: lamp } = yield* admin.products.create({ payload: { ...product, code: "LMP-0005" } })
        const { result: order } = yield* customer.orders.create({
          payload: { lines: [{ product: lamp, quantity: 2, price: 40 }] }
        })
        const wrong = yield* Effect.flip(customer.payments.pay({ payload: { order, amount: 1 } }))
        assert.strictEqual(wrong._tag, "WrongAmount")
        if (wrong._tag === "WrongAmount") assert.strictEqual(wrong.due, 80)
        const receipt = yield* customer.payments.pay({ payload: { order, amount: 80 } })
        assert.deepStrictEqual([receipt._type, receipt.order, receipt.amount], ["Receipt", order, 80])
        const { _items: orders } = yield* customer.orders.list({ query: { expand: "lines.product" } })
        const shown = orders.find(({ id }) => id === order)
        assert.deepStrictEqual([shown?.state, shown?._embedded?.["lines.product"]?.[0]?.code], ["paid", "LMP-0005"])
        const { _items: states } = yield* customer.orders.revisions({ params: { id: order }, query: {} })
        const documents = yield* Effect.forEach(states, ({ revision }) =>
          customer.orders.revision({ params: { id: order, revision } }))
        assert.deepStrictEqual(
          documents.map(({ state }) =>
            state
          ),
          ["paid", "paying", "placed"]
        )
        assert.deepStrictEqual(yield* customer.payments.status({ params: { payment_id: receipt.payment } }), receipt)
        assert.deepStrictEqual(yield* customer.payments.pay({ payload: { order, amount: 80 } }), receipt)
        const unknown = yield* Effect.flip(
          customer.payments.pay({ payload: { order: Order.wire.fields.id.make("O-none"), amount: 80 } })
        )
        assert.strictEqual(unknown._tag, "NotFound")
        assert.deepStrictEqual((yield* anonymous.payments.methods())._items, ["card", "invoice"])
      }))

    it.live("gives all who pay an order at once the same receipt, unless it is cancelled first", () =>
      Effect.gen(function*() {
        const { admin, customer, repositories } = yield* opened
        const { result: lamp } = yield* admin.products.create({
          payload: { ...product, code: "LMP-0006", stock: 20 }
        })
        for (let delay = 0; delay < 10; delay++) {
          const { result: order } = yield* customer.orders.create({
            payload: { lines: [{ product: lamp, quantity: 1, price: 40 }] }
          })
          const pay = Effect.match(customer.payments.pay({ payload: { order, amount: 40 } }), {
            onSuccess: ({ payment }) => String(payment),
            onFailure: ({ _tag }) => _tag
          })
          const cancel = Effect.delay(
            repositories.orders.updateOne(
              ($) => $.id.equals(order).and($.state.equals("placed")),
              ($) => [$.state.set("cancelled")]
            ),
            `${delay * 2} millis`
          )
          const [answers] = yield* Effect.all(
            [Effect.all(Array.from({ length: 8 }, () => pay), { concurrency: 8 }), delay === 9 ? Effect.void : cancel],
            { concurrency: 2 }
          )
          const { state } = yield* repositories.orders.findById(order)
          assert.strictEqual(new Set(answers).size, 1, answers.join())
          assert.strictEqual(answers[0] === "NotPayable" ? "cancelled" : "paid", state, answers.join())
          assert.strictEqual(yield* pay, answers[0])
        }
      }))

    it.live("takes nothing for an order that was paid otherwise", () =>
      Effect.gen(function*() {
        const { admin, customer, repositories } = yield* opened
        const { result: lamp } = yield* admin.products.create({ payload: { ...product, code: "LMP-0007" } })
        const { result: order } = yield* customer.orders.create({
          payload: { lines: [{ product: lamp, quantity: 1, price: 40 }] }
        })
        const pay = customer.payments.pay({ payload: { order, amount: 40 } })
        yield* repositories.orders.updateOne(($) => $.id.equals(order), ($) => [$.state.set("paid")])
        // The second time, it would find what the first time had taken.
        for (let i = 0; i < 2; i++) assert.strictEqual((yield* Effect.flip(pay))._tag, "NotPayable")
      }))

    it.live("shows the same users in a second version", () =>
      Effect.gen(function*() {
        const { admin, anonymous, as, baseUrl } = yield* opened
        const { result: id } = yield* anonymous.users.create({ payload: { ...jane, email: "jane.2@example.com" } })
        const client = yield* as({ subject: id })
        const second = yield* client.users_v2.get({ params: { user_id: id } })
        assert.deepStrictEqual([second._type, second.full_name, second.email], [
          "UserV2",
          jane.name,
          "jane.2@example.com"
        ])
        assert.notProperty(second, "name")
        assert.notProperty(second, "password")
        const created = yield* admin.users_v2.create({
          payload: { full_name: "Ada Lovelace", email: "ada.2@example.com", password: "analytical engine" }
        })
        assert.strictEqual((yield* admin.users.get({ params: { id: created.id } })).name, "Ada Lovelace")
        const page = yield* admin.users_v2.list({ query: { page: 1, page_size: 1 } })
        assert.deepStrictEqual(page._items.map(({ full_name }) => full_name), ["Ada Lovelace"])
        const own = yield* client.users_v2.list({ query: {} })
        assert.deepStrictEqual(own._items.map(({ full_name }) => full_name), [jane.name])
        const taken = yield* Effect.flip(admin.users_v2.create({
          payload: { full_name: "Eve", email: "ada.2@example.com", password: "analytical engine" }
        }))
        assert.strictEqual(taken._tag, "Conflict")
        const { paths } = yield* HttpClient.get(`${baseUrl}/openapi.json`).pipe(
          Effect.flatMap((response) => response.json),
          Effect.flatMap(
            Schema.decodeUnknownEffect(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) }))
          ),
          Effect.provide(FetchHttpClient.layer)
        )
        assert.includeMembers(Object.keys(paths), ["/api/v1/users/{id}", "/api/v2/users/{user_id}"])
      }))
  })
}

storeMatrix(suite)
