/** The cause is `email`: an instance lacks a field that is required. */
import { Model } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String, email: Schema.String }) {}

export const jane = new User({ name: "Jane" })
