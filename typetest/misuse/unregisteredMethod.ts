/** The cause is `replace`: a client calls a method that is not registered. */
import { KernelClient, KernelEngine, Model } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

const engine = KernelEngine.make("people").register(User, { methods: ["GET", "POST"], urlBase: "/api/v1" })

export const replaced = Effect.gen(function*() {
  const client = yield* KernelClient.make(engine, { baseUrl: "http://localhost:5000" })
  return yield* client.users.replace({ params: { id: "U1" }, payload: { name: "Jane" } })
})
