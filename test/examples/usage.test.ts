/** What users of the package write, from a model to a test of their service, in the order in which they meet it. */
import { NodeRuntime } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Converter,
  type DocumentStore,
  EmbeddedStore,
  Generator,
  Index,
  KernelApi,
  KernelClient,
  KernelEngine,
  Model,
  MongoStore,
  Repository,
  Resource,
  Service,
  ServiceError,
  Validator
} from "appkernel"
import { DateTime, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { storeMatrix } from "../support/storeMatrix.ts"

// A model.

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty)
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  email: Schema.String.pipe(Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  loginCount: Schema.Int.pipe(Model.withDefault(() => 0)),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.audited,
  ...Model.versioned
}) {
  get firstName() {
    return this.name.split(" ")[0]
  }
}

const jane = { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }

// A repository.

const program = Effect.gen(function*() {
  const users = yield* Repository.for(User)
  const saved = yield* users.save(
    yield* Model.finalise(User, { ...jane, address: { street: "Kramgasse", city: "Bern" } })
  )
  const page = yield* users.find(
    ($) => $.name.contains("jan").and($.address.city.equals("Bern")),
    { sort: "name", page: 1, pageSize: 20 }
  )
  yield* users.updateOne(
    ($) => $.id.equals(saved.id),
    ($) => [$.loginCount.increment(1), $.roles.append("admin")]
  )
  const missing = yield* users.findById("U-none").pipe(
    Effect.catchTag("DocumentNotFound", (error) => Effect.succeed(error.message))
  )
  const cutoff = DateTime.add(yield* DateTime.now, { hours: 1 })
  const archived: Array<string | undefined> = []
  const archive = ({ firstName }: User) => Effect.sync(() => void archived.push(firstName))
  yield* users.stream(($) => $.created.before(cutoff)).pipe(Stream.runForEach(archive))
  return { archived, page, missing, user: yield* users.findById(saved.id) }
})

/** The program as a process. */
export const main = (): void =>
  program.pipe(Effect.provide(Repository.layer(User).pipe(Layer.provide(MongoStore.layer))), NodeRuntime.runMain)

const onStore = <E>(name: string, layer: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  describe(`a repository / ${name}`, () => {
    it.effect("stores what a program reads and changes", () =>
      Effect.gen(function*() {
        const { archived, missing, page, user } = yield* program
        assert.deepStrictEqual(page.map(({ firstName }) => firstName), ["Jane"])
        assert.strictEqual(missing, "User U-none does not exist")
        assert.deepStrictEqual([user.loginCount, user.roles, user.version], [1, ["user", "admin"], 2])
        assert.deepStrictEqual(archived, ["Jane"])
      }).pipe(Effect.provide(Repository.layer(User).pipe(Layer.provide(layer)))))
  })

storeMatrix(onStore)

// A service.

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", { status: 403 }) {}

const Users = Resource.make(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("change_password", {
    payload: { current_password: Schema.Redacted(Schema.String), new_password: Schema.Redacted(Schema.String) },
    success: Schema.String,
    error: WrongPassword
  }, (user, { payload }) =>
    Effect.gen(function*() {
      const isRight = yield* Converter.verifyContent(Redacted.value(payload.current_password), user.password)
      if (!isRight) return yield* new WrongPassword()
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: Redacted.value(payload.new_password), version: user.version })
      return "Password changed"
    }))
  .beforePost((user) => Effect.logInfo(`creating ${user.name}`))

class Payment extends Model.Class<Payment>()("Payment", {
  id: Model.id({ prefix: "P" }),
  amount: Schema.Int.pipe(Validator.min(1))
}) {}

class Receipt extends Model.Class<Receipt>()("Receipt", {
  payment: Schema.String,
  paid: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

const Payments = Service.make("PaymentService")
  .operation("pay", {
    method: "POST",
    path: "/pay",
    payload: Payment,
    success: Receipt,
    summary: "Pay an order",
    tags: ["payments"]
  }, ({ payload }) =>
    Effect.gen(function*() {
      const payments = yield* Repository.for(Payment)
      const { id } = yield* payments.insert(payload)
      return yield* Model.finalise(Receipt, { payment: id })
    }))

const engine = KernelEngine.make("shop")
  .register(Users, { urlBase: "/api/v1", tags: ["users"] })
  .register(Payments, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "Shop", version: "1.0.0" })

/** The service as a process. */
export const serve = (): void =>
  engine.layer.pipe(
    Layer.provide(Repository.layer(Payment)),
    Layer.provide(MongoStore.layer),
    engine.launch,
    NodeRuntime.runMain
  )

const store = Layer.provideMerge(Repository.layer(Payment), EmbeddedStore.layerMemory)

// A test of it.

describe("a service", () => {
  it.effect("creates a user", () =>
    Effect.gen(function*() {
      const { client, repositories } = yield* engine.test({ store })
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 9, 30))
      const { result: id } = yield* client.users.create({ payload: jane })
      yield* TestClock.adjust("1 hour")
      yield* client.users.patch({ params: { id }, payload: { loginCount: 1 } })
      const user = yield* repositories.users.findById(id)
      assert.strictEqual(DateTime.formatIso(user.created), "2026-01-31T09:30:00.000Z")
      assert.deepStrictEqual(user.updated?.pipe(DateTime.formatIso), "2026-01-31T10:30:00.000Z")
    }))

  it.effect("takes payments", () =>
    Effect.gen(function*() {
      const { baseUrl, client, store: documents } = yield* engine.test({ store })
      const { payment } = yield* client.payments.pay({ payload: { amount: 12 } })
      assert.strictEqual((yield* documents.findById("Payment", payment))?.["amount"], 12)
      const { status } = yield* Effect.promise(() => fetch(`${baseUrl}/openapi.json`))
      assert.strictEqual(status, 200)
    }))

  it.effect("answers its callers, whose errors are classes", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test({ store })
      const client = yield* KernelClient.make(engine, { baseUrl })
      const { result: id } = yield* client.users.create({ payload: jane })
      const user = yield* client.users.get({ params: { id } })
      assert.deepStrictEqual([user.name, user.roles], ["Jane Doe", ["user"]])
      assert.notProperty(user, "password")
      const change = (current: string) =>
        client.users.change_password({
          params: { id },
          payload: { current_password: Redacted.make(current), new_password: Redacted.make("battery staple") }
        }).pipe(
          Effect.map(({ result }) => result),
          Effect.catchTag("WrongPassword", ({ message }) => Effect.succeed(message))
        )
      assert.strictEqual(yield* change("wrong"), "Wrong password")
      assert.strictEqual(yield* change(jane.password), "Password changed")
    }).pipe(Effect.provide(FetchHttpClient.layer)))
})

// A description apart from its implementation, as a caller shares it.

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N", brand: "NoteId" }),
  text: Schema.String.pipe(Validator.notEmpty)
}) {}

class TooLong extends ServiceError<TooLong>()("TooLong", { status: 422 }) {}

const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"], errors: { POST: TooLong } })
  .action("append", { payload: { text: Schema.String }, success: Note, error: TooLong })

const api = KernelApi.make("notes").register(NotesApi, { urlBase: "/api/v1" })

const limited = (note: Note) => note.text.length > 20 ? Effect.fail(new TooLong()) : Effect.succeed(note)

const Notes = Resource.implement(NotesApi, {
  append: (note, { payload }) =>
    Effect.gen(function*() {
      const notes = yield* Repository.for(Note)
      const appended = yield* limited(new Note({ ...note, text: note.text + payload.text }))
      return yield* notes.replace(appended)
    })
}).beforePost((note) => limited(note))

describe("a description", () => {
  it.effect("is what callers of its implementation need", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* KernelEngine.fromApi(api, [Notes]).test()
      const client = yield* KernelClient.make(api, { baseUrl })
      const { result: id } = yield* client.notes.create({ payload: { text: "buy milk" } })
      assert.strictEqual(
        (yield* client.notes.append({ params: { id }, payload: { text: ", eggs" } })).text,
        "buy milk, eggs"
      )
      assert.strictEqual((yield* repositories.notes.findById(id)).text, "buy milk, eggs")
      const tooLong = client.notes.append({ params: { id }, payload: { text: " and all that is left of the bread" } })
      assert.deepStrictEqual(yield* Effect.flip(tooLong), new TooLong())
      const rejected = client.notes.create({ payload: { text: "all that is left of the bread" } })
      assert.deepStrictEqual(yield* Effect.flip(rejected), new TooLong())
    }).pipe(Effect.provide(FetchHttpClient.layer)))
})
