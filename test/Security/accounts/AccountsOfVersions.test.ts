/** Accounts that are documents of a model with `versions`, whatever form they are stored in. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Redacted, Schema, SchemaTransformation, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Accounts,
  ApiKeys,
  Authenticated,
  Converter,
  CurrentUser,
  DocumentStore,
  EmbeddedStore,
  Index,
  Job,
  Jwt,
  KernelEngine,
  Model,
  Repository,
  Service,
  Tokens,
  Upgrade
} from "../../../src/index.ts"
import { bearer, sendTo } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const login = Schema.String.pipe(Schema.decode(SchemaTransformation.toLowerCase()), Model.indexed(Index.unique))
const secret = (rounds: number) =>
  Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds })), Model.omitted)

class Earlier extends Model.Class<Earlier>()("Person", {
  id: Model.id(),
  mail: login,
  pass: secret(1_000),
  groups: Schema.String,
  state: Schema.String,
  ...Model.versioned
}) {}

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  email: login,
  password: secret(3_000),
  roles: Schema.Array(Schema.String),
  blocked: Schema.Boolean,
  ...Model.versioned,
  ...Model.softDeleted
}, {
  versions: [
    Model.was.renamed("mail", "email"),
    Model.was.renamed("pass", "password"),
    Model.was.retyped("groups", Schema.String, {
      up: (groups) => groups.split(" "),
      down: (groups: ReadonlyArray<string>) => groups.join(" ")
    }),
    Model.was.renamed("groups", "roles"),
    Model.was.replaced(["blocked"], { state: Schema.String }, {
      up: ({ state }) => ({ blocked: state === "locked" }),
      down: ({ blocked }) => ({ state: blocked ? "locked" : "open" })
    })
  ]
}) {}

const accounts = Accounts.fromModel(Person, { login: "email", secret: "password", blocked: "blocked" })

/** How far the upgrade of the documents has come. */
const stages = ["written in an earlier form", "written in the newest form", "upgraded"] as const

type Stage = (typeof stages)[number]

/** People of the time before, and one of now. */
const people = Effect.fnUntraced(function*(stage: Stage) {
  const earlier = yield* Repository.make(Earlier)
  for (const id of ["old", "locked"]) {
    const state = id === "locked" ? "locked" : "open"
    yield* earlier.insert(
      yield* Model.finalise(Earlier, {
        id,
        mail: `${id}@example.com`,
        pass: "correct horse",
        groups: "buyer seller",
        state
      })
    )
  }
  if (stage !== "written in an earlier form") {
    // No other process has to learn of it.
    const clock = yield* Clock.Clock
    const waitless: Clock.Clock = { ...clock, sleep: () => Effect.void }
    yield* Effect.provideService(Upgrade.finish(Person), Clock.Clock, waitless)
  }
  const all = yield* Repository.make(Person)
  const input = { id: "new", email: "new@example.com", password: "correct horse", roles: ["admin"], blocked: false }
  yield* all.insert(yield* Model.finalise(Person, input))
  if (stage === "upgraded") yield* Stream.runDrain(Upgrade.upgrade(Person))
  return { all, earlier }
})

const signIn = Effect.fnUntraced(function*(login: string, password = "correct horse") {
  const { verify } = yield* Accounts.Passwords
  return yield* verify(login, Redacted.make(password)).pipe(
    Effect.map(({ roles, subject }) => [subject, ...roles].join(" ")),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed<string>(reason))
  )
})

const rolesOf = Effect.fnUntraced(function*(subject: string) {
  const { findBySubject } = yield* Accounts.Accounts
  return Option.match(yield* findBySubject(subject), { onNone: () => "none", onSome: ({ roles }) => roles.join(" ") })
})

storeMatrix((name, store) => {
  for (const stage of stages) {
    const layer = Layer.fresh(Layer.merge(accounts, store))
    describe(`Accounts of a model with versions, ${stage} / ${name}`, () => {
      it.effect("are found by the login and the subject, and have their passwords and roles", () =>
        Effect.gen(function*() {
          yield* people(stage)
          assert.deepStrictEqual(
            yield* Effect.all([
              signIn("old@example.com"),
              signIn("OLD@Example.com"),
              signIn("old@example.com", "wrong"),
              signIn("new@example.com"),
              signIn("none@example.com"),
              rolesOf("old"),
              rolesOf("new"),
              rolesOf("none")
            ]),
            ["old buyer seller", "old buyer seller", "secret", "new admin", "account", "buyer seller", "admin", "none"]
          )
        }).pipe(Effect.provide(layer)))

      it.effect("end while they are blocked or deleted", () =>
        Effect.gen(function*() {
          const { all } = yield* people(stage)
          const seen = (id: string) => Effect.all([signIn(`${id}@example.com`), rolesOf(id)])
          assert.deepStrictEqual(yield* seen("locked"), ["account", "none"])
          yield* all.patch("locked", { blocked: false })
          assert.deepStrictEqual(yield* seen("locked"), ["locked buyer seller", "buyer seller"])
          yield* Effect.forEach(["old", "new"], (id) => all.patch(id, { blocked: true }))
          assert.deepStrictEqual(yield* Effect.forEach(["old", "new"], seen), [["account", "none"], [
            "account",
            "none"
          ]])
          yield* Effect.forEach(["old", "new"], (id) => all.patch(id, { blocked: false }))
          yield* all.deleteById("old")
          assert.deepStrictEqual(yield* Effect.forEach(["old", "new"], seen), [["account", "none"], [
            "new admin",
            "admin"
          ]])
        }).pipe(Effect.provide(layer)))

      it.effect("get a stronger hash of the same password, and keep what else they have", () =>
        Effect.gen(function*() {
          const { all, earlier } = yield* people(stage)
          const before = yield* all.findById("old")
          assert.match(before.password, /^\$pbkdf2-sha256\$1000\$/u)
          assert.strictEqual(yield* signIn("old@example.com"), "old buyer seller")
          const after = yield* all.findById("old")
          assert.match(after.password, /^\$pbkdf2-sha256\$3000\$/u)
          assert.deepStrictEqual({ ...after }, { ...before, password: after.password })
          assert.strictEqual(yield* signIn("old@example.com"), "old buyer seller")
          if (stage === "written in an earlier form") {
            assert.strictEqual((yield* earlier.findById("old")).pass, after.password)
          }
          // The password has changed since.
          const { rehash } = yield* Accounts.Accounts
          const account = { subject: "old", roles: [], secret: Redacted.make(before.password) }
          yield* rehash!(account, Redacted.make(before.password))
          assert.strictEqual((yield* all.findById("old")).password, after.password)
        }).pipe(Effect.provide(layer)))
    })
  }

  it.effect(`An account that an earlier process blocks ends / ${name}`, () =>
    Effect.gen(function*() {
      const { earlier } = yield* people("written in an earlier form")
      const seen = Effect.forEach(["old", "new"], (id) => signIn(`${id}@example.com`))
      assert.deepStrictEqual(yield* seen, ["old buyer seller", "new admin"])
      yield* Effect.forEach(["old", "new"], (id) => earlier.patch(id, { state: "locked" }))
      assert.deepStrictEqual(yield* seen, ["account", "account"])
    }).pipe(Effect.provide(Layer.fresh(Layer.merge(accounts, store)))))

  it.effect(`A document that can't be read keeps nobody else from signing in / ${name}`, () =>
    Effect.gen(function*() {
      const documents = yield* DocumentStore.DocumentStore
      yield* documents.insertOne("Person", { _id: "0", mail: "damaged@example.com", groups: 7 })
      yield* people("written in an earlier form")
      assert.deepStrictEqual(
        yield* Effect.forEach(["old", "new", "damaged", "none"], (id) => signIn(`${id}@example.com`)),
        ["old buyer seller", "new admin", "account", "account"]
      )
    }).pipe(Effect.provide(Layer.fresh(Layer.merge(accounts, store)))))
})

const WhoAmI = Service.make("WhoAmIService").operation(
  "whoami",
  { path: "/whoami", success: Schema.String, require: Authenticated },
  () => Effect.map(CurrentUser, ({ subject }) => subject)
)

const Noting = Job.make("noting", { payload: {}, runAs: "subject", retry: { times: 0 } })

describe("Who is blocked in a form before the newest one", () => {
  it.effect("renews no token, calls with no token and no API key, and causes no job", () =>
    Effect.gen(function*() {
      const done: Array<string> = []
      const noting = Noting.implement(() =>
        Effect.map(CurrentUser, ({ roles, subject }) => void done.push([subject, ...roles].join(" ")))
      )
      const engine = KernelEngine.make("people")
        .register(WhoAmI, { urlBase: "/api/v1" })
        .register(Tokens.service, { urlBase: "/api/v1" })
        .register(noting)
        .enableSecurity()
      // An earlier process has run on this store.
      const before = Layer.effectDiscard(people("written in an earlier form"))
      const { baseUrl, idle, store } = yield* engine.test({
        store: Layer.mergeAll(Jwt.layer, ApiKeys.layer, accounts, before).pipe(
          Layer.provideMerge(EmbeddedStore.layerMemory)
        )
      })
      const inStore = Effect.provideService(DocumentStore.DocumentStore, store)
      const earlier = yield* inStore(Repository.make(Earlier))
      const { generate } = yield* Effect.provide(ApiKeys.ApiKeys, ApiKeys.layer)
      const { key } = yield* inStore(generate({ owner: "old" }))
      const send = (method: string, path: string, body?: unknown, headers = {}) =>
        sendTo(`${baseUrl}/api/v1`, method, path, body, headers)
      const { body } = yield* send("POST", "/token", {
        grant_type: "password",
        username: "old@example.com",
        password: "correct horse"
      })
      let refreshToken = body.refresh_token
      const calls = Effect.gen(function*() {
        const renewed = yield* send("POST", "/token", { grant_type: "refresh_token", refresh_token: refreshToken })
        refreshToken = renewed.body.refresh_token
        const called = yield* send("GET", "/whoami", undefined, { "x-api-key": Redacted.value(key) })
        const asked = yield* send("GET", "/whoami", undefined, bearer(body.access_token))
        yield* inStore(Noting.enqueue({})).pipe(
          Effect.provideService(CurrentUser, { subject: "old", roles: ["buyer"], claims: {} })
        )
        yield* idle
        return [renewed.status, asked.status, called.status, done.splice(0).join()]
      })
      assert.deepStrictEqual(yield* calls, [200, 200, 200, "old buyer"])
      yield* earlier.patch("old", { state: "locked" })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* calls, [400, 401, 401, ""])
    }))
})
