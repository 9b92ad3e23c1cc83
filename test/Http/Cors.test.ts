/** What browsers let scripts of other origins do, over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { EmbeddedStore, KernelEngine } from "../../src/index.ts"
import { newUser, Note, User } from "../support/models.ts"
import { type Answer, type Method, send, serving } from "../support/rest.ts"
import { shop } from "../support/tokens.ts"

const engine = KernelEngine.make("cors").register(User, { methods: ["GET", "POST"] })
  .enableRateLimits({ perAddress: { limit: 12, window: "1 day" } })

const served = (env: { readonly [name: string]: string }) =>
  serving(engine, EmbeddedStore.layerMemory).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )

const page = "https://app.example"

const from = (origin: string, method: Method = "GET", path = "/users", headers = {}) =>
  send(method, path, method === "POST" ? newUser({}) : undefined, { origin, ...headers })

const preflight = (origin: string, path = "/users") =>
  from(origin, "OPTIONS", path, {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,authorization"
  })

const corsOf = ({ headers }: Answer) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === "vary" || name.startsWith("access-control-"))
  )

const exposed = "ETag, Location, Content-Location, Preference-Applied, X-Total-Count, X-Unreadable-Count, "
  + "X-Request-Id, Idempotency-Replayed, Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Expires, Upload-Length, "
  + "Upload-Offset, Retry-After, WWW-Authenticate, Allow, Accept-Patch, Accept-Query, Accept-Ranges, Content-Disposition, "
  + "Content-Range, RateLimit, RateLimit-Policy, Stream-Next-Offset, Stream-Up-To-Date, Stream-Cursor, Stream-Txid"

describe("Cors", () => {
  it.effect("is closed without origins", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(corsOf(yield* from(page)), {})
      const options = yield* preflight(page)
      assert.deepStrictEqual([options.status, corsOf(options)], [204, {}])
      assert.strictEqual(options.headers["allow"], "GET, POST, HEAD, QUERY, OPTIONS")
    }).pipe(Effect.provide(served({}))))

  it.effect("lets scripts of the origins read every response, and others none", () =>
    Effect.gen(function*() {
      const readable = {
        "access-control-allow-origin": page,
        "access-control-expose-headers": exposed
      }
      const statuses: Array<number> = []
      for (
        const [method, path] of [["GET", "/users"], ["POST", "/users"], ["GET", "/none"], [
          "GET",
          "/users?x=1"
        ]] as const
      ) {
        const answer = yield* from(page, method, path)
        statuses.push(answer.status)
        // The format of an error is negotiated.
        const vary = answer.status < 400 ? "Origin" : "Accept, Origin"
        assert.deepStrictEqual(corsOf(answer), { ...readable, vary }, path)
      }
      assert.deepStrictEqual(statuses, [200, 201, 404, 400])
      for (const origin of ["https://other.example", "null", "http://app.example", "https://app.example.evil", "*"]) {
        assert.deepStrictEqual(corsOf(yield* from(origin)), { vary: "Origin" }, origin)
      }
      assert.deepStrictEqual(corsOf(yield* send("GET", "/users")), { vary: "Origin" })
      const refused = yield* Effect.forEach([1, 2, 3], () => from(page))
      assert.deepStrictEqual([refused[2]!.status, corsOf(refused[2]!)], [429, { ...readable, vary: "Accept, Origin" }])
    }).pipe(Effect.provide(served({ APPKERNEL_CORS_ORIGINS: `${page}, https://second.example` }))))

  it.effect("answers preflight requests before requests are counted", () =>
    Effect.gen(function*() {
      const vary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
      for (let i = 0; i < 20; i++) {
        const answer = yield* preflight(page, i === 0 ? "/none" : "/users")
        assert.strictEqual(answer.status, 204)
        assert.notProperty(answer.headers, "ratelimit")
        assert.deepStrictEqual(corsOf(answer), {
          vary,
          "access-control-allow-origin": page,
          "access-control-allow-credentials": "true",
          "access-control-allow-methods": "GET, HEAD, QUERY, POST, PUT, PATCH, DELETE",
          "access-control-allow-headers":
            "Authorization, X-API-Key, Content-Type, Content-Disposition, Accept-Language, If-Match, If-None-Match, "
            + "If-Modified-Since, If-Unmodified-Since, If-Range, Range, Idempotency-Key, Prefer, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, X-HTTP-Method-Override, Last-Event-ID, X-Request-Id, traceparent, tracestate, b3",
          "access-control-max-age": "600"
        })
      }
      assert.deepStrictEqual(corsOf(yield* preflight("https://other.example")), { vary })
      const options = yield* from(page, "OPTIONS")
      assert.strictEqual(options.headers["allow"], "GET, POST, HEAD, QUERY, OPTIONS")
      assert.strictEqual(corsOf(options)["access-control-allow-credentials"], "true")
    }).pipe(Effect.provide(served({
      APPKERNEL_CORS_ORIGINS: page,
      APPKERNEL_CORS_CREDENTIALS: "true",
      APPKERNEL_CORS_MAX_AGE: "10 minutes"
    }))))

  it.effect("answers preflight requests before credentials are checked", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* preflight(page, "/notes")).headers["access-control-allow-origin"], page)
      const { headers, status } = yield* from(page, "GET", "/notes")
      assert.deepStrictEqual([status, headers["access-control-allow-origin"]], [401, page])
      assert.include(String(headers["vary"]), "Origin")
    }).pipe(Effect.provide(
      serving(KernelEngine.make("closed").register(Note).enableSecurity(), EmbeddedStore.layerMemory).pipe(
        Layer.provide(shop("ES256")),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_CORS_ORIGINS: page } })))
      )
    )))

  it.effect("may be open to all origins, without credentials", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(corsOf(yield* from("https://any.example")), {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": exposed
      })
      assert.strictEqual((yield* preflight("null")).headers["access-control-allow-origin"], "*")
      // A cache may give to a script what others have asked for.
      assert.deepStrictEqual(corsOf(yield* send("GET", "/users")), corsOf(yield* from("https://any.example")))
    }).pipe(Effect.provide(served({ APPKERNEL_CORS_ORIGINS: "*" }))))

  it.effect("is no start if all origins may send credentials", () =>
    Effect.gen(function*() {
      for (
        const env of [
          { APPKERNEL_CORS_ORIGINS: "*", APPKERNEL_CORS_CREDENTIALS: "true" },
          { APPKERNEL_CORS_ORIGINS: `*,${page}` }
        ]
      ) {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(served(env))))
        assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), "cors.origins: * stands alone")
      }
    }))
})
