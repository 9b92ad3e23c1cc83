import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import {
  Accounts,
  Anonymous,
  ApiKeys,
  Authenticated,
  Credentials,
  CurrentUser,
  DocumentStore,
  EmbeddedStore,
  Jwt,
  KernelClient,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Service,
  Tokens
} from "../../../src/index.ts"
import { Account } from "../../support/models.ts"
import { atOnce } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}

const Callers = Service.make("CallerService").operation(
  "me",
  { success: Schema.String, require: Authenticated },
  () => Effect.map(CurrentUser, ({ subject }) => subject)
)

const engine = KernelEngine.make("shop")
  .register(Resource.make(Account, { methods: ["POST"] }).require(Anonymous))
  .register(Resource.make(Note, { methods: ["GET", "POST"] }).require(Authenticated))
  .register(Callers)
  .register(Tokens.service, { urlBase: "/api/v1" })
  .enableSecurity()

const account = { username: "jane@example.com", password: Redacted.make("correct horse") }

const setUp = Effect.gen(function*() {
  const services = [
    Jwt.layer,
    ApiKeys.layer,
    Accounts.fromModel(Account, { login: "email", secret: "password" })
  ] as const
  const store = Layer.provideMerge(Repository.layer(Note), Layer.mergeAll(EmbeddedStore.layerMemory, ...services))
  const test = yield* engine.test({ store: Layer.fresh(store) })
  const jane = yield* test.anonymous.users.create({ payload: { email: account.username, password: "correct horse" } })
  const paths: Array<string> = []
  const counting = (client: HttpClient.HttpClient) =>
    HttpClient.mapRequest(client, (request) => {
      paths.push(new URL(request.url, test.baseUrl).pathname)
      return request
    })
  const clientWith = (credentials: Credentials.Credentials) =>
    Effect.provide(
      KernelClient.make(engine, { baseUrl: test.baseUrl, credentials, transformClient: counting }),
      FetchHttpClient.layer
    )
  return {
    ...test,
    clientWith,
    jane: jane.result,
    paths,
    count: (path: string) => paths.filter((one) => one === path).length
  }
})

const tokenPath = "/api/v1/token"

describe("The credentials of a client", () => {
  it.effect("may be a name and a password, an API key, or a token that is made ready for each request", () =>
    Effect.gen(function*() {
      const { clientWith, jane, store } = yield* setUp
      const keys = yield* Effect.provide(ApiKeys.ApiKeys, ApiKeys.layer)
      const { key } = yield* Effect.provideService(keys.generate({ owner: jane }), DocumentStore.DocumentStore, store)
      const subjectOf = (credentials: Credentials.Credentials) =>
        Effect.flatMap(clientWith(credentials), ({ callers }) => Effect.map(callers.me(), ({ result }) => result))
      assert.deepStrictEqual(
        [yield* subjectOf(Credentials.basic(account)), yield* subjectOf(Credentials.apiKey(key))],
        [jane, jane]
      )
      const wrong = Credentials.bearer(Effect.succeed(Redacted.make("x.y.z")))
      assert.strictEqual((yield* Effect.flip(subjectOf(wrong)))._tag, "Unauthorized")
      assert.notInclude(JSON.stringify(Credentials.basic(account)), "correct")
    }))

  it.effect("sign in once for many fibers, and renew tokens before they end", () =>
    Effect.gen(function*() {
      const { clientWith, count, jane } = yield* setUp
      const refreshTokens: Array<string> = []
      const client = yield* clientWith(Credentials.tokens({
        path: tokenPath,
        account,
        onRefresh: (token) => Effect.sync(() => void refreshTokens.push(Redacted.value(token)))
      }))
      const all = yield* atOnce(20, () => client.callers.me())
      assert.deepStrictEqual(all.map(({ result }) => result), all.map(() => jane))
      assert.strictEqual(count(tokenPath), 1)
      yield* TestClock.adjust("14 minutes")
      yield* client.callers.me()
      assert.strictEqual(count(tokenPath), 1)
      yield* TestClock.adjust("31 seconds")
      yield* atOnce(20, () => client.callers.me())
      assert.strictEqual(count(tokenPath), 2)
      assert.strictEqual(new Set(refreshTokens).size, 2)
      // A program that starts again goes on with the last refresh token, without the password.
      const later = yield* clientWith(
        Credentials.tokens({ path: tokenPath, refreshToken: Redacted.make(refreshTokens[1]!) })
      )
      assert.strictEqual((yield* later.callers.me()).result, jane)
    }))

  it.effect("sign in anew when a sign-in has ended, and write once", () =>
    Effect.gen(function*() {
      const { clientWith, count, jane, repositories: { notes }, store } = yield* setUp
      const client = yield* clientWith(Credentials.tokens({ path: tokenPath, account }))
      yield* client.callers.me()
      yield* Effect.provideService(Tokens.signOut(jane), DocumentStore.DocumentStore, store)
      yield* atOnce(10, (i) => client.notes.create({ payload: { text: String(i) } }))
      assert.strictEqual(yield* notes.count(), 10)
      // The ended sign-in is refused once, and the account signs in once.
      assert.strictEqual(count(tokenPath), 3)
    }))

  it.effect("are none when the service refuses them", () =>
    Effect.gen(function*() {
      const { clientWith, count } = yield* setUp
      const password = Redacted.make("battery staple")
      const client = yield* clientWith(Credentials.tokens({ path: tokenPath, account: { ...account, password } }))
      const refused = yield* Effect.flip(client.callers.me())
      assert.strictEqual(refused._tag, "Unauthorized")
      yield* Effect.flip(client.callers.me())
      assert.strictEqual(count(tokenPath), 1)
    }))

  it.effect("are asked for again half a minute after the service has refused them", () =>
    Effect.gen(function*() {
      const { anonymous, clientWith, count } = yield* setUp
      const late = { username: "late@example.com", password: Redacted.make("battery staple") }
      const client = yield* clientWith(Credentials.tokens({ path: tokenPath, account: late }))
      yield* Effect.flip(client.callers.me())
      yield* Effect.flip(client.callers.me())
      assert.strictEqual(count(tokenPath), 1)
      const { result: id } = yield* anonymous.users.create({
        payload: { email: late.username, password: "battery staple" }
      })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* client.callers.me()).result, id)
    }))

  it.effect("survive an interrupted request, which does not lose the refresh token", () =>
    Effect.gen(function*() {
      const { clientWith, jane } = yield* setUp
      const client = yield* clientWith(Credentials.tokens({ path: tokenPath, account }))
      yield* client.callers.me()
      yield* TestClock.adjust("15 minutes")
      for (let i = 0; i < 10; i++) {
        const fiber = yield* Effect.forkChild(client.callers.me())
        for (let turn = 0; turn < i; turn++) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        yield* Fiber.interrupt(fiber)
      }
      assert.strictEqual((yield* client.callers.me()).result, jane)
    }))
})
