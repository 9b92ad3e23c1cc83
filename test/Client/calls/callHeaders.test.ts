/** What calls send of the client, of the proxy and of the request that is answered. */
import { assert, describe, it } from "@effect/vitest"
import {
  ClientError,
  Credentials,
  HttpClientFactory,
  KernelApi,
  KernelClient,
  Model,
  RequestWrapper,
  Resource
} from "appkernel"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { upstream } from "../support/upstream.ts"

class Thing extends Model.Class<Thing>()("Thing", { id: Model.id({ prefix: "T" }), text: Schema.String }) {}

const things = KernelApi.make("things").register(Resource.describe(Thing))

const factory = (options: HttpClientFactory.Options = {}) => Effect.provide(HttpClientFactory.layerWith(options))

const reasonOf = (error: ClientError.RequestHandlingException | { readonly _tag: string }) =>
  error instanceof ClientError.RequestHandlingException ? error.reason._tag : error._tag

describe("The headers of a call", () => {
  it.live("are those of the client, of the proxy and of the call, which replace each other", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ headers }) => headers)
      let asked = 0
      const getHeaders = Effect.sync(() => ({ "X-B": "proxy", "X-C": "proxy", "x-count": String(++asked) }))
      const proxy = yield* HttpClientFactory.get(service.url, { getHeaders })
      const headersOf = Effect.fnUntraced(function*(headers?: Record<string, string>) {
        const [, body] = yield* proxy.wrap("x").get({ headers, as: Schema.Record(Schema.String, Schema.String) })
        return [body["x-a"], body["x-b"], body["x-c"], body["x-count"], body["accept-language"], body["authorization"]]
      })
      assert.deepStrictEqual(yield* headersOf(), ["client", "proxy", "proxy", "1", "en", undefined])
      assert.deepStrictEqual(yield* headersOf({ "x-C": "call", "Accept-Language": "de" }), [
        "client",
        "proxy",
        "call",
        "2",
        "de",
        undefined
      ])
      const token = RequestWrapper.getHeaders({ authHeader: "Bearer t", acceptLanguage: "fr" })
      assert.deepStrictEqual((yield* headersOf(token)).slice(4), ["fr", "Bearer t"])
    }).pipe(factory({ headers: { "X-A": "client", "x-b": "client", "x-c": "client" } })))

  it.live("have the language, the trace and, for named origins, the credentials of the request that is answered", () =>
    Effect.gen(function*() {
      const trusted = yield* upstream(({ headers }) => headers)
      const other = yield* upstream(({ headers }) => headers)
      const client = HttpClientFactory.layerWith({ headers: {} }).pipe(
        Layer.provide(HttpClientFactory.configureHttpClient({ credentials: { [trusted.url]: Credentials.forwarded } }))
      )
      const inbound = HttpServerRequest.fromWeb(
        new Request("http://shop/orders", {
          headers: { "accept-language": "de-CH", authorization: "Bearer jane", "x-api-key": "k", cookie: "c=1" }
        })
      )
      const headersAt = (url: string, credentials?: Credentials.Credentials) =>
        Effect.gen(function*() {
          const proxy = yield* HttpClientFactory.get(`${url}/api`)
          const call = proxy.wrap("x").get({ credentials, as: Schema.Record(Schema.String, Schema.String) })
          const [, body] = yield* call.pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, inbound))
          return [
            body["accept-language"],
            body["authorization"],
            body["x-api-key"],
            body["cookie"],
            body["traceparent"]
          ]
        })
      yield* Effect.gen(function*() {
        const span = yield* Effect.currentSpan
        const seen = yield* headersAt(trusted.url)
        assert.deepStrictEqual(seen.slice(0, 4), ["de-CH", "Bearer jane", "k", undefined])
        assert.match(seen[4] ?? "", new RegExp(`^00-${span.traceId}-(?!${span.spanId})\\w{16}-01$`, "u"))
        assert.deepStrictEqual((yield* headersAt(other.url)).slice(1, 4), [undefined, undefined, undefined])
        const own = yield* headersAt(trusted.url, Credentials.bearer(Redacted.make("own")))
        assert.deepStrictEqual(own.slice(1, 3), ["Bearer own", undefined])
      }).pipe(Effect.withSpan("handler"), Effect.provide(client))
    }))

  it.live("have tokens that are fetched once, and again after a 401, over one connection", () =>
    Effect.gen(function*() {
      let issued = 0
      let valid = "t1"
      const service = yield* upstream(({ headers, url }, response): unknown => {
        if (url === "/token") {
          return { access_token: `t${++issued}`, token_type: "bearer", expires_in: 900, refresh_token: `r${issued}` }
        }
        if (headers.authorization === `Bearer ${valid}`) return { ok: true }
        response.writeHead(401).end("no")
        return undefined
      })
      const credentials = Credentials.tokens({
        path: "/token",
        account: { username: "shop", password: Redacted.make("secret") }
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const call = proxy.wrap("x").get({ credentials })
      const calls = Effect.all(Array.from({ length: 20 }, () => call), { concurrency: 20 })
      assert.deepStrictEqual(new Set((yield* calls).map(([status]) => status)), new Set([200]))
      assert.strictEqual(issued, 1)
      valid = "t2"
      assert.deepStrictEqual(new Set((yield* calls).map(([status]) => status)), new Set([200]))
      assert.strictEqual(issued, 2)
      valid = "none"
      const refused = yield* Effect.flip(call)
      assert.deepInclude({ ...refused }, {
        statusCode: 401,
        reason: { _tag: "Status", statusCode: 401, body: { result: "no" } }
      })
      assert.strictEqual(service.connections(), 1)
    }).pipe(factory({ maxConnections: 1 })))

  it.live("have one sign-in at an origin for all proxies and clients, whatever the path of their root address", () =>
    Effect.gen(function*() {
      let issued = 0
      const service = yield* upstream(({ headers, text, url }, response): unknown => {
        const isToken = url === "/api/v1/token"
        if (!isToken && headers["authorization"] !== undefined) return {}
        const isValid = isToken && JSON.parse(text).refresh_token === `r${issued}`
        if (!isValid) return void response.writeHead(isToken ? 400 : 401).end()
        return { access_token: `t${++issued}`, token_type: "bearer", expires_in: 900, refresh_token: `r${issued}` }
      })
      const credentials = Credentials.tokens({ path: "/api/v1/token", refreshToken: Redacted.make("r0") })
      const root = `${service.url}/api/v1`
      for (const [address, options] of [[root], [service.url], [root, { name: "bulk" }]] as const) {
        const proxy = yield* HttpClientFactory.get(address, options)
        assert.strictEqual((yield* proxy.wrap("x").get({ credentials }))[0], 200)
      }
      const other = yield* HttpClientFactory.make()
      const typed = yield* other.typed(things, root, { credentials })
      yield* Effect.ignore(typed.things.list())
      const client = yield* KernelClient.make(things, { baseUrl: root, credentials })
      yield* Effect.ignore(client.things.list())
      assert.deepStrictEqual(
        service.requests.map(({ headers, url }) => [url, headers["authorization"]]),
        [
          ["/api/v1/token", undefined],
          ["/api/v1/x", "Bearer t1"],
          ["/x", "Bearer t1"],
          ["/api/v1/x", "Bearer t1"],
          ["/api/v1/things", "Bearer t1"],
          ["/api/v1/things", "Bearer t1"]
        ]
      )
    }).pipe(factory(), Effect.provide(FetchHttpClient.layer)))

  it.effect("wait 10 seconds for tokens, in the client of a platform too, and calls of typed clients for an answer", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => undefined)
      const arrived = (count: number) =>
        TestClock.withLive(Effect.repeat(Effect.sleep("5 millis"), { until: () => service.requests.length === count }))
      const account = { username: "shop", password: Redacted.make("secret") }
      const tokens = () => Credentials.tokens({ path: "/token", account })
      const proxy = yield* HttpClientFactory.get(service.url)
      const typed = yield* HttpClientFactory.typed(things, service.url)
      const other = yield* KernelClient.make(things, { baseUrl: service.url, credentials: tokens() })
      const calls = [
        Effect.flip(proxy.wrap("x").get({ credentials: tokens(), timeout: "1 minute" })),
        Effect.flip(typed.things.list()),
        Effect.flip(other.things.list())
      ] as const
      const failed = yield* Effect.forkChild(Effect.all(calls, { concurrency: 3 }))
      yield* arrived(3)
      yield* TestClock.adjust("9900 millis")
      assert.isUndefined(failed.pollUnsafe())
      yield* TestClock.adjust("200 millis")
      const failures = yield* Fiber.join(failed)
      assert.deepStrictEqual(
        failures.map((error) => "reason" in error ? error.reason._tag : error._tag),
        ["Timeout", "Timeout", "TransportError"]
      )
      assert.sameMembers(service.requests.map(({ url }) => url), ["/token", "/token", "/things"])
    }).pipe(factory(), Effect.provide(FetchHttpClient.layer)))

  it.live("have one renewal for all calls that wait, also where it fails or callers give up", () =>
    Effect.gen(function*() {
      const held: Array<() => void> = []
      const service = yield* upstream(({ url }, response): unknown =>
        url === "/token" ? void held.push(() => response.writeHead(500).end()) : {}
      )
      const until = (count: number) => Effect.repeat(Effect.sleep("5 millis"), { until: () => held.length === count })
      const account = { username: "shop", password: Redacted.make("secret") }
      const credentials = Credentials.tokens({ path: "/token", account })
      const proxy = yield* HttpClientFactory.get(service.url, { circuitBreaker: null })
      const calls = Effect.all(Array.from({ length: 20 }, () => Effect.flip(proxy.wrap("x").get({ credentials }))), {
        concurrency: 20
      })
      const given = yield* Effect.forkChild(calls, { startImmediately: true })
      yield* until(1)
      yield* Fiber.interrupt(given)
      const waiting = yield* Effect.forkChild(calls, { startImmediately: true })
      yield* Effect.sleep("50 millis")
      held[0]?.()
      const failed = yield* Fiber.join(waiting)
      assert.deepStrictEqual(new Set(failed.map(reasonOf)), new Set(["InvalidAnswer"]))
      assert.deepStrictEqual(service.requests.map(({ url }) => url), ["/token"])
      // The next call begins another one.
      const next = yield* Effect.forkChild(calls, { startImmediately: true })
      yield* until(2)
      held[1]?.()
      yield* Fiber.join(next)
      assert.deepStrictEqual(service.requests.map(({ url }) => url), ["/token", "/token"])
    }).pipe(factory()))
})
