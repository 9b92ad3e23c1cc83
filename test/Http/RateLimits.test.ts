/** Limits of how often a service is called, over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import {
  CurrentUser,
  EmbeddedStore,
  type HttpError,
  KernelClient,
  KernelEngine,
  type RateLimits,
  Resource,
  Role
} from "../../src/index.ts"
import { newUser, Note, User } from "../support/models.ts"
import { resolvedDocument } from "../support/resolvedDocument.ts"
import { type Answer, atOnce, refused, send, serving, statusesOf } from "../support/rest.ts"

/** Takes the user from a header, in the place of credentials. */
const users = HttpRouter.middleware((handler) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const subject = headers["test-user"]
    return subject === undefined
      ? handler
      : Effect.provideService(handler, CurrentUser, { subject, roles: [], claims: {} })
  }), { global: true })

const plain = KernelEngine.make("limited")
  .register(User, { methods: ["GET", "POST"], urlBase: "/api" })
  .register(Note)
  .enableOpenApi({ title: "Limited", version: "1" })

const engineWith = (limits: RateLimits.RateLimits) => plain.enableRateLimits(limits).use(users)

const served = (engine: typeof plain, env: { readonly [name: string]: string } = {}) =>
  serving(engine, EmbeddedStore.layerMemory).pipe(Layer.provide(ConfigProvider.layer(
    ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1", ...env } })
  )))

const limited = (limits: RateLimits.RateLimits) =>
  serving(engineWith(limits), EmbeddedStore.layerMemory).pipe(Layer.provide(ConfigProvider.layer(
    ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1" } })
  )))

const from = (address: string, path = "/notes", user?: string) =>
  send("GET", path, undefined, {
    "x-forwarded-for": address,
    ...(user === undefined ? {} : { "test-user": user })
  })

const quotaOf = ({ headers }: Answer) => [headers["ratelimit-policy"], headers["ratelimit"]]

describe("RateLimits", () => {
  it.effect("refuses an address beyond its limit, and allows one request more after each part of the window", () =>
    Effect.gen(function*() {
      const first = yield* from("203.0.113.9")
      assert.deepStrictEqual([first.status, ...quotaOf(first)], [
        200,
        "\"address\";q=3;w=60",
        "\"address\";r=2;t=20"
      ])
      assert.strictEqual((yield* from("203.0.113.9", "/none")).status, 404)
      assert.strictEqual((yield* from("203.0.113.9")).headers["ratelimit"], "\"address\";r=0;t=60")
      const late = refused(429, yield* from("203.0.113.9"))
      assert.deepStrictEqual(late.body, {
        _type: "ErrorMessage",
        code: 429,
        message: "There were too many requests, try again in 20 s",
        retry_after: 20
      })
      assert.deepStrictEqual([late.headers["retry-after"], ...quotaOf(late)], [
        "20",
        "\"address\";q=3;w=60",
        "\"address\";r=0;t=60"
      ])
      assert.strictEqual((yield* from("203.0.113.10")).status, 200)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* from("203.0.113.9")).status, 200)
      assert.strictEqual((yield* from("203.0.113.9")).status, 429)
    }).pipe(Effect.provide(limited({ perAddress: { limit: 3, window: "1 minute" } }))))

  it.effect("lets no more through than the limit, however many come at once", () =>
    Effect.gen(function*() {
      const answers = yield* atOnce(200, () => from("203.0.113.9"))
      assert.deepStrictEqual(statusesOf(answers), { 200: 30, 429: 170 })
    }).pipe(Effect.provide(limited({ perAddress: { limit: 30, window: "1 minute" } }))))

  it.effect("are those of all processes together with a shared RateLimiter", () =>
    Effect.gen(function*() {
      const store = yield* Layer.build(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)))
      const layers = [0, 1].map(() =>
        Layer.fresh(limited({ perAddress: { limit: 3, window: "1 minute" } })).pipe(
          Layer.provide(Layer.succeedContext(store))
        )
      )
      const answers = yield* Effect.forEach(
        layers,
        (layer) => Effect.provide(Effect.forEach([1, 2], () => from("203.0.113.9")), layer)
      )
      assert.deepStrictEqual(answers.flat().map(({ status }) => status), [200, 200, 200, 429])
      assert.deepStrictEqual(answers.flat().map((answer) => quotaOf(answer)[1]), [
        "\"address\";r=2;t=20",
        "\"address\";r=1;t=40",
        "\"address\";r=0;t=60",
        "\"address\";r=0;t=60"
      ])
      assert.strictEqual(answers[1]![1]!.headers["retry-after"], "20")
    }))

  it.effect("counts requests of a user from all addresses, and those without a user by address", () =>
    Effect.gen(function*() {
      const answers = [
        yield* from("203.0.113.1", "/notes", "jane"),
        yield* from("203.0.113.2", "/api/users", "jane"),
        yield* from("203.0.113.3", "/notes", "jane"),
        yield* from("203.0.113.3", "/notes", "tom"),
        yield* from("203.0.113.1"),
        yield* from("203.0.113.1"),
        yield* from("203.0.113.1")
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 429, 200, 200, 200, 429])
      assert.deepStrictEqual(quotaOf(answers[2]!), [
        "\"address\";q=600;w=60, \"caller\";q=2;w=10",
        "\"address\";r=599;t=1, \"caller\";r=0;t=10"
      ])
    }).pipe(Effect.provide(limited({ perCaller: { limit: 2, window: "10 seconds" } }))))

  it.effect("are those of addresses before credentials are checked, and those of callers after", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("secured")
        .register(Resource.make(Note, { methods: ["GET"] }).require(Role("reader"), "GET"))
        .enableSecurity()
        .enableRateLimits({ perAddress: { limit: 7, window: "1 day" }, perCaller: { limit: 2, window: "1 day" } })
      const { anonymous, as, baseUrl } = yield* engine.test()
      const outcome = (client: typeof anonymous) =>
        client.notes.list().pipe(Effect.map(() => "read"), Effect.catch(({ _tag }) => Effect.succeed(_tag)))
      const jane = yield* as({ subject: "jane", roles: ["reader"] })
      const tom = yield* as({ subject: "tom", roles: [] })
      assert.deepStrictEqual([yield* outcome(jane), yield* outcome(jane)], ["read", "read"])
      assert.deepStrictEqual([yield* outcome(jane), yield* outcome(tom)], ["TooManyRequests", "Forbidden"])
      const wrong = Effect.map(
        HttpClient.get(`${baseUrl}/notes`, { headers: { authorization: "Bearer wrong" } }),
        ({ status }) => status
      ).pipe(Effect.provide(FetchHttpClient.layer))
      assert.deepStrictEqual([yield* outcome(anonymous), yield* wrong, yield* wrong], ["Unauthorized", 401, 401])
      assert.deepStrictEqual([yield* outcome(anonymous), yield* wrong], ["TooManyRequests", 429])
    }).pipe(Effect.scoped))

  it.effect("limits single routes, errors included", () =>
    Effect.gen(function*() {
      const get = () => from("203.0.113.1", "/api/users/none", "jane")
      assert.deepStrictEqual([(yield* get()).status, (yield* get()).status], [404, 429])
      assert.strictEqual((yield* from("203.0.113.1", "/api/users/none", "tom")).status, 404)
      assert.strictEqual((yield* from("203.0.113.1", "/api/users", "jane")).status, 200)
      assert.include(String((yield* get()).headers["ratelimit-policy"]), "\"route\";q=1;w=3600")
    }).pipe(Effect.provide(limited({ routes: { "GET /api/users/{id}": { limit: 1, window: "1 hour" } } }))))

  it.effect("are an error of the typed client, with the seconds to wait", () =>
    Effect.gen(function*() {
      const { address } = yield* HttpServer.HttpServer
      const engine = engineWith({})
      const client = yield* KernelClient.make(engine, { baseUrl: HttpServer.formatAddress(address) })
      const list = client.notes.list().pipe(
        Effect.map(() => 0),
        Effect.catchTag("TooManyRequests", (error: HttpError.TooManyRequests) => Effect.succeed(error.retry_after))
      )
      assert.deepStrictEqual([yield* list, yield* list], [0, 60])
      // The standard endpoints keep the types of their results.
      const created = client.users.create({ payload: newUser({}) })
      assert.strictEqual(yield* Effect.flip(created).pipe(Effect.map((error) => error._tag)), "TooManyRequests")
    }).pipe(Effect.provide([limited({ perAddress: { limit: 1, window: "1 minute" } }), FetchHttpClient.layer])))

  it.effect("are in the OpenAPI document, and not without limits", () =>
    Effect.gen(function*() {
      const statuses = Effect.map(send("GET", "/openapi.json"), ({ body, headers }) => {
        const { responses } = resolvedDocument(body).paths["/notes"].get
        return {
          statuses: Object.keys(responses),
          retry: responses[429]?.headers["Retry-After"].schema,
          quota: headers["ratelimit"]
        }
      })
      const without = yield* Effect.provide(statuses, served(plain))
      assert.deepStrictEqual([without.retry, without.quota], [undefined, undefined])
      assert.notInclude(without.statuses, "429")
      for (
        const layer of [
          limited({}),
          // By the configuration alone.
          served(plain, { APPKERNEL_RATE_LIMITS_PER_ADDRESS: "600 per minute" })
        ]
      ) {
        const { quota, retry, statuses: all } = yield* Effect.provide(statuses, layer)
        assert.include(all, "429")
        assert.deepStrictEqual(retry, { type: "integer" })
        assert.strictEqual(quota, "\"address\";r=599;t=1")
      }
    }))

  it.effect("are configured, over those of the program", () =>
    Effect.gen(function*() {
      const { headers } = yield* send("GET", "/notes")
      assert.strictEqual(headers["ratelimit-policy"], "\"address\";q=7;w=30, \"caller\";q=5;w=1")
    }).pipe(Effect.provide(
      serving(engineWith({ perAddress: { limit: 1, window: "1 minute" } }), EmbeddedStore.layerMemory).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({
          env: {
            APPKERNEL_RATE_LIMITS_PER_ADDRESS: "7 per 30 seconds",
            APPKERNEL_RATE_LIMITS_PER_CALLER: "5 per second"
          }
        })))
      )
    )))

  it.effect("that can't be are no start", () =>
    Effect.gen(function*() {
      const invalid: ReadonlyArray<[RateLimits.RateLimits, string]> = [
        [
          { perAddress: { limit: 0, window: "1 minute" } },
          "The rate limit perAddress needs a whole number of requests from 1"
        ],
        [
          { perCaller: { limit: 1, window: "1 millis" } },
          "The rate limit perCaller needs a window of at least a second"
        ],
        [{ routes: { "GET /none": { limit: 1, window: "1 minute" } } }, "The rate limit GET /none is of no route"]
      ]
      for (const [limits, message] of invalid) {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(limited(limits))))
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), message)
      }
    }))
})
