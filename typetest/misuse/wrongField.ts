/** The cause is `nmae`: a filter on a field that the model does not have. */
import { Model, Repository } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", {
  id: Model.id(),
  name: Schema.String,
  address: Schema.Struct({ city: Schema.String })
}) {}

export const found = Effect.gen(function*() {
  const users = yield* Repository.for(User)
  return yield* users.find(($) => $.nmae.equals("Jane"))
})
