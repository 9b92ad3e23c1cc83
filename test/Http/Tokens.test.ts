import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import {
  Accounts,
  ApiKeys,
  Authenticated,
  Converter,
  CurrentSubject,
  CurrentUser,
  DocumentStore,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Repository,
  RepositoryError,
  Resource,
  Service,
  SignInAttempts,
  Tokens
} from "../../src/index.ts"
import { type FreshStore, inFuture } from "../support/mongo.ts"
import { type Answer, bearer, sendTo } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { shop as shopTokens } from "../support/tokens.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  pin: Schema.String.pipe(
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted,
    Model.optional
  ),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  blocked: Schema.Boolean.pipe(Model.withDefault(() => false))
}) {}

const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST"] })
  .register(Tokens.service, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "Shop", version: "1.0.0" })

const WhoAmI = Service.make("WhoAmIService").operation(
  "whoami",
  { path: "/whoami", success: Schema.String, require: Authenticated },
  () => Effect.map(CurrentUser, ({ subject }) => subject)
)

const secured = engine.register(WhoAmI, { urlBase: "/api/v1" }).enableSecurity()

const accounts = Accounts.fromModel(User, { login: "email", secret: "password", blocked: "blocked" })

/** Users who write themselves, and change their passwords. */
const Profiles = Resource.make(User, { methods: ["GET", "PUT", "PATCH", "POST"] })
  .action(
    "change_password",
    { payload: Schema.Struct({ password: Schema.String }), success: Schema.String },
    Effect.fnUntraced(function*(user, { payload }) {
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: payload.password })
      return "changed"
    })
  )
  .require(CurrentSubject)

const profiles = KernelEngine.make("shop")
  .register(Profiles, { urlBase: "/api/v1" })
  .register(Tokens.service, { urlBase: "/api/v1" })
  .enableSecurity()

const shop = Effect.fnUntraced(function*(store: FreshStore, own: typeof accounts = accounts) {
  return yield* begun(yield* engine.test({ store: Layer.fresh(Layer.mergeAll(store, Jwt.layer, own)) }))
})

interface Test {
  readonly baseUrl: string
  readonly repositories: { readonly users: Repository.Repository<typeof User> }
}

/** A service that Jane may sign in to. */
const begun = Effect.fnUntraced(function*<T extends Test>(test: T) {
  const input = { email: "jane@example.com", password: "correct horse" }
  const jane = yield* test.repositories.users.insert(yield* Model.finalise(User, input))
  const send = (path: string, body: string, type: string) =>
    sendTo(`${test.baseUrl}/api/v1`, "POST", path, body, { "content-type": type })
  return {
    ...test,
    jane: jane.id,
    json: (path: string, body: unknown) => send(path, JSON.stringify(body), "application/json"),
    form: (path: string, body: Record<string, string> | string) =>
      send(path, new URLSearchParams(body).toString(), "application/x-www-form-urlencoded; charset=utf-8"),
    send
  }
})

const grant = { grant_type: "password", username: "jane@example.com", password: "correct horse" }

storeMatrix((name, found) => {
  const store = name === "mongodb" ? inFuture(found) : found
  describe(`Tokens / ${name}`, () => {
    it.effect("are issued for a name and a password, as JSON and as a form, and verify by the published keys", () =>
      Effect.gen(function*() {
        const { baseUrl, form, jane, json } = yield* shop(store)
        for (
          const answer of [yield* json("/token", grant), yield* form("/token", grant), yield* json("/token/", grant)]
        ) {
          assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
          assert.strictEqual(answer.headers["cache-control"], "no-store")
          const { access_token, refresh_token, ...rest } = answer.body
          assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 900 })
          assert.isString(refresh_token)
          const { payload } = yield* Effect.promise(() =>
            jose.jwtVerify(
              String(access_token),
              jose.createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`)),
              { issuer: "shop", audience: "shop", currentDate: new Date(0) }
            )
          )
          assert.deepStrictEqual([payload.sub, payload["roles"]], [jane, ["user"]])
        }
      }))

    it.effect("of the sign-in that changes a password go on, and all others of the account end", () =>
      Effect.gen(function*() {
        const layer = Layer.fresh(Layer.mergeAll(store, Jwt.layer, accounts))
        const { baseUrl, form, jane, json } = yield* begun(yield* profiles.test({ store: layer }))
        const send = (method: string, path: string, token: unknown, body: unknown) =>
          Effect.map(sendTo(`${baseUrl}/api/v1`, method, path, body, bearer(token)), ({ status }) => status)
        const renew = (token: unknown) => form("/token", { grant_type: "refresh_token", refresh_token: String(token) })
        const path = `/users/${jane}`
        let password = grant.password
        for (
          const [at, change] of ([
            (next) => ["PATCH", path, { password: next }],
            (next) => ["POST", `${path}/change_password`, { password: next }],
            (next) => ["PUT", path, { email: grant.username, password: next, roles: ["user"] }],
            (next) => ["PATCH", path, { password: next }],
            // Another value of the same request is hashed after it.
            (next) => ["PATCH", path, { password: next, pin: "1234" }]
          ] as ReadonlyArray<(next: string) => [string, string, unknown]>).entries()
        ) {
          const own = (yield* json("/token", { ...grant, password })).body
          const other = (yield* json("/token", { ...grant, password })).body
          const seen = Effect.forEach([own, other], (tokens) => send("GET", path, tokens["access_token"], undefined))
          assert.deepStrictEqual(yield* seen, [200, 200])
          // Its own sign-in also outlives changes that are refused, and the hashes of others.
          assert.strictEqual(yield* send("PATCH", path, own["access_token"], { password: "lost", email: 7 }), 400)
          assert.strictEqual(yield* send("PATCH", "/users/U0", own["access_token"], { password: "lost" }), 403)
          password = `battery staple ${at}`
          const [method, where, body] = change(password)
          assert.strictEqual(yield* send(method, where, own["access_token"], body), 200)
          assert.strictEqual((yield* renew(other["refresh_token"])).status, 400)
          yield* TestClock.adjust("30 seconds")
          assert.deepStrictEqual(yield* seen, [200, 401])
          const renewed = yield* renew(own["refresh_token"])
          assert.strictEqual(renewed.status, 200)
          // And so again.
          password = `${password} again`
          assert.strictEqual(yield* send("PATCH", path, renewed.body["access_token"], { password }), 200)
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual(yield* send("GET", path, renewed.body["access_token"], undefined), 200)
          assert.strictEqual((yield* renew(renewed.body["refresh_token"])).status, 200)
        }
      }))

    it.effect("are renewed once, and revoked without telling whether they were known", () =>
      Effect.gen(function*() {
        const { form, json } = yield* shop(store)
        const first = (yield* json("/token", grant)).body
        const renew = (token: unknown) =>
          form("/token", { grant_type: "refresh_token", refresh_token: String(token), scope: "", client_id: "web" })
        const second = yield* renew(first["refresh_token"])
        assert.strictEqual(second.status, 200)
        assert.notStrictEqual(second.body["refresh_token"], first["refresh_token"])
        const again = yield* renew(first["refresh_token"])
        assert.deepStrictEqual([again.status, again.body["error"]], [400, "invalid_grant"])
        assert.strictEqual(again.headers["cache-control"], "no-store")
        assert.strictEqual((yield* renew(second.body["refresh_token"])).status, 400)
        for (const kind of ["access_token", "refresh_token"]) {
          const tokens = (yield* json("/token", grant)).body
          const revoked = yield* form("/token/revoke", { token: String(tokens[kind]), token_type_hint: kind })
          assert.deepStrictEqual([revoked.status, revoked.body["result"]], [200, null])
          assert.strictEqual((yield* renew(tokens["refresh_token"])).status, 400)
          assert.strictEqual((yield* form("/token/revoke", { token: String(tokens[kind]) })).status, 200)
        }
        assert.strictEqual((yield* json("/token/revoke", { token: "unknown" })).status, 200)
      }))

    it.effect("of several sign-ins are listed to their user, who ends one", () =>
      Effect.gen(function*() {
        const test = yield* secured.test({ store: Layer.fresh(Layer.mergeAll(store, Jwt.layer, accounts)) })
        const { json } = yield* begun(test)
        const ben = { email: "ben@example.com", password: "another horse" }
        yield* test.repositories.users.insert(yield* Model.finalise(User, ben))
        const signedIn = (body: object) => Effect.map(json("/token", body), ({ body }) => body)
        const phone = yield* signedIn(grant)
        yield* TestClock.adjust("1 minute")
        const laptop = yield* signedIn(grant)
        const other = yield* signedIn({ ...grant, username: ben.email, password: ben.password })
        yield* TestClock.adjust("1 minute")
        const renewed = yield* signedIn({ grant_type: "refresh_token", refresh_token: phone["refresh_token"] })
        const ask = (method: string, path: string, { access_token: token }: Answer["body"]) =>
          sendTo(`${test.baseUrl}/api/v1/token/sessions`, method, path, undefined, {
            authorization: `Bearer ${String(token)}`
          })
        interface Listed {
          readonly id: string
          readonly began: string
          readonly last_used: string
          readonly current: boolean
        }
        // The schema of the endpoint says so.
        const listed = (tokens: Answer["body"]) =>
          Effect.map(ask("GET", "", tokens), ({ body }) => body["sessions"] as ReadonlyArray<Listed>)
        const found = yield* listed(laptop)
        assert.deepStrictEqual(found.map(({ current }) => current), [false, true])
        const minutes = found.map(({ began, last_used: used }) => (Date.parse(used) - Date.parse(began)) / 60_000)
        assert.deepStrictEqual(minutes, [2, 0])
        assert.deepStrictEqual((yield* listed(other)).map(({ current }) => current), [true])
        assert.strictEqual((yield* ask("GET", "", {})).status, 401)

        // Nobody ends those of somebody else.
        assert.strictEqual((yield* ask("DELETE", `/${found[0]?.id}`, other)).status, 200)
        assert.strictEqual((yield* listed(laptop)).length, 2)
        assert.strictEqual((yield* ask("DELETE", `/${found[0]?.id}`, laptop)).status, 200)
        assert.deepStrictEqual((yield* listed(laptop)).map(({ id }) => id), [found[1]?.id])
        assert.strictEqual((yield* ask("GET", "", renewed)).status, 401)
      }))

    it.effect("are neither shown nor ended by credentials of the same user that are no sign-in", () =>
      Effect.gen(function*() {
        const services = Layer.mergeAll(
          Layer.succeedContext(yield* Layer.build(shopTokens("ES256"))),
          accounts,
          ApiKeys.layer
        )
        const test = yield* secured.test({ store: Layer.merge(Layer.fresh(store), services) })
        const { jane, json } = yield* begun(test)
        const { key } = yield* Effect.flatMap(ApiKeys.ApiKeys, ({ generate }) => generate({ owner: jane })).pipe(
          Effect.provide(ApiKeys.layer),
          Effect.provideService(DocumentStore.DocumentStore, test.store)
        )
        const own = yield* Effect.flatMap(Jwt.Jwt, ({ sign }) => sign({ subject: jane })).pipe(Effect.provide(services))
        const ask = (method: string, path: string, headers: { readonly [name: string]: string }) =>
          sendTo(`${test.baseUrl}/api/v1/token/sessions`, method, path, undefined, headers)
        const signedIn = bearer((yield* json("/token", grant)).body["access_token"])
        const shown = (headers: { readonly [name: string]: string }) =>
          // The schema of the endpoint says so.
          Effect.map(ask("GET", "", headers), ({ body }) => body["sessions"] as ReadonlyArray<{ readonly id: string }>)
        const [session] = yield* shown(signedIn)
        for (const headers of [{ "x-api-key": Redacted.value(key) }, bearer(Redacted.value(own))]) {
          assert.deepStrictEqual(yield* shown(headers), [])
          assert.strictEqual((yield* ask("DELETE", `/${session?.id}`, headers)).status, 200)
          assert.strictEqual((yield* shown(signedIn)).length, 1)
        }
      }))

    it.effect("are refused with the codes of RFC 6749, and the same words for all wrong credentials", () =>
      Effect.gen(function*() {
        const { form, json, send } = yield* shop(store)
        const wrong = {
          _type: "ErrorMessage",
          code: 400,
          error: "invalid_grant",
          message: "The credentials are wrong or no longer valid"
        }
        for (
          const body of [
            { ...grant, password: "wrong" },
            { ...grant, username: "john@example.com" },
            { ...grant, password: "x".repeat(2_000) },
            { grant_type: "refresh_token", refresh_token: "unknown" },
            { grant_type: "refresh_token", refresh_token: `${"A".repeat(22)}.${"A".repeat(43)}` }
          ]
        ) {
          assert.deepStrictEqual([(yield* json("/token", body)).body, (yield* form("/token", body)).body], [
            wrong,
            wrong
          ])
        }
        const codes = yield* Effect.forEach(
          [
            {},
            { grant_type: "password" },
            { ...grant, username: "" },
            { grant_type: "refresh_token" },
            { grant_type: "client_credentials" }
          ],
          (body) => Effect.map(form("/token", body), ({ body, status }) => `${status} ${String(body["error"])}`)
        )
        const empty = yield* Effect.forEach(
          [
            { ...grant, grant_type: "" },
            { ...grant, username: "" },
            { ...grant, password: "" },
            { grant_type: "refresh_token", refresh_token: "" }
          ],
          (body) => Effect.map(json("/token", body), ({ body }) => body["error"])
        )
        assert.deepStrictEqual([...new Set(empty)], ["invalid_request"])
        assert.strictEqual((yield* json("/token/revoke", { token: "" })).body["error"], "invalid_request")
        assert.deepStrictEqual(codes, [
          "400 invalid_request",
          "400 invalid_request",
          "400 invalid_request",
          "400 invalid_request",
          "400 unsupported_grant_type"
        ])
        assert.deepStrictEqual((yield* form("/token/revoke", {})).body["error"], "invalid_request")
        const twice = yield* form("/token", "grant_type=password&grant_type=password")
        const unread = [
          twice,
          yield* form("/token/revoke", "token=a&token=b"),
          yield* json("/token", { grant_type: 5 }),
          yield* json("/token", { ...grant, password: ["a"] }),
          yield* json("/token?a=1", grant),
          yield* send("/token", "{", "application/json"),
          yield* send("/token", "[]", "application/json"),
          yield* send("/token/revoke", "{", "application/json")
        ]
        for (const { body, status } of unread) {
          assert.deepStrictEqual([status, body["_type"], body["error"]], [400, "ErrorMessage", "invalid_request"])
          assert.isArray(body["errors"])
          assert.notInclude(JSON.stringify(body), grant.password)
        }
        assert.strictEqual((yield* send("/token", "{}", "text/plain")).status, 415)
        assert.strictEqual((yield* send("/token", "grant_type=%ff", "application/x-www-form-urlencoded")).status, 400)
      }))

    it.effect("go to one of many that renew at once, over HTTP", () =>
      Effect.gen(function*() {
        const { json } = yield* shop(store)
        const { refresh_token } = (yield* json("/token", grant)).body
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, () => json("/token", { grant_type: "refresh_token", refresh_token })),
          { concurrency: 8 }
        )
        assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
        const winner = answers.find(({ status }) => status === 200)
        const next = { grant_type: "refresh_token", refresh_token: winner?.body["refresh_token"] }
        assert.strictEqual((yield* json("/token", next)).body["error"], "invalid_grant")
      }))

    it.effect("have a typed client, whose secrets are redacted", () =>
      Effect.gen(function*() {
        const { client } = yield* shop(store)
        const password = Redacted.make("correct horse")
        const tokens = yield* client.tokens.token({ payload: { ...grant, password } })
        assert.notInclude(JSON.stringify(tokens), Redacted.value(tokens.refresh_token))
        yield* TestClock.adjust("30 days")
        const outcome = yield* client.tokens.token({
          payload: { grant_type: "refresh_token", refresh_token: tokens.refresh_token }
        }).pipe(
          Effect.as("new tokens"),
          Effect.catchTag("invalid_grant", ({ message }) => Effect.succeed(message))
        )
        assert.strictEqual(outcome, "The credentials are wrong or no longer valid")
      }))

    it.effect("are slowed after failed attempts, and counted by their outcome", () =>
      Effect.gen(function*() {
        const attempts = SignInAttempts.layerWith({ perAccount: { limit: 2, window: "1 minute" } })
        const built = Context.get(yield* Layer.build(Layer.fresh(store)), DocumentStore.DocumentStore)
        const documents = { ...built }
        const own = Layer.succeed(DocumentStore.DocumentStore, documents)
        const { json } = yield* shop(own, Layer.provide(accounts, attempts))
        const { body: { refresh_token } } = yield* json("/token", grant)
        yield* json("/token", { grant_type: "refresh_token", refresh_token })
        yield* json("/token", { grant_type: "refresh_token", refresh_token })
        const outcomes: Array<string> = []
        for (const password of ["wrong", "wrong", "correct horse"]) {
          const { body, headers, status } = yield* json("/token", { ...grant, password })
          outcomes.push([status, body["error"], body["code"], body["retry_after"], headers["retry-after"]].join())
        }
        const [first, second, third] = outcomes
        assert.deepStrictEqual([first, second], ["400,invalid_grant,400,,", "400,invalid_grant,400,,"])
        assert.match(third ?? "", /^429,,429,(\d+),\1$/u)
        // The store is gone.
        const gone = () =>
          Effect.fail(new RepositoryError.StoreUnavailable({ operation: "any", detail: "gone", retryable: true }))
        for (const [name, member] of Object.entries(documents)) {
          if (typeof member === "function") Object.assign(documents, { [name]: gone })
        }
        const { status } = yield* json("/token", { grant_type: "refresh_token", refresh_token })
        assert.strictEqual(status, 503)
        const counts = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
          id === "appkernel.sign_ins" && "count" in state
            ? [`${attributes?.["grant"]} ${attributes?.["outcome"]} ${state.count}`]
            : []
        )
        assert.sameMembers(counts, [
          "password issued 1",
          "password refused 2",
          "password slowed 1",
          "refresh_token failed 1",
          "refresh_token issued 1",
          "refresh_token refused 1"
        ])
      }).pipe(Effect.provide(Layer.sync(Metric.MetricRegistry, () => new Map()))))

    it.effect("end on all servers of a store: revoked, replayed, signed out, or with their user", () =>
      Effect.gen(function*() {
        const tokens = Layer.succeedContext(yield* Layer.build(shopTokens("ES256")))
        const services = Layer.merge(tokens, accounts)
        const one = yield* begun(yield* secured.test({ store: Layer.merge(Layer.fresh(store), services) }))
        // Another process knows what the store knows.
        const other = yield* secured.test({
          store: Layer.merge(Layer.succeed(DocumentStore.DocumentStore, { ...one.store }), services)
        })
        const users = one.repositories.users
        const statusOf = (baseUrl: string, token: unknown) =>
          Effect.map(sendTo(baseUrl, "GET", "/api/v1/whoami", undefined, bearer(token)), ({ status }) => status)
        const statuses = (token: unknown) => Effect.all([statusOf(one.baseUrl, token), statusOf(other.baseUrl, token)])
        const renew = (token: unknown) => one.json("/token", { grant_type: "refresh_token", refresh_token: token })
        const signIn = (user: Partial<typeof grant>) =>
          Effect.map(one.json("/token", { ...grant, ...user }), ({ body }) => body)
        const ends: { readonly [how: string]: (tokens: Answer["body"]) => Effect.Effect<unknown, unknown> } = {
          revoked: ({ access_token }) => one.json("/token/revoke", { token: access_token }),
          replayed: ({ refresh_token }) => Effect.andThen(renew(refresh_token), renew(refresh_token)),
          "signed out": () => Effect.provideService(Tokens.signOut(one.jane), DocumentStore.DocumentStore, one.store),
          deleted: () => users.deleteById(one.jane)
        }
        for (const [how, end] of Object.entries(ends)) {
          const tokens = yield* signIn({})
          assert.deepStrictEqual(yield* statuses(tokens["access_token"]), [200, 200], how)
          yield* end(tokens)
          yield* TestClock.adjust("30 seconds")
          assert.deepStrictEqual(yield* statuses(tokens["access_token"]), [401, 401], how)
          assert.strictEqual((yield* renew(tokens["refresh_token"])).status, 400, how)
        }
        assert.strictEqual((yield* one.json("/token", grant)).body["error"], "invalid_grant")
        const published = yield* Effect.promise(() => fetch(`${one.baseUrl}/.well-known/jwks.json`))
        assert.strictEqual(published.status, 200)
      }))

    it.effect("and API keys count no more once their user is blocked or deleted, on all servers of a store", () =>
      Effect.gen(function*() {
        const services = Layer.mergeAll(
          Layer.succeedContext(yield* Layer.build(shopTokens("ES256"))),
          accounts,
          ApiKeys.layer
        )
        const one = yield* begun(yield* secured.test({ store: Layer.merge(Layer.fresh(store), services) }))
        const other = yield* secured.test({
          store: Layer.merge(Layer.succeed(DocumentStore.DocumentStore, { ...one.store }), services)
        })
        const key = yield* Effect.flatMap(ApiKeys.ApiKeys, ({ generate }) => generate({ owner: one.jane })).pipe(
          Effect.provide(ApiKeys.layer),
          Effect.provideService(DocumentStore.DocumentStore, one.store)
        )
        const { access_token, refresh_token } = (yield* one.json("/token", grant)).body
        const statuses = Effect.forEach(
          [one.baseUrl, other.baseUrl],
          (baseUrl) =>
            Effect.forEach(
              [{ "x-api-key": Redacted.value(key.key) }, bearer(access_token)],
              (headers) =>
                Effect.map(sendTo(baseUrl, "GET", "/api/v1/whoami", undefined, headers), ({ status }) => status)
            )
        )
        const within = [[200, 200], [200, 200]]
        const ended = [[401, 401], [401, 401]]
        assert.deepStrictEqual(yield* statuses, within)
        yield* one.repositories.users.patch(one.jane, { blocked: true })
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* statuses, ended)
        yield* one.repositories.users.patch(one.jane, { blocked: false })
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* statuses, within)
        yield* one.repositories.users.deleteById(one.jane)
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* statuses, ended)
        assert.strictEqual((yield* one.json("/token", { grant_type: "refresh_token", refresh_token })).status, 400)
      }))

    it.effect("are in the OpenAPI document, with both kinds of bodies", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* shop(store)
        const { paths } = yield* Effect.promise(async () =>
          await (await fetch(`${baseUrl}/openapi.json`)).json() as {
            readonly paths: { readonly [path: string]: { readonly post: Operation } }
          }
        )
        const { post } = paths["/api/v1/token"]!
        const content = post.requestBody.content
        assert.deepStrictEqual(Object.keys(content), ["application/json", "application/x-www-form-urlencoded"])
        assert.deepStrictEqual(
          content["application/json"]?.schema,
          content["application/x-www-form-urlencoded"]?.schema
        )
        assert.includeMembers(Object.keys(post.responses), ["200", "400", "429", "503"])
      }))
  })
})

interface Operation {
  readonly requestBody: { readonly content: { readonly [type: string]: { readonly schema: object } } }
  readonly responses: object
}
