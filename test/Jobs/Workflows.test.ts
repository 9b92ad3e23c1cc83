import { assert, it } from "@effect/vitest"
import { EmbeddedStore, Job, KernelEngine, Model, Repository, Resource, Workflows } from "appkernel"
import { Effect, Fiber, Layer, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Activity, DurableClock, Workflow } from "effect/workflow"
import * as path from "node:path"
import { freshDirectory } from "../support/folders.ts"
import { freshDatabase, onMongo, withClient } from "../support/mongo.ts"
import { linesOf, runProgram } from "../support/processes.ts"

it.live(
  "A workflow whose process is killed in each of its steps goes on after the last one that was noted, and ends once",
  () =>
    Effect.gen(function*() {
      const FOLDER = path.join(yield* freshDirectory, "data")
      const run = Effect.fnUntraced(function*(env: { readonly [name: string]: string }) {
        const running = yield* runProgram(programFile, { FOLDER, ...env })
        return { ended: yield* running.ended, lines: linesOf(running) }
      }, Effect.scoped)
      for (const KILL of ["1", "2", "3"]) {
        assert.strictEqual((yield* run({ KILL, WHEN: KILL === "2" ? "before" : "after" })).ended, "SIGKILL")
      }
      // A step is done again if its process was killed before the step was noted.
      assert.deepStrictEqual((yield* run({})).lines, [{ result: 6, times: [2, 1, 2] }])
    }).pipe(Effect.scoped),
  120_000
)

it.live("A workflow that is registered is done by the service, and begun by a job that a request has committed", () =>
  Effect.gen(function*() {
    class Invoice extends Model.Class<Invoice>()("Invoice", { id: Model.id(), state: Schema.String }) {}
    const Dunning = Workflow.make("Dunning", {
      payload: { invoice: Schema.String },
      idempotencyKey: ({ invoice }) => invoice
    })
    const set = (name: string, invoice: string) =>
      Activity.make({
        name,
        execute: Repository.for(Invoice).pipe(
          Effect.flatMap((invoices) => invoices.patch(invoice, { state: name })),
          Effect.orDie
        )
      })
    const dunning = Dunning.toLayer(Effect.fnUntraced(function*({ invoice }) {
      yield* set("reminded", invoice)
      yield* DurableClock.sleep({ name: "patience", duration: "20 millis" })
      yield* set("closed", invoice)
    }))
    const BeginDunning = Job.make("begin-dunning", { payload: { invoice: Schema.String } })
    const Invoices = Resource.make(Invoice, { methods: ["GET", "POST"], transactional: true })
      .beforePost(({ id }) => BeginDunning.enqueue({ invoice: id }))
    const engine = KernelEngine.make("invoices")
      .register(Invoices)
      .register(BeginDunning.implement((payload) => Dunning.execute(payload)))
      .register(dunning)
    const { client, idle } = yield* engine.test({
      store: Workflows.layer.pipe(Layer.provideMerge(EmbeddedStore.layerMemory))
    })
    const { result: id } = yield* client.invoices.create({ payload: { state: "sent" } })
    yield* idle
    const { state } = yield* client.invoices.get({ params: { id } })
    assert.strictEqual(state, "closed")
  }).pipe(Effect.scoped))

it.effect("An execution waits until its workflow is registered, however long that takes", () =>
  Effect.gen(function*() {
    const Greeting = Workflow.make("Greeting", {
      payload: { name: Schema.String },
      success: Schema.String,
      idempotencyKey: ({ name }) => name
    })
    const ended = yield* Effect.forkScoped(Greeting.execute({ name: "Ann" }))
    // Longer than Effect's cluster waits by itself.
    yield* TestClock.adjust("1 hour")
    yield* Layer.build(Greeting.toLayer(({ name }) => Effect.succeed(`Hello ${name}`)))
    const result = yield* Fiber.join(ended).pipe(Effect.raceFirst(Effect.forever(TestClock.adjust("1 second"))))
    assert.strictEqual(result, "Hello Ann")
  }).pipe(
    Effect.scoped,
    Effect.provide(Workflows.layer.pipe(Layer.provideMerge(EmbeddedStore.layerMemory)))
  ))

onMongo("Workflows / mongodb", (_, server) => {
  it.live(
    "are shared by four processes, and each ends with what has come of its steps",
    () =>
      Effect.gen(function*() {
        const db = yield* freshDatabase(server)
        const invoicesOf = Array.from({ length: 4 }, (_, i) => [
          ...Array.from({ length: 5 }, (_, k) => `I${i}-${k}`),
          "all"
        ])
        const serving = (i: number) =>
          runProgram(clusteredFile, {
            APPKERNEL_MONGO_HOST: server.url,
            APPKERNEL_MONGO_DB: db,
            APPKERNEL_JOBS_LOCK: "10 seconds",
            INVOICES: invoicesOf[i]!.join(",")
          })
        const running = yield* Effect.forEach([0, 1, 2, 3], serving)
        const stepsDone = withClient(server, (client) => client.db(db).collection("Step").countDocuments())
        const until = (isReached: Effect.Effect<boolean>) =>
          Effect.repeat(isReached, { until: (reached) => reached, schedule: Schedule.spaced("50 millis") })
        // SecantusDB never ends the transaction of a client that has gone, where MongoDB does after a minute.
        const victims = server.name.startsWith("SecantusDB") ? [] : [[0, 5], [1, 20]] as const
        for (const [i, steps] of victims) {
          yield* until(Effect.map(stepsDone, (count) => count >= steps))
          running[i]!.process.kill("SIGKILL")
          yield* running[i]!.ended
          running[i] = yield* serving(i)
        }
        yield* until(Effect.sync(() => running.every((one, i) => linesOf(one).length === invoicesOf[i]!.length)))
        for (const [i, one] of running.entries()) {
          const ended = new Map(linesOf(one).map(({ invoice, result }) => [invoice, result]))
          assert.deepStrictEqual(ended, new Map(linesOf(one).map(({ invoice }) => [invoice, 6])))
          assert.sameMembers(Array.from(ended.keys()), invoicesOf[i]!)
        }
        const steps = yield* withClient(server, (client) => client.db(db).collection("Step").find().toArray())
        assert.lengthOf(steps, 21 * 3)
        // Each of them has a share.
        const owners = withClient(server, (client) => client.db(db).collection("appkernel_shards").distinct("owner"))
        yield* until(Effect.map(owners, ({ length }) => length === 4))
      }).pipe(Effect.scoped),
    300_000
  )
})

const clusteredFile = path.join(import.meta.dirname, "../support/clusteredWorkflowsProgram.ts")

const programFile = path.join(import.meta.dirname, "../support/workflowProgram.ts")
