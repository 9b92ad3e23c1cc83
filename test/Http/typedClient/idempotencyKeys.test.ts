/** A typed client that sends writes again with their keys, to a service that loses answers. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"
import { KernelClient, KernelEngine, Model } from "../../../src/index.ts"

class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), item: Schema.NonEmptyString }) {}

const engine = KernelEngine.make("orders").register(Order, { methods: ["GET", "POST"], idempotencyKeys: "required" })

it.live("200 clients whose answers are lost place each order once", () =>
  Effect.gen(function*() {
    const { baseUrl, repositories } = yield* engine.test()
    const sent = new Map<string | undefined, number>()
    /** Sends a request, and loses its first two answers. */
    const lossy = HttpClient.transform<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
      (call, request) =>
        Effect.flatMap(call, (response) => {
          const key = request.headers["idempotency-key"]
          const times = (sent.get(key) ?? 0) + 1
          sent.set(key, times)
          const description = "lost"
          return times > 2 ? Effect.succeed(response) : Effect.fail(
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, description })
            })
          )
        })
    )
    const client = yield* KernelClient.make(engine, {
      baseUrl,
      transformClient: (client) => KernelClient.withIdempotencyKeys()(lossy(client))
    })
    const items = Array.from({ length: 200 }, (_, i) => `item ${i}`)
    const ids = yield* Effect.forEach(
      items,
      (item) => Effect.map(client.orders.create({ payload: { item } }), ({ result }) => result),
      {
        concurrency: 50
      }
    )
    assert.lengthOf(new Set(ids), 200)
    const orders = yield* repositories.orders.find()
    assert.deepStrictEqual(
      orders.map(({ item }) => item).toSorted(),
      items.toSorted()
    )
    assert.deepStrictEqual(new Set(sent.values()), new Set([3]))
    assert.strictEqual(sent.size, 200, "each has a key of its own")

    const again = yield* KernelClient.make(engine, {
      baseUrl,
      transformClient: KernelClient.withIdempotencyKeys({ key: Effect.succeed("mine") })
    })
    const first = yield* again.orders.create({ payload: { item: "one" } })
    assert.deepStrictEqual(yield* again.orders.create({ payload: { item: "one" } }), first)
    const reused = yield* Effect.flip(again.orders.create({ payload: { item: "two" } }))
    assert.include(reused.message, "422")
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))
