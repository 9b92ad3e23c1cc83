/** The cause is `Mailer`: a service that a handler needs is not provided. */
import { NodeRuntime } from "@effect/platform-node"
import { EmbeddedStore, KernelEngine, Model, Resource } from "appkernel"
import { Context, Effect, Layer, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id(), email: Schema.String }) {}

class Mailer extends Context.Service<Mailer, { readonly send: (to: string) => Effect.Effect<void> }>()("Mailer") {}

const Users = Resource.make(User, { methods: ["GET", "POST"] })
  .afterPost(({ email }) => Effect.flatMap(Mailer, ({ send }) => send(email)))

const engine = KernelEngine.make("people").register(Users, { urlBase: "/api/v1" })

engine.layer.pipe(
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
