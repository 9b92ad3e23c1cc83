/** A service that may have several workers: `whoami` says which one answers, `slow` takes a second, and `crash` ends it. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import process from "node:process"
import { EmbeddedStore, KernelEngine, MongoStore, Service } from "../../src/index.ts"

const Who = Schema.Struct({ pid: Schema.Int })

const who = Effect.sync(() => ({ pid: process.pid }))

const Works = Service.make("WorkService")
  .operation("whoami", { success: Who }, () => who)
  .operation("slow", { success: Who }, () => Effect.delay(who, "1 second"))
  .operation("crash", { success: Who }, () => Effect.sync(() => process.exit(7)))

const stored = Layer.effectDiscard(Effect.logInfo("what is done at a start"))

const engine = KernelEngine.make("workers", { development: false }).register(Works)

stored.pipe(
  Layer.provideMerge(engine.layer),
  Layer.provide(process.env["WORKERS_STORE"] === "embedded" ? EmbeddedStore.layer : MongoStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
