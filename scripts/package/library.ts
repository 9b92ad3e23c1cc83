/** A library that exports one of each, whose declarations a compiler writes. */
import {
  Converter,
  EmbeddedStore,
  Generator,
  Index,
  KernelApi,
  KernelClient,
  KernelEngine,
  Marshaller,
  Model,
  MongoStore,
  Repository,
  Resource,
  Service,
  ServiceError,
  Validator
} from "appkernel"
import { Effect, Layer, Schema } from "effect"

export class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty)
}) {}

export class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  email: Schema.String.pipe(Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  birthday: Model.Date.pipe(Model.optional),
  score: Model.field(Schema.Int, { required: true }),
  nick: Model.field(Schema.String),
  seen: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  reference: Model.ObjectId,
  status: Schema.String.pipe(Model.readOnly, Model.withDefault(() => "new")),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.audited,
  ...Model.versioned,
  ...Model.softDeleted,
  ...Model.historied
}) {
  get firstName() {
    return this.name.split(" ")[0]
  }
}

export class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, {
  indexes: [],
  validators: []
}) {}

export class WrongPassword
  extends ServiceError<WrongPassword>()("WrongPassword", { status: 403, fields: { tries: Schema.Int } })
{}

export const Users = Resource.make(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action(
    "change_password",
    { payload: { current: Schema.String, next: Schema.String }, success: Schema.String, error: [WrongPassword] },
    (user) =>
      user.name === "x"
        ? Effect.fail(new WrongPassword({ message: "x", tries: 1 }))
        : Effect.succeed("Password changed")
  )
  .beforePost((user) => Effect.logInfo(user.name))

export const Notes = Resource.make(Note)

export const Payments = Service.make("PaymentService")
  .operation(
    "pay",
    { method: "POST", path: "/pay", payload: Note, success: User, error: [WrongPassword] },
    () => Effect.fail(new WrongPassword({ message: "no", tries: 1 }))
  )
  .operation(
    "list",
    { success: Schema.Array(Note) },
    () => Effect.flatMap(Repository.for(Note), (notes) => notes.find()).pipe(Effect.orDie)
  )

export const engine = KernelEngine.make("shop")
  .register(Users, { urlBase: "/api/v1", tags: ["users"] })
  .register(Notes, { urlBase: "/api/v1" })
  .register(Note, { name: "others", segment: "others", methods: ["GET", "POST"] })
  .register(Payments, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "Shop", version: "1.0.0" })

export const UsersApi = Resource.describe(User, { methods: ["GET", "POST"], errors: { POST: WrongPassword } })
  .action("change_password", {
    payload: { current: Schema.String, next: Schema.String },
    success: Schema.String,
    error: [WrongPassword]
  })
export const NotesApi = Resource.describe(Note)
export const PaymentsApi = Service.describe("PaymentService")
  .operation("pay", { path: "./{order}", params: { order: Schema.Int }, payload: Note, success: { paid: Schema.Int } })

export const shop = KernelApi.make("shop")
  .register(UsersApi, { urlBase: "/api/v1" })
  .register(NotesApi)
  .register(Note, { name: "others", segment: "others" })
  .register(PaymentsApi)

export const ImplementedUsers = Resource.implement(UsersApi, {
  change_password: (_, { payload }) => Effect.succeed(payload.next)
}).beforePost(() => Effect.fail(new WrongPassword({ message: "no", tries: 1 })))
export const ImplementedPayments = Service.implement(PaymentsApi, {
  pay: ({ params }) => Effect.succeed({ paid: params.order })
})

export const implemented = KernelEngine.fromApi(shop, [ImplementedUsers, ImplementedPayments])
export const makeShopClient = KernelClient.make(shop, { baseUrl: "http://x" })

export const makeClient = KernelClient.make(engine, { baseUrl: "http://x" })
export const program = Effect.gen(function*() {
  const users = yield* Repository.for(User)
  const page = yield* users.find(($) => $.name.contains("jan").and($.address.city.equals("Bern")))
  const first = yield* users.findById("U1")
  return { users, page, first }
})
export const repository = Repository.for(User)
export const layer = Repository.layer(User).pipe(Layer.provide(EmbeddedStore.layerMemory))
export const mongo = MongoStore.layer
export const memory = EmbeddedStore.makeMemory
export const served = engine.layer.pipe(Layer.provide(EmbeddedStore.layer))
export const api = engine.api
