/** The cause is `beforePut`: a hook of a method that the resource does not have. */
import { Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

export const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .beforePut((user) => Effect.logInfo(`replacing ${user.name}`))
