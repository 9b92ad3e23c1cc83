/** The cause is `payload`: a handler takes the request first and the document second. */
import { Model, Repository, Resource } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), password: Schema.String }) {}

export const Users = Resource.make(User)
  .action("change_password", { payload: { next: Schema.String } }, ({ payload }, user) =>
    Effect.gen(function*() {
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: payload.next })
    }))
