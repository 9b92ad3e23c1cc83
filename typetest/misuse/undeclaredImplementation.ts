/** The cause is `WrongPassword is not declared`: a handler of a description fails with an error that it does not declare. */
import { Model, Resource, ServiceError } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), password: Schema.String }) {}

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", { status: 403 }) {}

const UsersApi = Resource.describe(User)
  .action("change_password", { payload: { next: Schema.String }, success: Schema.String })

export const Users = Resource.implement(UsersApi, {
  change_password: (user, { payload }) =>
    Effect.gen(function*() {
      if (user.password === payload.next) return yield* new WrongPassword()
      return "changed"
    })
})
