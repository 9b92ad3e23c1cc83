/** The cause is `payments has no implementation`: an engine lacks a service of its description. */
import { KernelApi, KernelEngine, Model, Resource, Service } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

const UsersApi = Resource.describe(User).action("greet", { success: Schema.String })

const PaymentsApi = Service.describe("PaymentService").operation("pay", { payload: { amount: Schema.Int } })

const api = KernelApi.make("shop").register(UsersApi).register(PaymentsApi)

const Users = Resource.implement(UsersApi, { greet: (user) => Effect.succeed(`Hello ${user.name}`) })

export const engine = KernelEngine.fromApi(api, [Users])
