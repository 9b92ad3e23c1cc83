import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  ConfigProvider,
  Context,
  DateTime,
  type Duration,
  Effect,
  Exit,
  Layer,
  Option,
  Redacted,
  Schema,
  Scope
} from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import {
  Accounts,
  Anonymous,
  Converter,
  CurrentUser,
  Index,
  Jwt,
  KernelConfig,
  KernelEngine,
  KernelServer,
  Model,
  Repository,
  Resource,
  Service,
  Tokens
} from "../../../src/index.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  text: Schema.String,
  ...Model.audited
}) {}

/** A model that no registration exposes. */
class Entry extends Model.Class<Entry>()("Entry", { id: Model.id(), line: Schema.String }) {}

class Kept extends Model.Class<Kept>()("Kept", { id: Model.id() }, { logged: { keep: "30 days" } }) {}

class Passing extends Model.Class<Passing>()("Passing", {
  id: Model.id(),
  at: Schema.DateTimeUtcFromDate.pipe(Model.indexed(Index.expireAfter("90 days")))
}) {}

class Prefix extends Context.Service<Prefix, { readonly prefix: string }>()("test/Prefix") {}

const Notes = Resource.make(Note, { methods: ["GET", "POST", "PATCH"] })
  .beforePost((note) =>
    Effect.gen(function*() {
      const { prefix } = yield* Prefix
      const entries = yield* Repository.for(Entry)
      yield* entries.insert(new Entry({ id: note.text, line: `${prefix} ${note.text}` }))
    })
  )

const Clocks = Service.make("ClockService")
  .operation("now", { success: Schema.String }, () => Effect.map(DateTime.now, DateTime.formatIso))

const engine = KernelEngine.make("tested").register(Notes, { urlBase: "/api/v1" }).register(Clocks)

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)
}) {}

const signedIn = KernelEngine.make("signed_in").register(Resource.make(Person).require(Anonymous)).register(
  Tokens.service
)
  .enableSecurity()

const accounts = Accounts.fromModel(Person, { login: "login", secret: "password" })

const prefix = Layer.succeed(Prefix, { prefix: "new:" })

const entries = Repository.layer(Entry)

/** What a test of a service gets, whichever store it is given. */
routeStores((name, layer) =>
  describe(`engine.test / ${name}`, () => {
    const test = Effect.provide(engine.test({ store: Layer.provideMerge(entries, layer) }), prefix)

    it.effect("its client, its repositories and its store share their documents", () =>
      Effect.gen(function*() {
        const { client, repositories, store } = yield* test
        assert.deepStrictEqual(Object.keys(repositories), ["notes"])
        const { result: id } = yield* client.notes.create({ payload: { text: "a" } })
        assert.strictEqual((yield* repositories.notes.findById(id)).text, "a")
        yield* repositories.notes.patch(id, { text: "b" })
        assert.strictEqual((yield* client.notes.get({ params: { id } })).text, "b")
        assert.strictEqual((yield* store.findById("Note", id))?.["text"], "b")
        assert.strictEqual((yield* store.findById("Entry", "a"))?.["line"], "new: a")
      }))

    it.effect("the clock of the test is that of the service", () =>
      Effect.gen(function*() {
        const { client } = yield* test
        yield* TestClock.setTime(Date.UTC(2026, 0, 31, 9, 30))
        assert.strictEqual((yield* client.clocks.now()).result, "2026-01-31T09:30:00.000Z")
        const { result: id } = yield* client.notes.create({ payload: { text: "a" } })
        yield* TestClock.adjust("1 hour")
        yield* client.notes.patch({ params: { id }, payload: { text: "b" } })
        const { inserted, updated } = yield* client.notes.get({ params: { id } })
        assert.deepStrictEqual(
          [inserted, updated].map((date) => date === undefined ? date : DateTime.formatIso(date)),
          ["2026-01-31T09:30:00.000Z", "2026-01-31T10:30:00.000Z"]
        )
      }))

    it.effect("the clock of the test passes a year in a few steps, whatever the service does in the background", () =>
      Effect.gen(function*() {
        const logged = KernelEngine.make("passing").register(Kept, { methods: ["GET", "POST"] }).register(Passing)
        const clock = yield* Clock.Clock
        let sleeps = 0
        const counted: Clock.Clock = Object.assign(Object.create(clock), {
          sleep: (duration: Duration.Duration) => {
            sleeps += 1
            return clock.sleep(duration)
          }
        })
        yield* Effect.gen(function*() {
          const { store } = yield* logged.test({ store: layer })
          for (const round of ["without documents", "with some", "with none again"]) {
            yield* TestClock.adjust("1 minute")
            sleeps = 0
            yield* TestClock.adjust("365 days")
            assert.isBelow(sleeps, 20, round)
            if (round === "with none again") break
            const now = DateTime.toDate(yield* DateTime.now)
            const ids = [1, 2, 3].map((n) => `${round} ${n}`)
            yield* store.insertMany("Kept", ids.map((_id) => ({ _id })))
            yield* store.insertMany("Passing", ids.map((_id) => ({ _id, at: now })))
          }
          // A server goes by its own clock, and a folder takes a moment to write.
          if (name !== "mongodb") {
            yield* Effect.repeat(store.count("Passing", {}), { until: (left) => left === 0 })
          }
        }).pipe(Effect.provideService(Clock.Clock, counted))
      }))

    it.effect("what the context of the test provides holds for the service", () =>
      Effect.gen(function*() {
        const limits = yield* KernelConfig.Limits
        const { client, repositories } = yield* test.pipe(
          Effect.provideService(CurrentUser, { subject: "U1", roles: [], claims: {} }),
          Effect.provideService(KernelConfig.Limits, { ...limits, maxPageSize: 2 })
        )
        const { result: id } = yield* client.notes.create({ payload: { text: "a" } })
        assert.strictEqual((yield* repositories.notes.findById(id)).created_by, "U1")
        const tooMany = yield* Effect.flip(client.notes.list({ query: { page_size: 3 } }))
        assert.strictEqual(tooMany._tag, "BadRequest")
      }))

    it.effect("a ConfigProvider configures the service, limits and lifetimes of tokens included", () =>
      Effect.gen(function*() {
        const providers = [
          ConfigProvider.fromUnknown({
            appkernel: {
              query: { max_page_size: 2 },
              security: { access_token_lifetime: "7 minutes", refresh_token_lifetime: "1 hour", revocation_delay: 0 }
            }
          }),
          ConfigProvider.fromEnv({
            env: {
              APPKERNEL_QUERY_MAX_PAGE_SIZE: "2",
              APPKERNEL_SECURITY_ACCESS_TOKEN_LIFETIME: "7 minutes",
              APPKERNEL_SECURITY_REFRESH_TOKEN_LIFETIME: "3600",
              APPKERNEL_SECURITY_REVOCATION_DELAY: "0 seconds"
            }
          })
        ]
        for (const provider of providers) {
          const { anonymous, repositories } = yield* Effect.provideService(
            signedIn.test({ store: Layer.mergeAll(layer, Jwt.layer, accounts) }),
            ConfigProvider.ConfigProvider,
            provider
          )
          const password = Redacted.make("correct horse")
          const login = randomUUID()
          yield* repositories.persons.insert(
            yield* Model.finalise(Person, { login, password: Redacted.value(password) })
          )
          const { expires_in, refresh_token } = yield* anonymous.tokens.token({
            payload: { grant_type: "password", username: login, password }
          })
          assert.strictEqual(expires_in, 420)
          yield* TestClock.adjust("61 minutes")
          const tooLate = yield* Effect.flip(
            anonymous.tokens.token({ payload: { grant_type: "refresh_token", refresh_token } })
          )
          assert.strictEqual(tooLate._tag, "invalid_grant")
          const tooMany = yield* Effect.flip(anonymous.persons.list({ query: { page_size: 3 } }))
          assert.strictEqual(tooMany._tag, "BadRequest")
        }
      }))

    it.effect("concurrent ones have a server and a store each, also in another service's layer", () =>
      Effect.gen(function*() {
        const service = Layer.provideMerge(engine.layerServe, [
          Layer.provideMerge(entries, layer),
          KernelServer.layerWith({ address: "127.0.0.1", port: 0 }),
          prefix
        ])
        const within = Layer.effect(
          Prefix,
          Effect.gen(function*() {
            const tests = yield* Effect.all(Array.from({ length: 5 }, () => engine.test()), { concurrency: 5 }).pipe(
              Effect.provide([prefix, Layer.provide(entries, layer)])
            )
            assert.strictEqual(new Set(tests.map(({ baseUrl }) => baseUrl)).size, 5)
            assert.strictEqual(new Set(tests.map(({ store }) => store)).size, 5)
            yield* Effect.forEach(tests, ({ client }, i) => client.notes.create({ payload: { text: `${i}` } }), {
              concurrency: 5
            })
            const texts = yield* Effect.forEach(tests, ({ repositories }) => repositories.notes.find())
            assert.deepStrictEqual(texts.map((notes) => notes.map(({ text }) => text)), [["0"], ["1"], ["2"], ["3"], [
              "4"
            ]])
            assert.strictEqual(yield* Effect.flatMap(Repository.for(Note), (notes) => notes.count()), 0)
            return { prefix: "" }
          })
        )
        yield* Layer.build(Layer.provide(within, service))
      }))

    it.effect("its server ends with the scope", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { baseUrl, client } = yield* Scope.provide(test, scope)
        assert.deepStrictEqual((yield* client.notes.list())._items, [])
        yield* Scope.close(scope, Exit.void)
        const answer = yield* Effect.option(Effect.tryPromise(() => fetch(`${baseUrl}/api/v1/notes`)))
        assert.isTrue(Option.isNone(answer))
      }))
  })
)
