import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, Logger, Schedule, Schema } from "effect"
import { connect } from "node:net"
import * as KernelServer from "../../src/Http/KernelServer.ts"
import {
  DocumentStore,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  Repository,
  type RepositoryError
} from "../../src/index.ts"
import { freePort } from "../support/processes.ts"
import { routeStores } from "../support/storeMatrix.ts"
import { restContract } from "./KernelEngine.contract.ts"

routeStores(restContract)

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  text: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

const engine = KernelEngine.make("notes").register(Note, { methods: ["GET"] })

describe("KernelEngine / the log of a start", () => {
  it.live("logs at the end that it listens", () =>
    Effect.gen(function*() {
      const { lines, started, unread } = yield* startOn(() => Effect.void)
      assert.isTrue(started)
      // The environment configures it.
      assert.strictEqual(unread, "Info")
      assert.strictEqual(lines[0], "Documents are in the embedded store in memory")
      assert.strictEqual(lines[1], "Endpoints: notes at /notes")
      assert.match(lines[2] ?? "", /^Listening on http:\/\/127\.0\.0\.1:\d+$/)
      assert.lengthOf(lines, 3)
    }))

  it.live("does not log that it listens if an index can't be built", () =>
    Effect.gen(function*() {
      const { lines, started, unread } = yield* startOn((store) =>
        Effect.gen(function*() {
          yield* Effect.provideService(Repository.make(Note), DocumentStore.DocumentStore, store)
          const [index = { name: "", key: {} }] = yield* store.listIndexes("Note")
          yield* store.dropIndexes("Note", [index.name])
          yield* store.createIndexes("Note", [{ name: index.name, key: { text: -1 } }])
        }), {})
      assert.isFalse(started)
      assert.deepStrictEqual(lines, [])
      // Nothing configures it.
      assert.strictEqual(unread, "Warn")
    }))

  it.live("has nothing of layerServe", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const served = Layer.build(Layer.provide(engine.layerServe, [EmbeddedStore.layerMemory, anyPort]))
      yield* Effect.provide(served, Logger.layer([Logger.make(({ message }) => lines.push(message))]))
      assert.deepStrictEqual(lines, [])
    }))
})

describe("KernelEngine / the port of a start", () => {
  it.live("accepts no connection before everything is ready, and then runs the waiting effects", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const connected = Effect.callback<string>((resume) => {
        const socket = connect({ host: "127.0.0.1", port })
        const end = (outcome: string) => resume(Effect.sync(() => void socket.destroy()).pipe(Effect.as(outcome)))
        socket.once("connect", () => end("connected"))
        socket.once("error", (error: NodeJS.ErrnoException) => end(String(error.code)))
      })
      const outcomes: Array<string> = []
      const probe = Layer.effectDiscard(Effect.map(connected, (outcome) => void outcomes.push(outcome)))
      const announced = yield* Deferred.make<string>()
      const announcement = Layer.effectDiscard(
        KernelServer.whenListening(Effect.flatMap(connected, (outcome) => Deferred.succeed(announced, outcome)))
      )
      const environment = ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_PORT: String(port) } })
      // Before the server, among the routes, and behind the engine.
      const service = probe.pipe(
        Layer.provide(engine.use(Layer.fresh(probe)).layer),
        Layer.provide([Layer.fresh(probe), announcement, EmbeddedStore.layerMemory])
      )
      const launched = yield* Effect.forkScoped(Effect.provide(
        engine.launch(service),
        [ConfigProvider.layer(environment), Logger.layer([])]
      ))
      yield* connected.pipe(
        Effect.repeat({ until: (outcome) => outcome === "connected", schedule: Schedule.spaced("20 millis") })
      )
      assert.deepStrictEqual(outcomes, ["ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED"])
      assert.strictEqual(yield* Deferred.await(announced), "connected")
      yield* Fiber.interrupt(launched)
    }))

  it.live("ends in a sentence where another engine of the process has it, or the server", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const environment = ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_PORT: String(port) } })
      const endOf = <E>(service: Layer.Layer<never, E, DocumentStore.DocumentStore>) =>
        Effect.provide(
          Effect.flip(engine.launch(Layer.provide(service, EmbeddedStore.layerMemory))),
          [ConfigProvider.layer(environment), Logger.layer([])]
        )
      const two = yield* endOf(Layer.effectDiscard(Effect.all([Layer.build(engine.layer), Layer.build(other.layer)])))
      assert.strictEqual(two.detail, `Can't listen on 127.0.0.1:${port}: another server of this process has the port`)
      for (const second of [other, engine]) {
        const service = Layer.merge(Layer.fresh(engine.layerServe), Layer.fresh(second.layerServe))
        const { detail } = yield* endOf(Layer.effectDiscard(Layer.build(Layer.provide(service, KernelServer.layer))))
        assert.strictEqual(
          detail,
          "Two engines serve on one HTTP server: register everything with one, or give each a server of its own"
        )
      }
      // One after the other they may.
      const server = yield* Layer.build(anyPort)
      for (const one of [engine, other]) {
        yield* Effect.scoped(
          Effect.provide(Layer.build(Layer.provide(one.layerServe, EmbeddedStore.layerMemory)), server)
        )
      }
    }))
})

const other = KernelEngine.make("others")

const anyPort = KernelServer.layerWith({ address: "127.0.0.1", port: 0 })

// internal

/** Whether an engine starts on a store that was prepared, and what the log says. */
const startOn = Effect.fnUntraced(function*(
  prepare: (store: DocumentStore.DocumentStore["Service"]) => Effect.Effect<void, RepositoryError.StoreError>,
  env: { readonly [name: string]: string } = { APPKERNEL_SERVER_PORT: "0" }
) {
  const lines: Array<string> = []
  const levels: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    levels.push(logLevel)
    lines.push(String(message))
  })
  const store = yield* EmbeddedStore.makeMemory
  yield* prepare(store)
  const environment = ConfigProvider.fromEnv({ env })
  const exit = yield* Effect.exit(Layer.build(engine.layer)).pipe(
    Effect.provideService(DocumentStore.DocumentStore, store),
    Effect.provide([ConfigProvider.layer(environment), Logger.layer([logger])])
  )
  assert.match(lines.shift() ?? "", /^No cfg\.yml is read: start the service by engine\.launch, or/u)
  return { lines, started: Exit.isSuccess(exit), unread: levels[0] }
})
