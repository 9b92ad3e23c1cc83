/** The cause is `'string' is not assignable to type 'number'`: a client sends a text where the model has a number. */
import { KernelClient, KernelEngine, Model } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String, age: Schema.Int }) {}

const engine = KernelEngine.make("people").register(User, { methods: ["GET", "POST"], urlBase: "/api/v1" })

export const created = Effect.gen(function*() {
  const client = yield* KernelClient.make(engine, { baseUrl: "http://localhost:5000" })
  return yield* client.users.create({ payload: { name: "Jane", age: "42" } })
})
