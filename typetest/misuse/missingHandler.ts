/** The cause is `change_password`: the implementation of a description lacks a handler. */
import { Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

const UsersApi = Resource.describe(User, { methods: ["GET", "POST"] })
  .action("greet", { success: Schema.String })
  .action("change_password", { payload: { next: Schema.String } })

export const Users = Resource.implement(UsersApi, {
  greet: (user) => Effect.succeed(`Hello ${user.name}`)
})
