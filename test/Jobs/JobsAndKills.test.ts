/** Jobs of services whose processes are killed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { readFile } from "node:fs/promises"
import * as path from "node:path"
import { DocumentStore, EmbeddedStore, MongoStore } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { freePort, printed, runProgram } from "../support/processes.ts"
import { type Received, receiver } from "../support/receiver.ts"

const clients = 8

const ordersOfEach = 12

describe("Jobs of a service that is killed again and again", () => {
  it.live("are each done, none without its write, on the store in a folder", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      yield* ordersThroughKills({ FOLDER: folder }, 1, 3)
      yield* assertReceipts.pipe(Effect.provide(EmbeddedStore.layerWith({ path: folder })))
    }).pipe(Effect.scoped), 120_000)

  it.live(
    "are each done, and its webhooks tell of each order, and of no other, from the store in a folder",
    () =>
      Effect.gen(function*() {
        const folder = path.join(yield* freshDirectory, "data")
        const told = yield* receiver()
        yield* ordersThroughKills({ FOLDER: folder, WEBHOOKS: told.url }, 1, 3, areAllTold(told))
        yield* Effect.andThen(assertReceipts, assertTold(told)).pipe(
          Effect.provide(EmbeddedStore.layerWith({ path: folder }))
        )
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "are dead letters if it is they who kill it, after their attempts and one that could not be counted at most",
    () =>
      Effect.gen(function*() {
        const directory = yield* freshDirectory
        const [folder, begins] = [path.join(directory, "data"), path.join(directory, "begins")]
        const port = yield* freePort
        const env = { FOLDER: folder, BEGINS: begins, APPKERNEL_SERVER_PORT: String(port) }
        const first = yield* runProgram(programFile, env)
        yield* printed(first, "Listening")
        // The answer may be lost with the process.
        yield* Effect.exit(post("orders", { code: "deadly" }, port))
        yield* first.ended
        yield* Effect.gen(function*() {
          // The job may kill it before it listens.
          const { ended } = yield* runProgram(programFile, env)
          return yield* Effect.raceFirst(
            Effect.as(ended, false),
            Effect.repeat(isDead(port), { until: (dead) => dead, schedule: Schedule.spaced("20 millis") })
          )
        }).pipe(Effect.scoped, Effect.repeat({ until: (dead) => dead }))
        assert.oneOf((yield* Effect.promise(() => readFile(begins, "utf8"))).split("\n").length - 1, [3, 4])
      }).pipe(Effect.scoped),
    120_000
  )

  onMongo("on a server", (_, server) => {
    it.live(
      "are each done, none without its write, and its webhooks tell of each order, and of no other, by four processes",
      () =>
        Effect.gen(function*() {
          const db = yield* freshDatabase(server)
          const told = yield* receiver()
          yield* ordersThroughKills(
            { APPKERNEL_MONGO_HOST: server.url, APPKERNEL_MONGO_DB: db, WEBHOOKS: told.url },
            4,
            1,
            areAllTold(told)
          )
          yield* Effect.andThen(assertReceipts, assertTold(told)).pipe(
            Effect.provide(MongoStore.layerWith({ host: server.url, db }))
          )
        }).pipe(Effect.scoped),
      120_000
    )
  })
})

/** Runs processes, and clients who repeat their requests until they are answered, while one process after the other is killed. */
const ordersThroughKills = (
  env: { readonly [name: string]: string },
  processes: number,
  kills: number,
  isTold = Effect.succeed(true)
) =>
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
    const client = Effect.fnUntraced(function*(name: number) {
      for (let order = 0; order < ordersOfEach; order++) {
        const port = ports[(name + order) % processes]!
        yield* Effect.retry(post("orders", { code: `${name}-${order}` }, port), Schedule.spaced("20 millis"))
        acknowledged++
      }
    })
    const subscription = { id: "WS1", url: env["WEBHOOKS"], types: ["order.created"] }
    const subscribed = env["WEBHOOKS"] === undefined
      ? Effect.void
      : Effect.retry(post("subscriptions", subscription, ports[0]!), Schedule.spaced("20 millis"))
    yield* Effect.all([
      killer,
      Effect.andThen(
        Effect.andThen(
          subscribed,
          Effect.forEach(Array.from({ length: clients }, (_, i) => i), client, { concurrency: clients })
        ),
        Effect.sync(() => {
          isDone = true
        })
      )
    ], { concurrency: 2 })
    // What the killed ones have left over is done by others.
    const isEnded = Effect.zipWith(isTold, isIdle(ports[0]!), (told, idle) => told && idle)
    yield* Effect.repeat(isEnded, { until: (idle) => idle, schedule: Schedule.spaced("50 millis") })
  }).pipe(Effect.scoped)

const post = (path: string, body: object, port: number) =>
  Effect.tryPromise(() =>
    fetch(`http://127.0.0.1:${port}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  ).pipe(Effect.filterOrFail(({ status }) => status === 201 || status === 409))

const areAllTold = ({ received }: { readonly received: ReadonlyArray<Received> }) =>
  Effect.sync(() => new Set(received.map(({ headers }) => headers["webhook-id"])).size >= clients * ordersOfEach)

/** The receiver was told of each order, and of nothing else. */
const assertTold = ({ received }: { readonly received: ReadonlyArray<Received> }) =>
  Effect.gen(function*() {
    const store = yield* DocumentStore.DocumentStore
    const orders = yield* store.find("Order", {})
    assert.lengthOf(orders, clients * ordersOfEach)
    const told = new Map(received.map(({ body, headers }) => [JSON.parse(body).subject, headers["webhook-id"]]))
    assert.sameMembers([...told.keys()], orders.map(({ _id }) => String(_id)))
    // An order is one event, however often it was sent.
    assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, orders.length)
    assert.strictEqual(yield* store.count("WebhookDelivery", { state: "delivered" }), orders.length)
  })

/** Whether no job waits or runs. */
const isIdle = (port: number): Effect.Effect<boolean> =>
  // One may go from either to the other meanwhile.
  Effect.forEach(["waiting", "running", "waiting"], (state) => hasJob(port, state)).pipe(
    Effect.map((has) => !has.includes(true)),
    Effect.orElseSucceed(() => false)
  )

const isDead = (port: number): Effect.Effect<boolean> => Effect.orElseSucceed(hasJob(port, "dead"), () => false)

const hasJob = (port: number, state: string) =>
  Effect.tryPromise(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/jobs?state=${state}&page_size=1`)
    const { _items } = await answer.json() as { readonly _items: ReadonlyArray<unknown> }
    return _items.length > 0
  })

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
  assert.strictEqual(yield* store.count("QueuedJob", { queue: "send-receipt" }), orders.length)
})
