/** The cause is `-nmae`: a sort by a field that the model does not have. */
import { Model, Repository } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

export const sorted = Effect.gen(function*() {
  const users = yield* Repository.for(User)
  return yield* users.find(undefined, { sort: "-nmae" })
})
