/** The cause is `WrongPassword is not declared`: a handler fails with an error that its action does not declare. */
import { Model, Repository, Resource, ServiceError } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), password: Schema.String }) {}

class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", { status: 403 }) {}

export const Users = Resource.make(User)
  .action(
    "change_password",
    { payload: { next: Schema.String }, success: Schema.String },
    (user, { payload }) =>
      Effect.gen(function*() {
        if (user.password === payload.next) return yield* new WrongPassword()
        const users = yield* Repository.for(User)
        yield* users.patch(user.id, { password: payload.next })
        return "changed"
      })
  )
