/** The cause is `Promise<string>`: a handler is an async function in the place of an effect. */
import { Model, Resource } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

export const Users = Resource.make(User)
  .action("greet", { success: Schema.String }, async (user) => `Hello ${user.name}`)
