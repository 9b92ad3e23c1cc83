/** What can be read once only is not sent a second time: it would be sent empty, and the call reported as a success. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { Readable } from "node:stream"
import {
  type ClientError,
  Credentials,
  HttpClientFactory,
  KernelClient,
  KernelEngine,
  Service
} from "../../../src/index.ts"
import { listening, upstream } from "../support/upstream.ts"

const client = Effect.provide(HttpClientFactory.layer)

const bytes = new TextEncoder().encode("content")

const generated = function*() {
  yield bytes
}

const generatedLater = async function*() {
  yield await Promise.resolve(bytes)
}

/** Payloads that can be read once only, made anew. */
const payloads = {
  "a ReadableStream": () => new Blob([bytes]).stream(),
  "a generator": () => HttpBody.raw(generated()),
  "an asynchronous generator": () => HttpBody.raw(generatedLater()),
  "a stream of Node": () => HttpBody.raw(Readable.from([bytes])),
  "a stream of an iterator": () => {
    const iterator = generated()
    return Stream.fromIterable({ [Symbol.iterator]: () => iterator })
  }
}

/** Payloads that can be read again. */
const repeatable: { readonly [name: string]: unknown } = {
  "a text": "content",
  bytes,
  "a Blob": new Blob([bytes]),
  "a raw Blob": HttpBody.raw(new Blob([bytes])),
  "raw bytes": HttpBody.raw(bytes),
  "a list of bytes": HttpBody.raw([bytes]),
  "a stream": Stream.make(bytes)
}

const tokens = () =>
  Credentials.tokens({ path: "/token", account: { username: "shop", password: Redacted.make("secret") } })

/** Has each request repeated once: by a redirect, by a 401, or by a failure that may pass. */
const service = Effect.suspend(() => {
  let issued = 0
  return upstream(({ headers, url = "" }, response) => {
    if (url === "/token") {
      return { access_token: `t${++issued}`, token_type: "bearer", expires_in: 900, refresh_token: `r${issued}` }
    }
    if (/^\/30[78]$/u.test(url)) {
      return void response.writeHead(Number(url.slice(1)), { location: "/moved" }).end()
    }
    if (url === "/401" && headers.authorization !== "Bearer t2") return void response.writeHead(401).end()
    if (url === "/503" && headers.authorization === undefined) return void response.writeHead(503).end()
    return { ok: true }
  })
})

const repeating = ["307", "308", "401"]

describe("A payload that can be read once only", () => {
  it.live("is not sent again where a redirect or new credentials would repeat it: the call fails, and says so", () =>
    Effect.gen(function*() {
      for (const [name, payload] of Object.entries(payloads)) {
        for (const path of repeating) {
          const { requests, url } = yield* service
          const credentials = path === "401" ? tokens() : undefined
          const proxy = yield* HttpClientFactory.get(url)
          for (const method of ["post", "put"] as const) {
            const failure = yield* Effect.flip(proxy.wrap(path)[method]({ payload: payload(), credentials }))
            assert.strictEqual(failure._tag, "RequestHandlingException", `${name} ${path}`)
            assert.deepInclude(
              { ...failure },
              { reason: { _tag: "NotRepeatable" }, statusCode: 500 },
              `${name} ${path}`
            )
            assert.include(failure.message, "read once only")
            if (path === "401") break
          }
          const bodies = requests.filter((request) => request.url !== "/token").map(({ body }) => body)
          assert.deepStrictEqual(new Set(bodies), new Set(["content"]), `${name} ${path}`)
        }
      }
    }).pipe(client))

  it.live("is not sent again by a redirect that comes before its first bytes", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* service
      const early = yield* listening(({ url: path = "" }, response) =>
        void response.writeHead(307, { location: `${url}${path}` }).end()
      )
      const proxy = yield* HttpClientFactory.get(early.url)
      const delayed = () => {
        const iterator = generated()
        // It is left at its first bytes, which ends it.
        return Stream.fromIterable({ [Symbol.iterator]: () => iterator }).pipe(
          Stream.tap(() => Effect.sleep("1 second"))
        )
      }
      const things = proxy.wrap("things")
      for (const call of [things.put({ payload: delayed() }), things.upload(delayed())]) {
        const failure = yield* Effect.flip(call)
        assert.deepInclude({ ...failure }, { reason: { _tag: "NotRepeatable" } })
      }
      assert.deepStrictEqual(requests, [])
    }).pipe(client))

  it.live("is not sent by a second call, nor tried again, which leaves the first failure", () =>
    Effect.gen(function*() {
      for (const [name, payload] of Object.entries(payloads)) {
        if (name === "a stream of an iterator") continue
        const { requests, url } = yield* service
        const proxy = yield* HttpClientFactory.get(url)
        const one = payload()
        const reasonOf = (
          call: Effect.Effect<unknown, ClientError.RequestHandlingException | ClientError.CircuitOpenError>
        ) =>
          Effect.map(
            Effect.flip(call),
            (error) => error._tag === "RequestHandlingException" ? error.reason._tag : error._tag
          )
        const first = proxy.wrap("503").put({ payload: one, retry: Schedule.recurs(2) })
        assert.strictEqual(yield* reasonOf(first), "Status", name)
        assert.strictEqual(yield* reasonOf(proxy.wrap("x").put({ payload: one })), "NotRepeatable", name)
        assert.deepStrictEqual(requests.map(({ body }) => body), ["content"], name)
      }
    }).pipe(client))

  it.live("is not sent again by credentials over another client", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("things").register(
        Service.make("Things").operation("send", { method: "POST", success: Schema.Unknown }, () => Effect.void)
      )
      for (const name of ["a stream of an iterator", "a ReadableStream"] as const) {
        const { requests, url } = yield* service
        const payload = payloads[name]()
        const body = Stream.isStream(payload)
          ? HttpBody.stream(payload, "text/plain")
          : HttpBody.raw(payload, { contentType: "text/plain" })
        const client = yield* KernelClient.make(engine, {
          baseUrl: url,
          credentials: tokens(),
          transformClient: (client) =>
            HttpClient.mapRequest(client, (request) =>
              request.url.endsWith("/token")
                ? request
                : HttpClientRequest.setBody(HttpClientRequest.setUrl(request, "/401"), body))
        }).pipe(Effect.provide(FetchHttpClient.layer))
        yield* Effect.flip(client.things.send())
        const bodies = requests.filter((one) => one.url === "/401").map(({ body }) => body)
        assert.deepStrictEqual(bodies, ["content"], name)
      }
    }))
})

describe("A payload that can be read again", () => {
  it.live("is sent again", () =>
    Effect.gen(function*() {
      for (const [name, payload] of Object.entries(repeatable)) {
        for (const path of [...repeating, "503"]) {
          const { requests, url } = yield* service
          const proxy = yield* HttpClientFactory.get(url)
          const credentials = path === "401" ? tokens() : undefined
          const call = proxy.wrap(path).put({ payload, credentials, retry: Schedule.recurs(1) })
          if (path === "503") yield* Effect.flip(call)
          else assert.deepStrictEqual(yield* call, [200, { ok: true }], `${name} ${path}`)
          const bodies = requests.filter((request) => request.url !== "/token").map(({ body }) => body)
          assert.deepStrictEqual(bodies, ["content", "content"], `${name} ${path}`)
        }
      }
    }).pipe(client))
})
