/** The cause is `Date`: a `Date` in the place of a date-time of Effect. */
import { Model } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String, born: Model.DateTime }) {}

export const user = new User({ name: "Ada", born: new Date("1815-12-10") })
