/** Jobs of services whose processes are killed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as path from "node:path"
import { DocumentStore, EmbeddedStore, MongoStore } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { freePort, printed, runProgram } from "../support/processes.ts"

const clients = 8

const ordersOfEach = 12

describe("Jobs of a service that is killed again and again", () => {
  it.live("are each done, none without its write, on the store in a folder", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      yield* ordersThroughKills({ FOLDER: folder }, 1, 3)
      yield* assertReceipts.pipe(Effect.provide(EmbeddedStore.layerWith({ path: folder })))
    }).pipe(Effect.scoped), 120_000)

  onMongo("on a server", (_, server) => {
    it.live("are each done, none without its write, by four processes", () =>
      Effect.gen(function*() {
        const db = yield* freshDatabase(server)
        yield* ordersThroughKills({ APPKERNEL_MONGO_HOST: server.url, APPKERNEL_MONGO_DB: db }, 4, 1)
        yield* assertReceipts.pipe(Effect.provide(MongoStore.layerWith({ host: server.url, db })))
      }).pipe(Effect.scoped), 120_000)
  })
})

/** Runs processes, and clients who repeat their requests until they are answered, while one process after the other is killed. */
const ordersThroughKills = (env: { readonly [name: string]: string }, processes: number, kills: number) =>
  Effect.gen(function*() {
    const ports = yield* Effect.all(Array.from({ length: processes }, () => freePort))
    let acknowledged = 0
    let isDone = false
    const serving = (port: number) =>
      runProgram(programFile, {
        ...env,
        APPKERNEL_SERVER_PORT: String(port),
        APPKERNEL_JOBS_LOCK: "1 second"
      })
    const killer = Effect.gen(function*() {
      const running = yield* Effect.forEach(ports, (port) => serving(port))
      for (let kill = 0; kill < kills; kill++) {
        const victim = kill % processes
        yield* printed(running[victim]!, "Listening")
        // At some moment of the next orders.
        const until = acknowledged + 1 + Math.floor(Math.random() * clients * ordersOfEach / kills / 2)
        yield* Effect.repeat(Effect.sync(() => isDone || acknowledged >= until), {
          until: (isReached) => isReached,
          schedule: Schedule.spaced("1 milli")
        })
        running[victim]!.process.kill("SIGKILL")
        yield* running[victim]!.ended
        running[victim] = yield* serving(ports[victim]!)
      }
    })
    const post = (code: string, port: number) =>
      Effect.tryPromise(() =>
        fetch(`http://127.0.0.1:${port}/orders`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ code })
        })
      ).pipe(Effect.filterOrFail(({ status }) => status === 201 || status === 409))
    const client = Effect.fnUntraced(function*(name: number) {
      for (let order = 0; order < ordersOfEach; order++) {
        const port = ports[(name + order) % processes]!
        yield* Effect.retry(post(`${name}-${order}`, port), Schedule.spaced("20 millis"))
        acknowledged++
      }
    })
    yield* Effect.all([
      killer,
      Effect.andThen(
        Effect.forEach(Array.from({ length: clients }, (_, i) => i), client, { concurrency: clients }),
        Effect.sync(() => {
          isDone = true
        })
      )
    ], { concurrency: 2 })
    // What the killed ones have left over is done by others.
    yield* Effect.repeat(isIdle(ports[0]!), { until: (idle) => idle, schedule: Schedule.spaced("50 millis") })
  }).pipe(Effect.scoped)

/** Whether no job waits or runs. */
const isIdle = (port: number): Effect.Effect<boolean> =>
  Effect.tryPromise(async () => {
    for (const state of ["waiting", "running"]) {
      const answer = await fetch(`http://127.0.0.1:${port}/jobs?state=${state}&page_size=1`)
      const { _items } = await answer.json() as { readonly _items: ReadonlyArray<unknown> }
      if (_items.length > 0) return false
    }
    return true
  }).pipe(Effect.orElseSucceed(() => false))

const programFile = path.join(import.meta.dirname, "../support/jobsProgram.ts")

/** Each order has a receipt, and each receipt an order. */
const assertReceipts = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  const codes = (collection: string) =>
    Effect.map(store.distinct(collection, "code", {}), (all) => all.map(String).toSorted())
  const orders = yield* codes("Order")
  assert.lengthOf(orders, clients * ordersOfEach)
  assert.deepStrictEqual(yield* codes("Receipt"), orders)
  assert.strictEqual(yield* store.count("QueuedJob", { state: "dead" }), 0)
  assert.strictEqual(yield* store.count("QueuedJob", {}), orders.length)
})
