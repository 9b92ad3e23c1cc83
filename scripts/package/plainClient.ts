/** The client of one service, written with Effect's `HttpApi` alone: the measure of `client.ts`. */
import { Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

const fields = {
  id: Schema.String,
  name: Schema.String.check(Schema.isNonEmpty()),
  roles: Schema.Array(Schema.String),
  created: Schema.DateTimeUtcFromString
}

class User extends Schema.Class<User>("User")({ _type: Schema.tag("User"), ...fields }) {}

class WrongPassword extends Schema.TaggedError<WrongPassword>()("WrongPassword", { message: Schema.String }) {}

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

const users = HttpApiGroup.make("users").add(
  HttpApiEndpoint.get("list", "/", { success: Schema.Struct({ _items: Schema.Array(User) }) }),
  HttpApiEndpoint.get("get", "/:id", { params: { id: Schema.String }, success: User, error: NotFound }),
  HttpApiEndpoint.post("create", "/", {
    payload: Schema.Struct(fields),
    success: Schema.Struct({ result: Schema.String })
  }),
  HttpApiEndpoint.post("change_password", "/:id/change_password", {
    params: { id: Schema.String },
    payload: Schema.Struct({ current: Schema.String, next: Schema.String }),
    success: Schema.String,
    error: [WrongPassword, NotFound]
  })
).prefix("/api/v1/users")

const program = Effect.gen(function*() {
  const client = yield* HttpApiClient.make(HttpApi.make("shop").add(users), { baseUrl: "http://localhost" })
  return yield* client.users.get({ params: { id: "U1" } })
})

Effect.runFork(Effect.provide(program, FetchHttpClient.layer))
