/** The cause is `urlbase`: a registration has an option that does not exist. */
import { KernelEngine, Model } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

export const engine = KernelEngine.make("people").register(User, { methods: ["GET", "POST"], urlbase: "/api/v1" })
