// @effect-diagnostics missingEffectError:off
import {
  DocumentStore,
  EmbeddedStore,
  type HttpError,
  KernelApi,
  KernelClient,
  KernelEngine,
  type KernelServer,
  type Migration,
  Model,
  Raw,
  Repository,
  type RepositoryError,
  Resource,
  Service,
  ServiceError,
  Tokens,
  type Translations
} from "appkernel"
import {
  Config,
  Context,
  type DateTime,
  Effect,
  Layer,
  type Option,
  type Redacted,
  Schema,
  type Scope,
  Stream
} from "effect"
import { type HttpClientError, type HttpServer, HttpServerResponse } from "effect/http"
import type { HttpApi } from "effect/http-api"
import { describe, expectTypeOf, it } from "vitest"

class Address extends Model.Class<Address>()("Address", { city: Schema.String }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String,
  password: Schema.String.pipe(Model.omitted),
  address: Address.pipe(Model.optional),
  created: Model.DateTime
}) {}

class Category extends Model.Class<Category>()("Category", { id: Model.id(), name: Schema.String }) {}

const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Category)

const makeClient = KernelClient.make(engine)
type Client = Effect.Success<typeof makeClient>
declare const client: Client

type Always =
  | HttpError.NotAcceptable
  | HttpError.NotImplemented
  | HttpError.ServiceUnavailable
  | HttpError.InternalServerError
  | HttpClientError.HttpClientError
  | Schema.SchemaError

class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.id({ brand: "CustomerId" }),
  name: Schema.String
}) {}

class Voucher extends Model.Class<Voucher>()("Voucher", { id: Model.id({ brand: "VoucherId" }) }) {}

declare const customer: Customer
declare const voucher: Voucher

describe("a branded identifier", () => {
  const Customers = Resource.make(Customer, { methods: ["GET", "POST", "DELETE"] })
    .action("greet", { success: Schema.String, params: { voucher: Voucher.wire.fields.id }, path: "greet/:voucher" }, (
      customer,
      { params }
    ) => {
      expectTypeOf(customer.id).toEqualTypeOf<Customer["id"]>()
      expectTypeOf(params.voucher).toEqualTypeOf<Voucher["id"]>()
      return Effect.succeed(customer.name)
    })
    .beforeDelete((customer, { id }) => {
      expectTypeOf(customer.id).toEqualTypeOf<Customer["id"]>()
      expectTypeOf(id).toEqualTypeOf<Option.Option<Customer["id"]>>()
      return Effect.void
    })
  const makeClient = KernelClient.make(KernelEngine.make("shop").register(Customers))
  const { customers } = null! as Effect.Success<typeof makeClient>

  it("is what a client takes and gets", () => {
    const one = customers.get({ params: { id: customer.id } })
    expectTypeOf<Effect.Success<typeof one>["id"]>().toEqualTypeOf<Customer["id"]>()
    const created = customers.create({ payload: { name: "Jane" } })
    expectTypeOf<Effect.Success<typeof created>["result"]>().toEqualTypeOf<Customer["id"]>()
    void customers.greet({ params: { id: customer.id, voucher: voucher.id } })
    // @ts-expect-error a voucher is no customer
    void customers.get({ params: { id: voucher.id } })
    // @ts-expect-error a voucher is no customer
    void customers.delete({ params: { id: voucher.id } })
    // @ts-expect-error a voucher is no customer
    void customers.greet({ params: { id: voucher.id, voucher: voucher.id } })
    // @ts-expect-error any text is no customer
    void customers.get({ params: { id: "C1" } })
  })
})

describe("the rows of a table", () => {
  it("are documents of the list, or have the selected fields, and the query has no parameters of a page", () => {
    const rows = KernelClient.rows(engine, "users", { name: "~a", sort_by: "-name" })
    expectTypeOf<Stream.Success<typeof rows>["name"]>().toEqualTypeOf<string>()
    expectTypeOf<Stream.Error<typeof rows>>().toExtend<Always | HttpError.HttpError>()
    const some = KernelClient.rows(engine, "users", { fields: "name" })
    expectTypeOf<Stream.Success<typeof some>["name"]>().toEqualTypeOf<string | undefined>()
    // @ts-expect-error a table has no pages
    void KernelClient.rows(engine, "users", { page: 1 })
    // @ts-expect-error there is no such list
    void KernelClient.rows(engine, "none")
  })
})

describe("writes of many documents", () => {
  it("are there by registration, with filters or lists of items with identifiers", () => {
    const { client } = {} as Effect.Success<ReturnType<typeof many.test>>
    const many = KernelEngine.make("many").register(User, {
      methods: ["GET", "PUT", "PATCH", "DELETE"],
      many: ["PATCH"]
    })
    expectTypeOf<Extract<keyof typeof client.users, `${string}_many`>>().toEqualTypeOf<"patch_many">()
    const written = client.users.patch_many({ query: { name: "~a", dry_run: "true" }, payload: { name: "b" } })
    expectTypeOf<Exclude<Effect.Success<typeof written>, void>["count"]>().toEqualTypeOf<number>()
    void client.users.patch_many({ query: {}, payload: [{ id: "U1", name: "b" }] })
    // @ts-expect-error an item has an identifier
    void client.users.patch_many({ query: {}, payload: [{ name: "b" }] })
    // @ts-expect-error there are no pages
    void client.users.patch_many({ query: { page: 1 }, payload: {} })
    // @ts-expect-error only these methods are of many documents
    KernelEngine.make("x").register(User, { methods: ["GET", "POST"], many: ["POST"] })
  })
})

describe("KernelEngine", () => {
  it("has the registered resources and methods, and no others", () => {
    expectTypeOf<keyof Client>().toEqualTypeOf<"users" | "categories" | "changes">()
    expectTypeOf<keyof Client["users"]>().toEqualTypeOf<
      "list" | "get" | "aggregate" | "changes" | "live" | "create" | "patch" | "delete" | "schema" | "meta"
    >()
    // @ts-expect-error a read-only resource has no create
    void client.categories.create
    const hidden = KernelEngine.make("x").register(User, { methods: [] }).test()
    type Hidden = Effect.Success<typeof hidden>
    expectTypeOf<keyof Hidden["client"]["users"]>().toBeNever()
    expectTypeOf<Hidden["repositories"]["users"]>().toEqualTypeOf<Repository.Repository<typeof User>>()
    // @ts-expect-error PUT is not registered
    void client.users.replace
    // @ts-expect-error a resource has the form of its model
    void engine.register(Resource.make(User), { form: 1 })
    // @ts-expect-error a resource has its own methods
    void engine.register(Resource.make(User), { methods: ["GET"] })
  })

  it("is a real HttpApi", () => {
    expectTypeOf(engine.api).toExtend<HttpApi.Constraint>()
    expectTypeOf(engine.api.identifier).toEqualTypeOf<"shop">()
  })

  it("shows what is on the wire, without omitted fields", () => {
    const get = client.users.get({ params: { id: "U1" } })
    type User = Effect.Success<typeof get>
    expectTypeOf<keyof User>().toEqualTypeOf<"_type" | "_links" | "id" | "name" | "address" | "created">()
    expectTypeOf<User["_type"]>().toEqualTypeOf<"User">()
    expectTypeOf<User["created"]>().toEqualTypeOf<DateTime.Utc>()
    expectTypeOf<NonNullable<User["address"]>>().toEqualTypeOf<{ readonly _type: "Address"; readonly city: string }>()
    const list = client.users.list({ query: { name: "Jane", page: 2, sort_order: "DESC" } })
    expectTypeOf<Effect.Success<typeof list>["_items"][number]>().toEqualTypeOf<User>()
    // @ts-expect-error an omitted field is no filter
    void client.users.list({ query: { password: "x" } })
  })

  it("gives what a call asks for", () => {
    const part = client.users.get({ params: { id: "U1" }, query: { fields: "name" } })
    expectTypeOf<Effect.Success<typeof part>["name"]>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Effect.Success<typeof part>["id"]>().toEqualTypeOf<string>()
    const parts = client.users.list({ query: { fields: "name", "address.city": ["~Bern", "!null"] } })
    expectTypeOf<Effect.Success<typeof parts>["_items"][number]>().toEqualTypeOf<Effect.Success<typeof part>>()
    const payload = { name: "Jane", password: "secret", created: null! }
    const one = client.users.create({ payload })
    expectTypeOf<Effect.Success<typeof one>["result"]>().toEqualTypeOf<string>()
    const many = client.users.create({ payload: [payload] })
    expectTypeOf<Effect.Success<typeof many>["result"]>().toEqualTypeOf<ReadonlyArray<string>>()
    const shown = client.users.patch({
      params: { id: "U1" },
      payload: { name: "Ann" },
      headers: { "if-match": "\"1\"", prefer: "return=representation" }
    })
    expectTypeOf<Effect.Success<typeof shown>["name"]>().toEqualTypeOf<string>()
    // @ts-expect-error there is no such field
    void client.users.list({ query: { nmae: "Jane" } })
    // @ts-expect-error there is no such field to look into
    void client.users.list({ query: { "adress.city": "Bern" } })
    // @ts-expect-error there is no such header
    void client.users.get({ params: { id: "U1" }, headers: { "if-unmodified-since": "" } })
  })

  it("knows of each call what it can fail with", () => {
    const get = client.users.get({ params: { id: "U1" } })
    expectTypeOf<Effect.Error<typeof get>>().toEqualTypeOf<
      HttpError.NotModified | HttpError.BadRequest | HttpError.NotFound | HttpError.PreconditionFailed | Always
    >()
    const list = client.users.list({ query: {} })
    expectTypeOf<Effect.Error<typeof list>>().toEqualTypeOf<HttpError.BadRequest | HttpError.Forbidden | Always>()
    const create = client.users.create({ payload: { name: "Jane", password: "secret", created: null! } })
    expectTypeOf<Effect.Error<typeof create>>().toEqualTypeOf<
      | HttpError.BadRequest
      | HttpError.Conflict
      | HttpError.PreconditionFailed
      | HttpError.PayloadTooLarge
      | HttpError.UnsupportedMediaType
      | Always
    >()
    const remove = client.users.delete({ params: { id: "U1" } })
    expectTypeOf<Effect.Error<typeof remove>>().toEqualTypeOf<
      HttpError.BadRequest | HttpError.NotFound | HttpError.Conflict | HttpError.PreconditionFailed | Always
    >()
  })

  it("knows of a call that it may be refused where there are limits", () => {
    const limited = KernelClient.make(KernelEngine.make("limited").register(User).enableRateLimits())
    type Limited = Effect.Success<typeof limited>
    expectTypeOf<Effect.Error<ReturnType<Limited["users"]["get"]>>>().toEqualTypeOf<
      Effect.Error<ReturnType<Client["users"]["get"]>> | HttpError.TooManyRequests
    >()
    expectTypeOf<Effect.Success<ReturnType<Limited["users"]["get"]>>>().toEqualTypeOf<
      Effect.Success<ReturnType<Client["users"]["get"]>>
    >()
    const api = KernelApi.make("limited").register(User).enableRateLimits()
    expectTypeOf(KernelClient.make(api)).toEqualTypeOf<typeof limited>()
  })

  it("knows of a call that credentials may be missing, wrong, or too often wrong, and that it may be denied", () => {
    const secured = KernelClient.make(KernelApi.make("secured").register(User).enableSecurity())
    type Secured = Effect.Success<typeof secured>
    expectTypeOf<Effect.Error<ReturnType<Secured["users"]["get"]>>>().toEqualTypeOf<
      | Effect.Error<ReturnType<Client["users"]["get"]>>
      | HttpError.Unauthorized
      | HttpError.Forbidden
      | HttpError.TooManyRequests
    >()
    const tokens = KernelClient.make(KernelEngine.make("tokens").register(Tokens.service))
    type SignIns = Effect.Success<typeof tokens>["tokens"]
    expectTypeOf<HttpError.TooManyRequests>().toExtend<Effect.Error<ReturnType<SignIns["token"]>>>()
    expectTypeOf<HttpError.TooManyRequests>().not.toExtend<Effect.Error<ReturnType<SignIns["revoke"]>>>()
  })

  it("needs a store, and fails to start with what it says", () => {
    expectTypeOf<Layer.Services<typeof engine.layer>>().toEqualTypeOf<DocumentStore.DocumentStore>()
    expectTypeOf<Layer.Error<typeof engine.layer>>().toEqualTypeOf<
      | KernelServer.ListenFailed
      | KernelEngine.CredentialsUnprovided
      | KernelEngine.RegistrationInvalid
      | Migration.MigrationFailed
      | Migration.MigrationsMissing
      | KernelEngine.RouteConflict
      | Translations.TranslationsInvalid
      | RepositoryError.StoreError
      | Config.ConfigError
    >()
    expectTypeOf<Layer.Services<typeof engine.layerServe>>().toEqualTypeOf<
      DocumentStore.DocumentStore | HttpServer.HttpServer
    >()
    expectTypeOf(engine.layer.pipe(Layer.provide(EmbeddedStore.layerMemory), engine.launch)).toEqualTypeOf<
      Effect.Effect<never, KernelEngine.StartFailed>
    >()
    // Handlers find the repositories of the registered models, and of no others.
    const handler = Effect.all([Repository.for(User), Repository.for(Category)])
    expectTypeOf(Effect.provide(handler, engine.layer)).toExtend<
      Effect.Effect<unknown, unknown, DocumentStore.DocumentStore>
    >()
  })

  it("refuses a method that HTTP resources don't have", () => {
    type Register = ReturnType<typeof KernelEngine.make<"x">>["register"]
    expectTypeOf<"FETCH">().not.toExtend<Resource.Method>()
    // @ts-expect-error there is no such method
    void ((register: Register) => register(User, { methods: ["FETCH"] }))
  })
})

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", { status: 403 }) {}

class Mailer extends Context.Service<Mailer, { readonly send: Effect.Effect<void> }>()("typetest/Mailer") {}

const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .action("change_password", {
    payload: { new_password: Schema.Redacted(Schema.String) },
    success: Schema.String,
    error: WrongPassword
  }, (user, { payload: { new_password } }) => {
    expectTypeOf(user).toEqualTypeOf<User>()
    expectTypeOf(new_password).toEqualTypeOf<Redacted.Redacted<string>>()
    return user.name === "" ? Effect.fail(new WrongPassword()) : Effect.succeed("changed")
  })
  .action("friends", { success: Schema.Array(User) }, (user) => Effect.succeed([user]))
  .beforePost(() => Effect.fail(new WrongPassword()), { error: [WrongPassword] })
  .afterPost(() => Effect.flatMap(Mailer, ({ send }) => send))

const Payments = Service.make("PaymentService")
  .operation("status", { path: "./{payment_id}/of/:order", query: { deep: Schema.Int } }, ({ params, query }) => {
    expectTypeOf(params).toEqualTypeOf<{ readonly payment_id: string; readonly order: string }>()
    expectTypeOf(query.deep).toEqualTypeOf<number>()
    return Effect.void
  })
  .operation("seat", {
    path: "./{row}/{side}",
    params: { row: Schema.Int },
    query: Schema.Struct({ open: Schema.Boolean }),
    payload: Schema.Array(Schema.Int),
    success: { left: Schema.Int }
  }, ({ params, payload, query }) => {
    expectTypeOf(params.row).toEqualTypeOf<number>()
    expectTypeOf(params.side).toEqualTypeOf<string>()
    expectTypeOf(query.open).toEqualTypeOf<boolean>()
    expectTypeOf(payload).toEqualTypeOf<ReadonlyArray<number>>()
    return Effect.succeed({ left: params.row })
  })
  .operation("pay", { payload: User, success: User }, ({ params, payload: user }) => {
    expectTypeOf(user).toEqualTypeOf<User>()
    expectTypeOf(params).toEqualTypeOf<{}>()
    return Effect.succeed(user)
  })
  .operation("invite", {
    payload: {
      users: Schema.Array(User),
      host: Schema.NullOr(User),
      guests: Schema.optionalKey(Schema.Struct({ first: User, others: Schema.NonEmptyArray(User) })),
      by_name: Schema.optional(Schema.Record(Schema.String, User)),
      note: Schema.String
    },
    success: Schema.Int
  }, ({ payload: { guests, users } }) => {
    expectTypeOf(users).toEqualTypeOf<ReadonlyArray<User>>()
    expectTypeOf(guests?.others[0]).toEqualTypeOf<User | undefined>()
    return Effect.succeed(users.length)
  })

const service = KernelEngine.make("shop").register(Users).register(Payments).register(Category, { name: "kinds" })

describe("actions, hooks and services", () => {
  type Client = KernelClient.KernelClient<typeof service.api extends HttpApi.HttpApi<"shop", infer G> ? G : never>
  const client: Client = null!

  it("are methods of the client, by the names of their registrations", () => {
    expectTypeOf<keyof Client>().toEqualTypeOf<"users" | "payments" | "kinds" | "changes">()
    expectTypeOf<keyof Client["payments"]>().toEqualTypeOf<"status" | "seat" | "pay" | "invite">()
    const changed = client.users.change_password({ params: { id: "U1" }, payload: { new_password: null! } })
    expectTypeOf<Effect.Success<typeof changed>["result"]>().toEqualTypeOf<string>()
    const friends = client.users.friends({ params: { id: "U1" } })
    expectTypeOf<Effect.Success<typeof friends>["_items"][number]["name"]>().toEqualTypeOf<string>()
    const jane = { name: "Jane", password: "secret", created: null! }
    const invited = client.payments.invite({ payload: { users: [jane], host: null, note: "" } })
    expectTypeOf<Effect.Success<typeof invited>["result"]>().toEqualTypeOf<number>()
    expectTypeOf(client.payments.invite).toBeCallableWith({
      payload: { users: [], host: jane, guests: { first: jane, others: [jane] }, by_name: { jane }, note: "" }
    })
    void client.payments.invite({
      // @ts-expect-error a user without a password
      payload: { users: [{ name: "Jane", created: null! }], host: null, note: "" }
    })
    void client.payments.invite({
      // @ts-expect-error no user among the others
      payload: { users: [], host: null, guests: { first: jane, others: [] }, note: "" }
    })
    const paid = client.payments.pay({ payload: { name: "x", password: "y", created: null! } })
    expectTypeOf<Effect.Success<typeof paid>["_type"]>().toEqualTypeOf<"User">()
    void client.payments.status({ params: { payment_id: "1", order: "2" }, query: { deep: 1 } })
    const seat = client.payments.seat({ params: { row: 1, side: "left" }, query: { open: true }, payload: [1] })
    expectTypeOf<Effect.Success<typeof seat>>().toEqualTypeOf<{ readonly left: number }>()
    // @ts-expect-error a text is no number
    void client.payments.seat({ params: { row: "1", side: "left" }, query: { open: true }, payload: [1] })
    // @ts-expect-error the path has two parameters
    void client.payments.status({ params: { payment_id: "1" }, query: { deep: 1 } })
    // @ts-expect-error the answer shows nothing that is omitted
    void Effect.map(paid, ({ password }) => password)
  })

  it("fail with what they declare, and callers see it", () => {
    const changed = client.users.change_password({ params: { id: "U1" }, payload: { new_password: null! } })
    expectTypeOf<Extract<Effect.Error<typeof changed>, { readonly _tag: "WrongPassword" }>>().toEqualTypeOf<
      WrongPassword
    >()
    const created = client.users.create({ payload: { name: "x", password: "y", created: null! } })
    expectTypeOf<Extract<Effect.Error<typeof created>, { readonly _tag: "WrongPassword" }>>().toEqualTypeOf<
      WrongPassword
    >()
    const read = client.users.get({ params: { id: "U1" } })
    expectTypeOf<Extract<Effect.Error<typeof read>, { readonly _tag: "WrongPassword" }>>().toEqualTypeOf<never>()
    // @ts-expect-error an error that is not declared
    void Resource.make(User).action("x", {}, () => Effect.fail(new WrongPassword()))
    // @ts-expect-error an error that is not declared
    void Resource.make(User).beforeGet(() => Effect.fail(new WrongPassword()))
    const failing = KernelEngine.make("x").register(
      Resource.make(User).beforeGet(() => Effect.fail(new WrongPassword()), { error: [WrongPassword] })
    )
    const aggregated = KernelClient.make(failing, { baseUrl: "" }).pipe(
      Effect.flatMap((client) => client.users.aggregate({ query: { pipe: "[]" } }))
    )
    expectTypeOf<Extract<Effect.Error<typeof aggregated>, { readonly _tag: "WrongPassword" }>>().toEqualTypeOf<
      WrongPassword
    >()
    // @ts-expect-error every error has a code
    void ServiceError<never>()("Overwriting", { status: 409, fields: { code: Schema.Int } })
    // @ts-expect-error every error may have problems
    void ServiceError<never>()("Overwriting", { status: 409, fields: { errors: Schema.String, why: Schema.String } })
    // @ts-expect-error another result than the one that is declared
    void Resource.make(User).action("x", { success: Schema.Int }, () => Effect.succeed("text"))
    // What the engine answers by itself need not be declared.
    void Resource.make(User).action(
      "x",
      {},
      (user) => Effect.flatMap(Repository.for(User), (users) => users.deleteById(user.id))
    )
  })

  it("need services, which the engine asks for, all but those it has itself", () => {
    expectTypeOf<Layer.Services<typeof service.layer>>().toEqualTypeOf<DocumentStore.DocumentStore | Mailer>()
    const own = Resource.make(User).action(
      "x",
      {},
      () => Effect.asVoid(Effect.all([Repository.for(User), Repository.for(Category), DocumentStore.DocumentStore]))
    )
    const either = Resource.make(User).action(
      "x",
      { error: WrongPassword },
      (user) =>
        user.name === ""
          ? Effect.fail(new WrongPassword())
          : user.name === "x"
          ? Effect.asVoid(Mailer)
          : Effect.asVoid(Repository.for(Category))
    )
    const needing = KernelEngine.make("x").register(either)
    expectTypeOf<Layer.Services<typeof needing.layer>>().toEqualTypeOf<
      DocumentStore.DocumentStore | Mailer | Repository.RepositoryOf<"Category">
    >()
    const without = KernelEngine.make("x").register(own)
    expectTypeOf<Layer.Services<typeof without.layer>>().toEqualTypeOf<
      DocumentStore.DocumentStore | Repository.RepositoryOf<"Category">
    >()
    const complete = without.register(Category)
    expectTypeOf<Layer.Services<typeof complete.layer>>().toEqualTypeOf<DocumentStore.DocumentStore>()
  })

  it("are asked for by a test, unless the layer of its store has them", () => {
    const test = service.test()
    expectTypeOf<Effect.Services<typeof test>>().toEqualTypeOf<Mailer | Scope.Scope>()
    expectTypeOf<keyof Effect.Success<typeof test>["repositories"]>().toEqualTypeOf<"users" | "kinds">()
    expectTypeOf<Effect.Success<typeof test>["repositories"]["users"]>().toEqualTypeOf<
      Repository.Repository<typeof User>
    >()
    expectTypeOf<Effect.Success<typeof test>["client"]>().toEqualTypeOf<Client>()
    const inFolder = service.test({ store: EmbeddedStore.layer })
    expectTypeOf<Effect.Services<typeof inFolder>>().toEqualTypeOf<Mailer | Scope.Scope>()
    expectTypeOf<Config.ConfigError>().toExtend<Effect.Error<typeof inFolder>>()
    const mailing = service.test({
      store: Layer.merge(Layer.effect(Mailer, Effect.service(Mailer)), EmbeddedStore.layerMemory)
    })
    expectTypeOf<Effect.Services<typeof mailing>>().toEqualTypeOf<Mailer | Scope.Scope>()
    const mailer = Layer.succeed(Mailer, { send: Effect.void })
    const complete = service.test({ store: Layer.merge(mailer, EmbeddedStore.layerMemory) })
    expectTypeOf<Effect.Services<typeof complete>>().toEqualTypeOf<Scope.Scope>()
    const named = KernelEngine.make("x").register(Service.make("Info").operation("meta", {}, () => Effect.void)).test()
    expectTypeOf<keyof Effect.Success<typeof named>["repositories"]>().toBeNever()
    // @ts-expect-error a layer without a store
    void service.test({ store: mailer })
  })

  it("get raw bodies as streams, and return raw responses", () => {
    const files = Service.make("files").operation(
      "count",
      { payload: Raw.request(), success: Schema.Int },
      ({ payload }) => {
        expectTypeOf(payload).toEqualTypeOf<
          Stream.Stream<Uint8Array, HttpError.BadRequest | HttpError.PayloadTooLarge>
        >()
        return Stream.runCount(payload)
      }
    )
    files.operation("page", { success: Raw.response() }, () => Effect.succeed(HttpServerResponse.empty()))
    // @ts-expect-error a text is no response
    files.operation("text", { success: Raw.response() }, () => Effect.succeed("text"))
  })

  it("run around a method that is registered", () => {
    const hooked = Resource.make(User, { methods: ["POST", "GET"] })
      .beforePost((user) => {
        expectTypeOf(user).toEqualTypeOf<User>()
        return Effect.flatMap(Mailer, ({ send }) => send)
      })
      .beforeGet(({ id }) => {
        expectTypeOf(id).toEqualTypeOf<Option.Option<string>>()
        return Effect.void
      })
    const own = KernelEngine.make("x").register(hooked)
    expectTypeOf<Layer.Services<typeof own.layer>>().toEqualTypeOf<DocumentStore.DocumentStore | Mailer>()
    // @ts-expect-error PUT is not registered
    void Resource.make(User, { methods: ["POST"] }).beforePut(() => Effect.void)
    // @ts-expect-error only GET is registered
    void Resource.make(User).afterPost(() => Effect.void)
  })
})

class Count extends Model.Class<Count>()("Count", { id: Schema.Int, note: Schema.String }) {}

class Coupon extends Model.Class<Coupon>()("Coupon", {
  id: Schema.String.pipe(Schema.brand("Coupon")),
  note: Schema.String
}) {}

class Event extends Model.Class<Event>()("Event", { id: Schema.DateTimeUtc, note: Schema.String }) {}

const identified = KernelEngine.make("identified")
  .register(
    Resource.make(Count, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
      .action("shout", { path: "shout/{times}", success: Schema.String }, ({ note }) => Effect.succeed(note))
      .beforePatch((_, { id }) => {
        expectTypeOf(id).toEqualTypeOf<Option.Option<number>>()
        return Effect.void
      })
  )
  .register(Coupon, { methods: ["GET", "POST"] })
  .register(Event, { methods: ["GET", "DELETE"] })

declare const made: Effect.Success<ReturnType<typeof makeIdentified>>
const makeIdentified = () => KernelClient.make(identified)

describe("identifiers of a typed client", () => {
  it("are those of the model", () => {
    const params = { id: 7 }
    const payload = { id: 7, note: "a" }
    const read = made.counts.get({ params })
    expectTypeOf<Effect.Success<typeof read>["id"]>().toEqualTypeOf<number>()
    const created = made.counts.create({ payload })
    expectTypeOf<Effect.Success<typeof created>["result"]>().toEqualTypeOf<number>()
    const several = made.counts.create({ payload: [payload] })
    expectTypeOf<Effect.Success<typeof several>["result"]>().toEqualTypeOf<ReadonlyArray<number>>()
    const replaced = made.counts.replace({ params, payload })
    expectTypeOf<Effect.Success<typeof replaced>["result"]>().toEqualTypeOf<number>()
    expectTypeOf(made.counts.get).toBeCallableWith({ params })
    expectTypeOf(made.counts.patch).toBeCallableWith({ params, payload: { note: "b" } })
    expectTypeOf(made.counts.delete).toBeCallableWith({ params })
    expectTypeOf(made.counts.shout).toBeCallableWith({ params: { id: 7, times: "2" } })
    expectTypeOf(made.events.get).parameter(0).toHaveProperty("params").toEqualTypeOf<{ readonly id: DateTime.Utc }>()
    const coupon = made.coupons.create({ payload: new Coupon({ id: null!, note: "a" }) })
    expectTypeOf<Effect.Success<typeof coupon>["result"]>().toEqualTypeOf<Coupon["id"]>()
    // @ts-expect-error a text is no number
    void made.counts.get({ params: { id: "7" } })
    // @ts-expect-error a text is no number
    void made.counts.delete({ params: { id: "7" } })
    // @ts-expect-error a text is no number
    void made.counts.shout({ params: { id: "7", times: "2" } })
    // @ts-expect-error a text is not yet one of this brand
    void made.coupons.get({ params: { id: "C1" } })
  })
})

const RowsApi = Resource.describe(User, { methods: ["GET", "POST"], errors: { POST: WrongPassword, GET: [] } })
  .action("rename", { payload: { name: Schema.String }, success: User, error: WrongPassword })
const StatusApi = Service.describe("StatusService")
  .operation("of", { path: "./{id}", params: { id: Schema.Int }, query: { deep: Schema.Boolean }, success: Schema.Int })
const contract = KernelApi.make("contract").register(RowsApi).register(StatusApi, { name: "state" }).register(Category)
const Rows = Resource.implement(RowsApi, {
  rename: (user, { payload }) => {
    expectTypeOf(user).toEqualTypeOf<User>()
    expectTypeOf(payload.name).toEqualTypeOf<string>()
    return Effect.as(Effect.flatMap(Mailer, ({ send }) => send), user)
  }
})
const States = Service.implement(StatusApi, {
  of: ({ params, payload, query }) => {
    expectTypeOf(params).toEqualTypeOf<{ readonly id: number }>()
    expectTypeOf(query).toEqualTypeOf<{ readonly deep: boolean }>()
    expectTypeOf(payload).toEqualTypeOf<undefined>()
    return Effect.map(Repository.for(Category), () => params.id)
  }
})

/** What is left of a failure that a handler ends is that of the handler. */
const setting = Effect.gen(function*() {
  return (yield* Config.String("SETTING")).length
})
const Settings = Service.implement(
  Service.describe("SettingService").operation("length", { success: Schema.Int }).operation("kind", {
    success: Schema.Struct({ kind: Schema.Literals(["a", "b"]) }),
    error: WrongPassword
  }),
  {
    length: () => setting.pipe(Effect.catchTag("ConfigError", Effect.die)),
    kind: () => Effect.succeed({ kind: "a" })
  }
)
const Renamed = Resource.implement(RowsApi, {
  rename: (user) => Effect.as(setting, user).pipe(Effect.catchTags({ ConfigError: Effect.die }))
})
const Lengths = Resource.make(User, { methods: [] }).action(
  "length",
  { success: Schema.Int },
  () => setting.pipe(Effect.catchTag("ConfigError", Effect.die))
)

describe("a contract", () => {
  it("is implemented by handlers that end the failures of their parts", () => {
    expectTypeOf(Settings).toExtend<Service.Any>()
    expectTypeOf(Renamed).toExtend<Resource.Any>()
    expectTypeOf(Lengths).toExtend<Resource.Any>()
    // @ts-expect-error a failure that is not declared
    Resource.implement(RowsApi, { rename: (user) => Effect.as(setting, user) })
    const twice: Effect.Effect<number, Config.ConfigError | WrongPassword> = setting
    Service.implement(Service.describe("TwiceService").operation("twice", { success: Schema.Int }), {
      // @ts-expect-error what is left is not declared
      twice: () => twice.pipe(Effect.catchTag("ConfigError", Effect.die))
    })
  })

  it("has the client of the engine that registers the same", () => {
    const short = KernelEngine.make("contract")
      .register(
        Resource.make(User, { methods: ["GET", "POST"] })
          .action(
            "rename",
            { payload: { name: Schema.String }, success: User, error: WrongPassword },
            (user) => Effect.succeed(user)
          )
          .beforePost(() => Effect.fail(new WrongPassword()), { error: WrongPassword })
          .afterGet(() => Effect.void)
      )
      .register(
        Service.make("StatusService").operation(
          "of",
          { path: "./{id}", params: { id: Schema.Int }, query: { deep: Schema.Boolean }, success: Schema.Int },
          ({ params }) => Effect.succeed(params.id)
        ),
        { name: "state" }
      )
      .register(Category)
    const apart = KernelEngine.fromApi(contract, [Rows, States])
    expectTypeOf<ClientOf<typeof contract.api>>().toEqualTypeOf<ClientOf<typeof short.api>>()
    expectTypeOf<ClientOf<typeof apart.api>>().toEqualTypeOf<ClientOf<typeof short.api>>()
    expectTypeOf<Effect.Success<ReturnType<typeof apart.test>>["repositories"]>().toEqualTypeOf<
      Effect.Success<ReturnType<typeof short.test>>["repositories"]
    >()
  })

  it("needs what its handlers and hooks need", () => {
    const apart = KernelEngine.fromApi(contract, [Rows, States])
    expectTypeOf<Layer.Services<typeof apart.layer>>().toEqualTypeOf<DocumentStore.DocumentStore | Mailer>()
    const hooked = KernelEngine.fromApi(
      KernelApi.make("x").register(RowsApi),
      [
        Resource.implement(RowsApi, { rename: (user) => Effect.succeed(user) }).afterGet(() =>
          Effect.flatMap(Mailer, ({ send }) => send)
        )
      ]
    )
    expectTypeOf<Layer.Services<typeof hooked.layer>>().toEqualTypeOf<DocumentStore.DocumentStore | Mailer>()
  })

  it("lets hooks fail with what it declares for their method, and with nothing else", () => {
    const hooked = Rows.beforePost(() => Effect.fail(new WrongPassword()))
    expectTypeOf(hooked).toEqualTypeOf<typeof Rows>()
    // What the engine answers by itself need not be declared, where hooks may fail at all.
    void Rows.beforeGet(() => Effect.asVoid(Effect.flatMap(Repository.for(User), (users) => users.findById("U1"))))
    // @ts-expect-error GET declares no error of the application
    void Rows.beforeGet(() => Effect.fail(new WrongPassword()))
    // @ts-expect-error hooks can't declare what the contract does not
    void Rows.beforeGet(() => Effect.fail(new WrongPassword()), { error: WrongPassword })
    const silent = Resource.implement(Resource.describe(User), {})
    void silent.afterGet((user) => Effect.logInfo(user.name))
    // @ts-expect-error the description lists no errors of GET
    void silent.afterGet((user) => Effect.flatMap(Repository.for(User), (users) => users.findById(user.id)))
  })
})

type ClientOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer G> ? KernelClient.KernelClient<G> : never
