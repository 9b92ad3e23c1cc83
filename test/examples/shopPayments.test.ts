/** The shop and the service that takes its payments, as two processes and in one. */
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedStore, KernelServer } from "appkernel"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import { served } from "../../examples/payments.ts"
import { engine } from "../../examples/shop/engine.ts"
import { freshDirectory } from "../support/folders.ts"
import { freePort, patient, printed, runProgram } from "../support/processes.ts"
import { bearer } from "../support/rest.ts"
import { request, signIn, surroundings } from "../support/shop.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com", password: "analytical engine" }

const startPayments = Effect.fnUntraced(function*(port: number, path: string) {
  const program = yield* runProgram("examples/payments.ts", { PAYMENTS_PORT: String(port), PAYMENTS_PATH: path })
  yield* printed(program, `Listening on http://127.0.0.1:${port}`)
  return program
})

describe("The shop, with its payments taken by another process", () => {
  it.live(
    "pays there; while that is away it answers at once that it is, and the rest of the shop works",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const [port, shopPort] = [yield* freePort, yield* freePort]
        const payments = yield* startPayments(port, join(folder, "payments"))
        const shop = yield* runProgram("examples/shop/main.ts", {
          ...patient,
          APPKERNEL_EMBEDDED_PATH: join(folder, "shop"),
          APPKERNEL_SERVER_PORT: String(shopPort),
          SHOP_PAYMENTS_URL: `http://127.0.0.1:${port}`
        })
        yield* printed(shop, "a browser at")
        const base = `http://127.0.0.1:${shopPort}`
        yield* request(base, "POST /api/v1/users", ada)
        const headers = bearer((yield* signIn(base, ada.email, ada.password)).access_token)
        const products = yield* request(base, "GET /api/v1/products?stock=>10&page_size=1")
        const { id: product, price } = products.body._items[0]
        const placed = Effect.map(
          request(base, "POST /api/v1/orders", { lines: [{ product, quantity: 1, price }] }, headers),
          ({ body }) => ({ order: body.result, amount: price })
        )
        const pay = (payment: unknown) => request(base, "POST /api/v1/payments/pay", payment, headers)
        const first = yield* placed
        const paid = yield* pay(first)
        assert.deepStrictEqual([paid.status, paid.body.order], [200, first.order], paid.text)
        assert.deepStrictEqual((yield* pay(first)).body, paid.body)
        const receipt = yield* request(base, `GET /api/v1/payments/${paid.body.payment}`, undefined, headers)
        assert.deepStrictEqual(receipt.body, paid.body)

        payments.process.kill("SIGKILL")
        yield* payments.ended
        const second = yield* placed
        for (let i = 0; i < 3; i++) {
          const { body, status } = yield* pay(second)
          assert.deepStrictEqual([status, body.upstream_service], [500, "payments"])
        }
        const away = yield* pay(second)
        assert.deepStrictEqual([away.status, away.body.code, away.body.upstream_service], [503, 503, "payments"])
        assert.match(String(away.headers["retry-after"]), /^(?:[1-9]|10)$/u)
        const methods = yield* request(base, "GET /api/v1/payments/methods")
        assert.deepStrictEqual([methods.status, methods.body._items], [200, ["card", "invoice"]])
        const order = yield* request(base, `GET /api/v1/orders/${second.order}`, undefined, headers)
        assert.deepStrictEqual([order.status, order.body.state], [200, "paying"])
      })
  )
})

describe("The shop, whose payments are away", () => {
  it.effect("pays again once they are back, after the time that its answer says", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const { anonymous, as } = yield* engine.test({ store: surroundings(EmbeddedStore.layerMemory) })
        .pipe(
          Effect.provide(
            ConfigProvider.layer(ConfigProvider.fromUnknown({ shop: { payments_url: `http://127.0.0.1:${port}` } }))
          )
        )
      const admin = yield* as({ subject: "U-admin", roles: ["admin"] })
      const customer = yield* as({ subject: "U1" })
      const { result: product } = yield* admin.products.create({
        payload: { code: "LMP-0001", name: "Lamp", price: 40, currency: "CHF", stock: 3 }
      })
      const { result: order } = yield* customer.orders.create({
        payload: { lines: [{ product, quantity: 1, price: 40 }] }
      })
      const pay = customer.payments.pay({ payload: { order, amount: 40 } })
      const failures = yield* Effect.forEach([500, 500, 500, 503], () => Effect.flip(pay))
      assert.deepStrictEqual(
        failures.map((error) => error._tag === "UpstreamError" ? [error.code, error.upstream_service] : error),
        [[500, "payments"], [500, "payments"], [500, "payments"], [503, "payments"]]
      )
      assert.deepInclude(failures[3], { retry_after: 10 })
      assert.deepStrictEqual((yield* anonymous.payments.methods())._items, ["card", "invoice"])
      yield* Layer.build(served.pipe(
        Layer.provide(KernelServer.layerWith({ address: "127.0.0.1", port })),
        Layer.provide(Layer.fresh(EmbeddedStore.layerMemory))
      ))
      assert.strictEqual((yield* Effect.flip(pay))._tag, "UpstreamError")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* pay).order, order)
    }))
})
