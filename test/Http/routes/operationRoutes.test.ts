import { assert, describe, it } from "@effect/vitest"
import {
  Action,
  EmbeddedStore,
  KernelEngine,
  KernelServer,
  Model,
  Operation,
  Repository,
  Resource,
  Service,
  ServiceError,
  Validator
} from "appkernel"
import { Cause, Context, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", {
  status: 403,
  message: "The current password is wrong"
}) {}

class OutOfStock extends ServiceError<OutOfStock>()("OutOfStock", {
  status: 409,
  fields: { product: Schema.String, left: Schema.Int }
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  password: Schema.String.pipe(Model.omitted)
}) {}

class Payment extends Model.Class<Payment>()("Payment", {
  id: Model.id({ prefix: "P" }),
  amount: Schema.Int.pipe(Validator.min(1)),
  note: Schema.String.pipe(Model.optional)
}) {}

class Receipt extends Model.Class<Receipt>()("Receipt", { payment: Schema.String, total: Schema.Int }) {}

class Greeter extends Context.Service<Greeter, { readonly greeting: string }>()("test/Greeter") {}

const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .action("change_password", {
    payload: { current_password: Schema.Redacted(Schema.String), new_password: Schema.Redacted(Schema.String) },
    success: Schema.String,
    error: WrongPassword
  }, (user, { payload: { current_password, new_password } }) =>
    Effect.gen(function*() {
      if (Redacted.value(current_password) !== user.password) return yield* new WrongPassword()
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: Redacted.value(new_password) })
      return "Password changed"
    }))
  .action(
    Action.make(User, "greet", { query: { times: Schema.Int } }, (user, { query }) =>
      Effect.gen(function*() {
        const { greeting } = yield* Greeter
        yield* Effect.logDebug(`${greeting} ${user.name}`.repeat(query.times))
      }))
  )
  .action("same", { success: User, rel: "copy" }, (user) => Effect.succeed(user))
  .action("friends", { success: Schema.Array(User) }, (user) => Effect.succeed([user, user]))
  .action(
    "fail",
    { method: "PUT", error: [WrongPassword, OutOfStock] },
    () => Effect.fail(new OutOfStock({ product: "P1", left: 2 }))
  )

const Payments = Service.make("PaymentService")
  .operation(
    "pay",
    { method: "POST", payload: Payment, success: Receipt },
    ({ payload: payment }) => Effect.succeed(new Receipt({ payment: payment.id, total: payment.amount }))
  )
  .operation(Operation.make("status", { path: "./{payment_id}", success: Schema.Struct({ paid: Schema.Boolean }) }, (
    { params }
  ) => Effect.succeed({ paid: params.payment_id === "P1" })))
  .operation(
    "methods",
    { path: "./methods", success: Schema.Array(Schema.String), deprecated: true },
    () => Effect.succeed(["card", "cash"])
  )
  .operation(
    "refunds",
    { path: "./refunds/{payment}", success: Schema.NullOr(Schema.Array(Receipt)) },
    ({ params }) => Effect.succeed(params.payment === "P1" ? [new Receipt({ payment: "P1", total: 3 })] : null)
  )
  .operation("elsewhere", { path: "/elsewhere" }, () => Effect.void)
  .operation("root", { path: "./", success: Schema.Int }, () => Effect.succeed(7))

const engine = KernelEngine.make("shop")
  .register(Users, { urlBase: "/api/v1" })
  .register(Payments, { urlBase: "/api/v1", tags: ["money"] })
  .use(HttpRouter.add("GET", "/health", HttpServerResponse.text("ok")))

const greeter = Layer.succeed(Greeter, { greeting: "Hello" })

describe("actions and services", () => {
  it.effect("are called by a typed client, whose errors are classes", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      const { result: id } = yield* client.users.create({ payload: { name: "Jane", password: "secret" } })
      const payload = { current_password: Redacted.make("wrong"), new_password: Redacted.make("better") }
      const refused = yield* Effect.flip(client.users.change_password({ params: { id }, payload }))
      assert.instanceOf(refused, WrongPassword)
      assert.strictEqual(refused.message, "The current password is wrong")
      const changed = yield* client.users.change_password({
        params: { id },
        payload: { ...payload, current_password: Redacted.make("secret") }
      })
      assert.strictEqual(changed.result, "Password changed")
      assert.isTrue(yield* Effect.as(client.users.greet({ params: { id }, query: { times: 2 } }), true))
      const missing = yield* Effect.flip(client.users.same({ params: { id: "none" } }))
      assert.strictEqual(missing._tag, "NotFound")
      const same = yield* client.users.same({ params: { id } })
      assert.strictEqual(same.name, "Jane")
      assert.notProperty(same, "password")
      assert.deepStrictEqual(same._links?.["copy"], { href: `/api/v1/users/${id}/same`, methods: "GET" })
      assert.deepStrictEqual(same._links?.["change_password"], {
        href: `/api/v1/users/${id}/change_password`,
        methods: "POST",
        args: ["current_password", "new_password"]
      })
      assert.strictEqual((yield* client.users.friends({ params: { id } }))._items.length, 2)
      const failed = yield* Effect.flip(client.users.fail({ params: { id } }))
      assert.deepStrictEqual(failed, new OutOfStock({ product: "P1", left: 2 }))
    }).pipe(Effect.scoped, Effect.provide(greeter)))

  it.effect("have the paths of their options", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      const receipt = yield* client.payments.pay({ payload: { amount: 12 } })
      assert.strictEqual(receipt._type, "Receipt")
      assert.strictEqual(receipt.total, 12)
      assert.match(receipt.payment, /^P/u)
      assert.isTrue((yield* client.payments.status({ params: { payment_id: "P1" } })).paid)
      assert.deepStrictEqual((yield* client.payments.methods())._items, ["card", "cash"])
      assert.strictEqual((yield* client.payments.root()).result, 7)
      assert.isTrue(yield* Effect.as(client.payments.elsewhere(), true))
    }).pipe(Effect.scoped, Effect.provide(greeter)))

  it.effect("answer a list that may be null as a collection or as the result null", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      const refunds = yield* client.payments.refunds({ params: { payment: "P1" } })
      assert.deepStrictEqual(refunds._type === "list" ? refunds._items.map(({ total }) => total) : [], [3])
      const none = yield* client.payments.refunds({ params: { payment: "P2" } })
      assert.deepStrictEqual(none, { _type: "OperationResult", result: null })
    }).pipe(Effect.scoped, Effect.provide(greeter)))

  it.effect("respond to an invalid request with all its problems, and to an unknown method with 405", () =>
    Effect.gen(function*() {
      const send = (path: string, init?: RequestInit) =>
        Effect.gen(function*() {
          const { address } = yield* HttpServer.HttpServer
          const response = yield* Effect.promise(() => fetch(`${HttpServer.formatAddress(address)}${path}`, init))
          return { status: response.status, body: yield* Effect.promise(() => response.text()) }
        })
      const json = (method: string, body: unknown) => ({
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      const bad = yield* send("/api/v1/payments/pay", json("POST", { amount: 0 }))
      assert.strictEqual(bad.status, 400)
      assert.include(bad.body, `"field":"amount","validator":"Min"`)
      const { body } = yield* send("/api/v1/users", json("POST", { name: "Jane", password: "x" }))
      const { result: id } = JSON.parse(body)
      const incomplete = yield* send(`/api/v1/users/${id}/change_password`, json("POST", {}))
      assert.strictEqual(incomplete.status, 400)
      assert.deepStrictEqual(
        JSON.parse(incomplete.body).errors.map(({ field }: { field: string }) => field),
        ["current_password", "new_password"]
      )
      assert.strictEqual((yield* send(`/api/v1/users/${id}/greet?times=x`)).status, 400)
      assert.strictEqual((yield* send(`/api/v1/users/${id}/change_password`)).status, 405)
      assert.deepStrictEqual(yield* send("/health"), { status: 200, body: "ok" })
      const failed = yield* send(`/api/v1/users/${id}/fail`, { method: "PUT" })
      assert.strictEqual(failed.status, 409)
      assert.deepStrictEqual(JSON.parse(failed.body), {
        _type: "ErrorMessage",
        code: 409,
        error: "OutOfStock",
        message: "Out of stock",
        product: "P1",
        left: 2
      })
    }).pipe(Effect.provide(
      Layer.provideMerge(engine.layerServe, [
        KernelServer.layerWith({ address: "127.0.0.1", port: 0 }),
        EmbeddedStore.layerMemory,
        greeter
      ])
    )))

  it.effect("fail at the start if two of them conflict", () =>
    Effect.gen(function*() {
      const twice = Service.make("UserService").operation("one", { path: "./{id}" }, () => Effect.void)
      const error = yield* Effect.flip(Effect.scoped(
        KernelEngine.make("x").register(User).register(twice, { name: "others" }).test()
      ))
      assert.strictEqual(error._tag, "RouteConflict")
      assert.include(error.message, "GET /users/:id (the model User)")
      assert.include(error.message, "GET /users/:id (one)")
    }))

  it.effect("have links with unique names within the resource", () =>
    Effect.gen(function*() {
      class Page extends Model.Class<Page>()("Page", { id: Model.id() }) {}
      const pages = Resource.make(Page)
      const self = pages.action("self", {}, () => Effect.void)
      const error = yield* Effect.flip(Effect.scoped(KernelEngine.make("x").register(self).test()))
      assert.strictEqual(error._tag, "RouteConflict")
      assert.include(error.message, `the link "self" of the model Page (/pages/:id/self)`)
      const collection = pages.action("turn", { rel: "collection" }, () => Effect.void)
      const other = yield* Effect.flip(Effect.scoped(KernelEngine.make("x").register(collection).test()))
      assert.include(other.message, `the link "collection" of the model Page (/pages/:id/turn)`)
      const twice = pages.action("a", { rel: "x" }, () => Effect.void)
        .action("b", { rel: "x" }, () => Effect.void)
      const third = yield* Effect.flip(Effect.scoped(KernelEngine.make("x").register(twice).test()))
      assert.include(third.message, `the link "x" of the model Page`)
      yield* KernelEngine.make("x").register(twice, { enableHateoas: false }).test()
    }))

  it.effect("declare no error with a field that every error has", () =>
    Effect.sync(() => {
      for (const field of ["_tag", "_type", "code", "error", "errors", "message"]) {
        assert.throws(
          () => ServiceError<never>()("Overwriting", { status: 409, fields: { [field]: Schema.Int } }),
          `Overwriting.${field} has a name that every error has on the wire`
        )
      }
    }))

  it.effect("fail with the declared errors of hooks before reading, also for aggregations", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", { id: Model.id() }) {}
      const notes = Resource.make(Note).beforeGet(() => Effect.fail(new OutOfStock({ product: "p", left: 0 })), {
        error: [OutOfStock]
      })
      const { client } = yield* KernelEngine.make("notes").register(notes).test()
      for (const call of [client.notes.aggregate({ query: { pipe: "[]" } }), client.notes.list({ query: {} })]) {
        const error = yield* Effect.flip(call)
        assert.instanceOf(error, OutOfStock)
      }
    }))

  it.effect("fail at the start if their location names fields that the result lacks", () =>
    Effect.gen(function*() {
      for (
        const [success, location] of [
          [User, "/users/{key}"],
          [Schema.Struct({ id: Schema.Int }), "/users/{id}/{name}"],
          [Schema.String, "/users/{id}"]
        ] as const
      ) {
        const service = Service.make("UserService").operation("x", { success, location }, () => Effect.never)
        const error = yield* Effect.flip(Effect.scoped(KernelEngine.make("x").register(service).test()))
        assert.match(error.message, /the location of x names (?:key|name|id), which its result does not have/u)
      }
    }))

  it.effect("fail at the start if a part of the request has no place", () =>
    Effect.gen(function*() {
      const inAddress = "x of one is in the address, and is an object"
      for (
        const [options, detail] of [
          [{ path: "./{x}", params: { x: Schema.Int, y: Schema.Int } }, "the path of one has no parameter y"],
          [
            { method: "GET", payload: Schema.Array(Schema.Int) },
            "the payload of one is in the query, since its method is GET, and has no named members"
          ],
          [{ method: "GET", query: { x: Schema.optional(Schema.Duration) } }, inAddress],
          [{ method: "GET", query: { x: Schema.Array(Schema.Struct({ y: Schema.Int })) } }, inAddress],
          [{ method: "GET", payload: { x: Schema.Record(Schema.String, Schema.String) } }, inAddress],
          [{ path: "./{x}", params: { x: Schema.Struct({ y: Schema.Int }) } }, inAddress]
        ] as const
      ) {
        const service = Service.make("UserService").operation("one", options, () => Effect.void)
        const error = yield* Effect.flip(Effect.scoped(KernelEngine.make("x").register(service).test()))
        assert.include(error.message, detail)
      }
    }))

  it.effect("never return a model in its stored form", () =>
    Effect.gen(function*() {
      const within = Service.make("UserService")
        .operation("x", { success: Schema.Struct({ user: User }) }, () => Effect.never)
      const exit = yield* Effect.exit(Effect.scoped(KernelEngine.make("x").register(within).test()))
      assert.isTrue(Exit.hasDies(exit))
      assert.include(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), "x.success holds the model User")
    }))
})
