/** The cause is `No layer provides the store`: nothing provides the store. */
import { NodeRuntime } from "@effect/platform-node"
import { KernelEngine, Model } from "appkernel"
import { Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), email: Schema.String }) {}

const engine = KernelEngine.make("people").register(User)

engine.layer.pipe(
  engine.launch,
  NodeRuntime.runMain
)
