/** The cause is `NameTaken is not declared`: a hook fails with an error that it does not declare. */
import { Model, Resource, ServiceError } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

class NameTaken extends ServiceError<NameTaken>()("NameTaken", { status: 409 }) {}

export const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .beforePost((user) => user.name === "admin" ? Effect.fail(new NameTaken()) : Effect.void)
