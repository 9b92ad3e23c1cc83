/**
 * A service whose configuration is read again: with tokens, languages and limits. `log` logs a line of two levels. Another service in the
 * same process has a configuration of its own.
 */
import { NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import { Anonymous, Authenticated, EmbeddedStore, Jwt, KernelEngine, KernelServer, Service } from "../../src/index.ts"

const lines = Effect.andThen(Effect.logDebug("a debug line"), Effect.logInfo("an info line"))

const Notes = Service.make("NoteService")
  .operation("log", { success: Schema.String, require: Anonymous }, () => Effect.as(lines, "logged"))
  .operation(
    "token",
    { success: Schema.String, require: Anonymous },
    () => Effect.flatMap(Jwt.Jwt, (jwt) => Effect.orDie(Effect.map(jwt.sign({ subject: "U1" }), Redacted.value)))
  )
  .operation("me", { success: Schema.String, require: Authenticated }, () => Effect.succeed("you"))

const engine = KernelEngine.make("reloaded", { development: false }).register(Notes).enableSecurity()

const other = KernelEngine.make("other").layerServe.pipe(
  Layer.provide([EmbeddedStore.layerMemory, KernelServer.layerWith({ address: "127.0.0.1", port: 0 })]),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

engine.layer.pipe(
  Layer.merge(other),
  Layer.provide([Jwt.layer, EmbeddedStore.layerMemory]),
  engine.launch,
  NodeRuntime.runMain
)
