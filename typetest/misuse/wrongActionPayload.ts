/** The cause is `password`: a client sends an action a payload that it does not take. */
import { KernelClient, KernelEngine, Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), password: Schema.String }) {}

const Users = Resource.make(User)
  .action("change_password", { payload: { next: Schema.String } }, () => Effect.void)

const engine = KernelEngine.make("people").register(Users, { urlBase: "/api/v1" })

export const changed = Effect.gen(function*() {
  const client = yield* KernelClient.make(engine, { baseUrl: "http://localhost:5000" })
  yield* client.users.change_password({ params: { id: "U1" }, payload: { password: "better" } })
})
