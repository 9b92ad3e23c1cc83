/** What callers are answered when the MongoDB server takes connections and does not answer. */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Schema } from "effect"
import { DocumentStore, KernelConfig, KernelEngine, Model, MongoStore } from "../../../src/index.ts"
import { doorTo } from "../../support/door.ts"
import { freshDatabase, onMongo } from "../../support/mongo.ts"
import { atOnce, type Method, refused, send, serving } from "../../support/rest.ts"

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id(),
  name: Schema.String,
  ...Model.versioned
}) {}

const engine = KernelEngine.make("frozen").register(Thing, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

// What no request takes twice of, though the driver's own heartbeat would notice only after ten seconds.
const patience = "8 seconds"

onMongo("A service with a frozen server / mongodb", (_, server) => {
  it.live("responds with 503 to concurrent reads and writes, by the configured limits", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const door = yield* doorTo(server.url)
      yield* door.open
      const env = {
        APPKERNEL_MONGO_HOST: `mongodb://127.0.0.1:${door.port}/?directConnection=true`,
        APPKERNEL_MONGO_DB: db,
        APPKERNEL_MONGO_CONNECT_TIMEOUT: "300 millis",
        APPKERNEL_MONGO_SERVER_SELECTION_TIMEOUT: "0.3",
        APPKERNEL_MONGO_SOCKET_TIMEOUT: "600 millis"
      }
      const limits = KernelConfig.Limits.defaultValue()
      const service = serving(engine, MongoStore.layer).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provide(Layer.succeed(KernelConfig.Limits, { ...limits, queryTimeout: Duration.millis(300) }))
      )
      yield* Effect.provide(
        Effect.gen(function*() {
          assert.include((yield* DocumentStore.DocumentStore).description, db)
          // A busy machine may need more than the limits for what this is not about.
          const created = Effect.filterOrFail(
            send("POST", "/things", { name: "a" }, { prefer: "return=representation" }),
            ({ status }) => status === 201
          )
          const { id } = (yield* Effect.eventually(created)).body
          yield* door.freeze
          const requests: ReadonlyArray<readonly [Method, string, unknown?]> = [
            ["GET", `/things/${id}`],
            ["GET", "/things"],
            ["GET", "/things?count=estimated"],
            ["GET", "/things/aggregate?pipe=[]"],
            ["POST", "/things", { name: "b" }],
            ["POST", "/things", [{ name: "c" }, { name: "d" }]],
            ["PUT", `/things/${id}`, { name: "e" }],
            ["PATCH", `/things/${id}`, { name: "f" }],
            ["DELETE", `/things/${id}`]
          ]
          const answers = yield* atOnce(4 * requests.length, (i) => {
            const [method, path, body] = requests[i % requests.length]!
            return Effect.timeout(send(method, path, body), patience)
          })
          for (const answer of answers) refused(503, answer)
          yield* door.thaw
          const read = Effect.filterOrFail(send("GET", `/things/${id}`), ({ status }) => status === 200)
          assert.include((yield* Effect.eventually(read)).body, { id })
        }),
        yield* Effect.eventually(Layer.build(service))
      )
    }))
})
