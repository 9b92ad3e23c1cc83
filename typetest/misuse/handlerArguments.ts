/** The cause is `next`: a handler takes the payload in the place of the request. */
import { Model, Repository, Resource } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), password: Schema.String }) {}

export const Users = Resource.make(User)
  .action("change_password", { payload: { next: Schema.String } }, (user, { next }) =>
    Effect.gen(function*() {
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: next })
    }))
