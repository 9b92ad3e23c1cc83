/** The cause is `is a permission, and a text is not`: a role is named by a text. */
import { Model, Resource } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), email: Schema.String }) {}

export const Users = Resource.make(User).require("admin")
