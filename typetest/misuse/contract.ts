/** What the compiler says of contracts and implementations that do not fit, in the words of expected.txt. */
import { Effect, Schema } from "effect"
import { KernelApi, KernelEngine, Model, Resource, Service, ServiceError } from "../../src/index.ts"

class Taken extends ServiceError<Taken>()("Taken", { status: 409 }) {}
class Other extends ServiceError<Other>()("Other", { status: 409 }) {}

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}
class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const UsersApi = Resource.describe(User, { methods: ["GET", "POST"], errors: { POST: Taken } })
  .action("rename", { payload: { name: Schema.String }, success: User, error: Taken })
  .action("greet", { success: Schema.String })
const PaymentsApi = Service.describe("PaymentService")
  .operation("pay", {
    path: "./{order}",
    params: { order: Schema.Int },
    payload: { sum: Schema.Int },
    success: Schema.Int
  })
const OthersApi = Service.describe("OtherService").operation("ping", {})

const api = KernelApi.make("shop").register(UsersApi).register(PaymentsApi).register(Note)

const Users = Resource.implement(UsersApi, {
  rename: (user, { payload }) => Effect.succeed(new User({ ...user, name: payload.name })),
  greet: (user) => Effect.succeed(user.name)
}).beforePost((user) => user.name === "x" ? Effect.fail(new Taken()) : Effect.void)
const Payments = Service.implement(PaymentsApi, {
  pay: ({ params, payload }) => Effect.succeed(params.order + payload.sum)
})
const Others = Service.implement(OthersApi, { ping: () => Effect.void })

void KernelEngine.fromApi(api, [Users, Payments])

void Resource.describe(User, { methods: ["GET"], errors: { POST: Taken } })
void Resource.implement(UsersApi, { rename: (user) => Effect.succeed(user) })
void Resource.implement(UsersApi, {
  rename: (user) => Effect.succeed(user),
  greet: (user) => Effect.succeed(user.name),
  shout: () => Effect.void
})
void Resource.implement(UsersApi, {
  rename: () => Effect.fail(new Other()),
  greet: (user) => Effect.succeed(user.name)
})
void Resource.implement(UsersApi, {
  rename: (user, { name }) => Effect.succeed(new User({ ...user, name })),
  greet: () => Effect.succeed(1)
})
void Service.implement(PaymentsApi, {})
void Service.implement(OthersApi, { ping: () => Effect.void, pong: () => Effect.void })
void Users.beforePost(() => Effect.fail(new Other()))
void Users.beforeGet(() => Effect.fail(new Taken()))
void Users.afterDelete(() => Effect.void)
void Users.action("more", {}, () => Effect.void)
void KernelEngine.fromApi(api, [Users])
void KernelEngine.fromApi(api, [Payments])
void KernelEngine.fromApi(api, [])
void KernelEngine.fromApi(api, [Users, Payments, Others])
void KernelEngine.make("shop").register(UsersApi)

void UsersApi.action("more", { method: "POST", paylod: { name: Schema.String } })
void PaymentsApi.operation("more", { path: "./{order}", params: { ordr: Schema.Int } })
void PaymentsApi.operation("more", { payload: 1 })
void Resource.make(User).action("more", { method: "POST", requestModel: User }, (user) => Effect.succeed(user.name))
void Resource.make(User).action(
  "more",
  { payload: User, success: Schema.String },
  (_, payload) => Effect.succeed(payload.name)
)
void Resource.make(User).action("more", { path: "{part}" }, (_, { part }) => Effect.succeed(part))
void Service.make("PayService").operation("more", { success: Schema.Int, sucess: Schema.Int }, () => Effect.succeed(1))
void Service.make("PayService").operation("more", { error: Taken }, () => Effect.fail(new Other()))
