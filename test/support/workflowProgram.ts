/**
 * A workflow of three steps with a wait between them, on the embedded store in a folder (`FOLDER`). The process kills itself in the
 * step `KILL`, before or after the work of it (`WHEN`), and otherwise prints how often each step was done, and what has come of it.
 */
import { Effect, Layer, Schema } from "effect"
import { Activity, DurableClock, Workflow } from "effect/workflow"
import process from "node:process"
import { DocumentStore, EmbeddedStore, Workflows } from "../../src/index.ts"

const { FOLDER: path = "", KILL: kill, WHEN: when } = process.env

const Dunning = Workflow.make("Dunning", {
  payload: { invoice: Schema.String },
  success: Schema.Finite,
  idempotencyKey: ({ invoice }) => invoice
})

const die = (step: number, now: string) =>
  Effect.sync(() => {
    if (String(step) === kill && when === now) process.kill(process.pid, "SIGKILL")
  })

const step = (number: number) =>
  Activity.make({
    name: `step ${number}`,
    success: Schema.Finite,
    execute: Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* die(number, "before")
      yield* store.updateOne("Step", { _id: number }, { $inc: { times: 1 } }, { upsert: true })
      yield* die(number, "after")
      return number
    }).pipe(Effect.orDie)
  })

const DunningLive = Dunning.toLayer(() =>
  Effect.gen(function*() {
    const first = yield* step(1)
    yield* DurableClock.sleep({ name: "a wait", duration: "50 millis", inMemoryThreshold: 0 })
    const second = yield* step(2)
    return first + second + (yield* step(3))
  })
)

const program = Effect.gen(function*() {
  const result = yield* Dunning.execute({ invoice: "I1" })
  // It has ended: another execution does nothing.
  yield* Dunning.execute({ invoice: "I1" })
  const store = yield* DocumentStore.DocumentStore
  const steps = yield* store.find("Step", { filter: {}, sort: { _id: 1 } })
  process.stdout.write(`${JSON.stringify({ result, times: steps.map(({ times }) => times) })}\n`)
}).pipe(
  Effect.provide(
    DunningLive.pipe(Layer.provideMerge(Workflows.layer), Layer.provideMerge(EmbeddedStore.layerWith({ path })))
  )
)

await Effect.runPromise(program)
