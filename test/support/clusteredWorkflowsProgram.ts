/**
 * Workflows of three steps with a wait between them, on MongoDB: the process executes those of its `INVOICES`, and says which have ended. It
 * does the steps of those of others, too.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { Activity, DurableClock, Workflow } from "effect/workflow"
import process from "node:process"
import { DocumentStore, MongoStore, Workflows } from "../../src/index.ts"

const Dunning = Workflow.make("Dunning", {
  payload: { invoice: Schema.String },
  success: Schema.Finite,
  idempotencyKey: ({ invoice }) => invoice
})

const step = (invoice: string, number: number) =>
  Activity.make({
    name: `step ${number}`,
    success: Schema.Finite,
    execute: Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.updateOne("Step", { _id: `${invoice} ${number}` }, { $set: { number } }, { upsert: true })
      return number
    }).pipe(Effect.orDie)
  })

const DunningLive = Dunning.toLayer(({ invoice }) =>
  Effect.gen(function*() {
    const first = yield* step(invoice, 1)
    yield* DurableClock.sleep({ name: "a wait", duration: "1 second", inMemoryThreshold: 0 })
    const second = yield* step(invoice, 2)
    return first + second + (yield* step(invoice, 3))
  })
)

const program = Effect.gen(function*() {
  yield* Effect.forEach(
    (process.env["INVOICES"] ?? "").split(","),
    (invoice) =>
      Effect.map(Dunning.execute({ invoice }), (result) => {
        process.stdout.write(`${JSON.stringify({ invoice, result })}\n`)
      }),
    { concurrency: "unbounded" }
  )
  return yield* Effect.never
}).pipe(Effect.provide(DunningLive.pipe(Layer.provideMerge(Workflows.layer), Layer.provideMerge(MongoStore.layer))))

NodeRuntime.runMain(program)
