/** What a service passes on of its own caller, to a service that checks it: both run, and talk over sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import {
  Accounts,
  Anonymous,
  ApiKeys,
  Authenticated,
  Credentials,
  CurrentUser,
  DocumentStore,
  EmbeddedStore,
  HttpClientFactory,
  KernelClient,
  KernelEngine,
  Resource,
  Service,
  UpstreamError
} from "../../../src/index.ts"
import { Account } from "../../support/models.ts"
import { refused, send, serving } from "../../support/rest.ts"
import { upstream } from "../support/upstream.ts"

const Seen = Schema.Struct({ subject: Schema.String, language: Schema.String })

/** The service behind: it knows the callers. */
const accounts = KernelEngine.make("accounts")
  .register(Resource.make(Account, { methods: ["POST"] }).require(Anonymous))
  .register(
    Service.make("CallerService").operation(
      "me",
      { success: Seen, require: Authenticated },
      () =>
        Effect.gen(function*() {
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          return { subject: (yield* CurrentUser).subject, language: headers["accept-language"] ?? "" }
        })
    )
  )
  .enableSecurity()

/** The addresses of the services behind: one that gets credentials, and one that does not. */
const addresses = { accounts: "", other: "" }

/** The service in front, which asks nobody who they are. */
const front = KernelEngine.make("front").register(
  Service.make("FrontService")
    .operation("me", { success: Schema.Unknown, error: UpstreamError.of(401) }, () =>
      Effect.gen(function*() {
        const proxy = yield* HttpClientFactory.get(addresses.accounts)
        return (yield* proxy.wrap("callers/me").get())[1]
      }))
    .operation("typed", { success: Schema.Unknown, error: UpstreamError.of(401) }, () =>
      Effect.gen(function*() {
        const client = yield* HttpClientFactory.typed(accounts, addresses.accounts)
        return yield* client.callers.me().pipe(KernelClient.passOn)
      }))
    .operation("other", { success: Schema.Unknown }, () =>
      Effect.gen(function*() {
        const proxy = yield* HttpClientFactory.get(addresses.other)
        return (yield* proxy.wrap("x").get())[1]
      }))
)

const started = Effect.gen(function*() {
  const security = Layer.mergeAll(ApiKeys.layer, Accounts.fromModel(Account, { login: "email", secret: "password" }))
  const test = yield* accounts.test({ store: Layer.fresh(Layer.mergeAll(EmbeddedStore.layerMemory, security)) })
  const other = yield* upstream(({ headers }) => headers)
  Object.assign(addresses, { accounts: test.baseUrl, other: other.url })
  const client = HttpClientFactory.layer.pipe(Layer.provide(HttpClientFactory.configureHttpClient({
    credentials: { [test.baseUrl]: Credentials.forwarded }
  })))
  const created = yield* Effect.forEach(
    ["jane", "jim"],
    (email) => test.anonymous.users.create({ payload: { email, password: `${email}'s` } })
  )
  const [jane = "", jim = ""] = created.map(({ result }) => result)
  const { generate } = yield* Effect.provide(ApiKeys.ApiKeys, ApiKeys.layer)
  const { key } = yield* Effect.provideService(generate({ owner: jim }), DocumentStore.DocumentStore, test.store)
  return { front: Layer.provideMerge(serving(front, EmbeddedStore.layerMemory), client), jane, jim, key }
})

const basic = (name: string, password = `${name}'s`) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`
})

describe("A service that passes on what its caller sent", () => {
  it.live("has each caller, by whatever credentials and in whatever language, known to the service behind", () =>
    Effect.gen(function*() {
      const { front, jane, jim, key } = yield* started
      yield* Effect.gen(function*() {
        const callers = [
          [{ ...basic("jane"), "accept-language": "de-CH" }, { subject: jane, language: "de-CH" }],
          [{ "x-api-key": Redacted.value(key), "accept-language": "fr, en;q=0.5" }, {
            subject: jim,
            language: "fr, en;q=0.5"
          }],
          [basic("jim"), { subject: jim, language: "en" }]
        ] as const
        for (const path of ["/fronts/me", "/fronts/typed"]) {
          // Many at once: nobody gets what somebody else sent.
          yield* Effect.forEach(
            Array.from({ length: 12 }, (_, i) => callers[i % callers.length]!),
            ([headers, seen]) =>
              Effect.map(send("GET", path, undefined, headers), ({ body, status, text }) => {
                assert.strictEqual(status, 200, text)
                assert.deepInclude(body.result ?? body, seen)
              }),
            { concurrency: 12 }
          )
        }
      }).pipe(Effect.provide(front))
    }))

  it.live("is answered as its caller would be: 401 with the challenges of the service behind", () =>
    Effect.gen(function*() {
      const { front } = yield* started
      yield* Effect.gen(function*() {
        for (const path of ["/fronts/me", "/fronts/typed"]) {
          for (const headers of [{}, basic("jane", "wrong")]) {
            const answer = yield* send("GET", path, undefined, headers)
            refused(401, answer)
            assert.match(String(answer.headers["www-authenticate"]), /Basic realm="accounts".*ApiKey/u)
          }
        }
      }).pipe(Effect.provide(front))
    }))

  it.live("sends them nowhere else", () =>
    Effect.gen(function*() {
      const { front } = yield* started
      yield* Effect.gen(function*() {
        const headers = { ...basic("jane"), "x-api-key": "k", cookie: "c=1", "accept-language": "de" }
        const { body } = yield* send("GET", "/fronts/other", undefined, headers)
        const got = body.result ?? body
        assert.strictEqual(got["accept-language"], "de")
        for (const name of ["authorization", "x-api-key", "cookie"]) assert.notProperty(got, name)
      }).pipe(Effect.provide(front))
    }))
})
