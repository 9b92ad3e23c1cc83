/** The cause is `No layer provides Accounts`: nothing says who signs in. */
import { NodeRuntime } from "@effect/platform-node"
import { EmbeddedStore, Jwt, KernelEngine, Model, Tokens } from "appkernel"
import { Layer, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), email: Schema.String }) {}

const engine = KernelEngine.make("people").register(User).register(Tokens.service).enableSecurity()

engine.layer.pipe(
  Layer.provide([EmbeddedStore.layer, Jwt.layer]),
  engine.launch,
  NodeRuntime.runMain
)
