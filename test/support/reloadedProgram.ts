/** A service whose configuration is read again: with tokens, languages and limits. `log` logs a line of two levels. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Anonymous, Authenticated, EmbeddedStore, Jwt, KernelEngine, Service } from "../../src/index.ts"

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

engine.layer.pipe(
  Layer.provide([Jwt.layer, EmbeddedStore.layerMemory]),
  engine.launch,
  NodeRuntime.runMain
)
