/**
 * A service that may have several workers: `whoami` says which one answers, `slow` takes a second, `crash` ends it, and
 * `stay` keeps it from ending. Each process says its number when it begins.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import process from "node:process"
import { EmbeddedStore, KernelEngine, MongoStore, Service } from "../../src/index.ts"
import { CurrentWorker } from "../../src/internal/worker.ts"

process.stdout.write(`${JSON.stringify({ message: "begins", pid: process.pid })}\n`)

const Who = Schema.Struct({ pid: Schema.Int })

const who = Effect.sync(() => ({ pid: process.pid }))

let isToStay = false

const Works = Service.make("WorkService")
  .operation("whoami", { success: Who }, () => who)
  .operation("slow", { success: Who }, () => Effect.delay(who, "1 second"))
  .operation("crash", { success: Who }, () => Effect.sync(() => process.exit(7)))
  .operation("stay", { success: Who }, () =>
    Effect.andThen(
      Effect.sync(() => {
        isToStay = true
      }),
      who
    ))

const stored = Layer.effectDiscard(Effect.andThen(
  Effect.logInfo("what is done at a start"),
  Effect.addFinalizer(() => Effect.suspend(() => isToStay ? Effect.never : Effect.void))
))

const store = {
  embedded: EmbeddedStore.layer,
  mongo: MongoStore.layer,
  // Each worker has one of its own.
  own: Layer.provide(EmbeddedStore.layerMemory, Layer.succeed(CurrentWorker, undefined))
}

const kind = process.env["WORKERS_STORE"]

const engine = KernelEngine.make("workers", { development: false }).register(Works)

stored.pipe(
  Layer.provideMerge(engine.layer),
  Layer.provide(kind === "embedded" || kind === "own" ? store[kind] : store.mongo),
  engine.launch,
  NodeRuntime.runMain
)
