/** A typed client that sends writes again with their keys, to a service that loses answers. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { KernelClient, KernelEngine, Model, Resource } from "../../../src/index.ts"

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

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id({ prefix: "L" }),
  text: Model.file({ types: ["text/plain"] }).pipe(Model.optional),
  pages: Model.files({ types: ["text/plain"] }).pipe(Model.optional)
}) {}

const letters = KernelEngine.make("letters").register(Letter, {
  methods: ["GET", "POST", "PATCH"],
  idempotencyKeys: "required"
})

it.live("an upload has no key, and is sent once", () =>
  Effect.gen(function*() {
    const { baseUrl, repositories } = yield* letters.test()
    yield* repositories.letters.insert(new Letter({ id: "L1" }))
    let isDown = true
    const tries: Array<string> = []
    /** The way to a service that is down after it has read the request. */
    const way = HttpClient.transform<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>((
      call,
      request
    ) => {
      tries.push(`${request.method} ${request.headers["idempotency-key"] !== undefined}`)
      if (!isDown || request.body._tag !== "Stream") return call
      return Effect.as(
        Effect.ignore(Stream.runDrain(request.body.stream)),
        HttpClientResponse.fromWeb(request, new Response("", { status: 503 }))
      )
    })
    const { pages, text } = yield* KernelClient.files(letters, "letters", {
      baseUrl,
      transformClient: (client) => KernelClient.withIdempotencyKeys()(way(client))
    })
    // A stream of it is empty when it is run again.
    const once = new Blob(["Dear Ann"]).stream()
    const payload = Stream.fromReadableStream({ evaluate: () => once, onError: (cause) => cause })
    assert.isTrue((yield* Effect.exit(text.put({ params: { id: "L1" }, payload })))._tag === "Failure")
    assert.strictEqual((yield* repositories.letters.findById("L1")).text, undefined)
    isDown = false
    yield* text.put({ params: { id: "L1" }, payload: new Blob(["Dear Ann"]) })
    yield* pages.append({ params: { id: "L1" }, payload: new Blob(["one"]) })
    yield* text.delete({ params: { id: "L1" } })
    assert.deepStrictEqual(tries, ["PUT false", "PUT false", "POST false", "DELETE true"])
    const status = (method: string, path: string, headers: Record<string, string>) =>
      Effect.promise(() =>
        fetch(`${baseUrl}/letters/L1/${path}`, {
          method,
          ...method === "DELETE"
            ? { headers }
            : { headers: { "content-type": "text/plain", ...headers }, body: "bytes" }
        }).then((answer) => answer.status)
      )
    const key = { "idempotency-key": "one" }
    assert.deepStrictEqual(
      [yield* status("PUT", "text", key), yield* status("POST", "pages", key), yield* status("PUT", "text", {})],
      [400, 400, 200]
    )
    assert.deepStrictEqual([yield* status("DELETE", "text", {}), yield* status("DELETE", "text", key)], [400, 200])
    assert.strictEqual(yield* status("DELETE", "text", key), 200, "it is answered as before")
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))

const many = KernelEngine.make("orders").register(
  Resource.make(Order, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] }).action(
    "cancel_many",
    { method: "POST", payload: { item: Schema.String }, success: Schema.String },
    ({ id }) => Effect.succeed(id)
  ),
  { many: ["PUT", "PATCH", "DELETE"], idempotencyKeys: "required" }
)

it.live("a write of many documents has no key, and is sent once", () =>
  Effect.gen(function*() {
    const { baseUrl, repositories } = yield* many.test()
    const tries: Array<string> = []
    let isDown = false
    const way = HttpClient.transform<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>((
      call,
      request
    ) => {
      tries.push(`${request.method} ${request.headers["idempotency-key"] !== undefined}`)
      return isDown ? Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status: 503 }))) : call
    })
    const { orders } = yield* KernelClient.make(many, {
      baseUrl,
      transformClient: (client) => KernelClient.withIdempotencyKeys()(way(client))
    })
    yield* orders.create({ payload: [{ id: "O1", item: "tea" }, { id: "O2", item: "milk" }] })
    yield* orders.patch_many({ query: { item: "tea" }, payload: { item: "rice" } })
    yield* orders.replace_many({ payload: [{ id: "O2", item: "salt" }] })
    yield* orders.cancel_many({ params: { id: "O1" }, payload: { item: "rice" } })
    isDown = true
    yield* Effect.flip(orders.delete_many({ query: { item: "rice" } }))
    assert.deepStrictEqual(tries, ["POST true", "PATCH false", "PUT false", "POST true", "DELETE false"])
    const all = yield* repositories.orders.find()
    assert.deepStrictEqual(all.map(({ id, item }) => [id, item]), [["O1", "rice"], ["O2", "salt"]])
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))

it.live("a key of the program's may have quotes", () =>
  Effect.gen(function*() {
    const { baseUrl } = yield* many.test()
    const key = Effect.succeed(String.raw`the "1st" \ order`)
    const { orders } = yield* KernelClient.make(many, {
      baseUrl,
      transformClient: KernelClient.withIdempotencyKeys({ key })
    })
    const order = { payload: { item: "tea" } }
    assert.strictEqual((yield* orders.create(order)).result, (yield* orders.create(order)).result)
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))
