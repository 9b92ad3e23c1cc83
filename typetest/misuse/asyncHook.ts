/** The cause is `An effect is needed here`: a hook is an async function in the place of an effect. */
import { Model, Resource } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

export const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .beforePost(async (user) => {
    console.log(user.name)
  })
