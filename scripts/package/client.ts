/** The client of a service, from its description, as a browser runs it. */
import { KernelApi, KernelClient, Model, Raw, Resource, ServiceError, Validator } from "appkernel"
import { Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  created: Model.DateTime
}) {}

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", { status: 403 }) {}

const Users = Resource.describe(User, { methods: ["GET", "POST"] }).action("change_password", {
  payload: { current: Schema.String, next: Schema.String },
  success: Schema.String,
  error: WrongPassword
}).action("picture", { success: Raw.response({ contentType: "image/png" }) })

const api = KernelApi.make("shop").register(Users, { urlBase: "/api/v1" })

const program = Effect.gen(function*() {
  const client = yield* KernelClient.make(api, { baseUrl: "http://localhost" })
  return yield* client.users.get({ params: { id: "U1" } })
})

Effect.runFork(Effect.provide(program, FetchHttpClient.layer))
