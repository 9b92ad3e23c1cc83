/** Requests while the server of MongoDB takes connections and does not answer. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Schema } from "effect"
import { DocumentStore, KernelConfig, KernelEngine, Model, MongoStore, Resource } from "../../../src/index.ts"
import { doorTo } from "../../support/door.ts"
import { freshDatabase, onMongo } from "../../support/mongo.ts"
import { send, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const engine = KernelEngine.make("notes").register(Resource.make(Note))

onMongo("A frozen server / mongodb", (_, server) => {
  it.live(
    "ends the read of one document when it ends a list, long before the limit of a write",
    () =>
      Effect.gen(function*() {
        const db = yield* freshDatabase(server)
        const door = yield* doorTo(server.url)
        yield* door.open
        const host = `mongodb://127.0.0.1:${door.port}/?directConnection=true`
        const store = MongoStore.layerWith({
          host,
          db,
          serverSelectionTimeout: "2 minutes",
          socketTimeout: "2 minutes"
        })
        const limits = { ...KernelConfig.Limits.defaultValue(), queryTimeout: Duration.millis(100) }
        yield* Effect.gen(function*() {
          const documents = yield* DocumentStore.DocumentStore
          yield* documents.insertOne("Note", { _id: "a", text: "text" })
          assert.strictEqual((yield* send("GET", "/notes/a")).status, 200)
          yield* door.freeze
          for (const path of ["/notes", "/notes/a", "/notes/none"]) {
            const answer = yield* Effect.timeoutOption(send("GET", path), "20 seconds")
            assert.strictEqual(answer._tag === "Some" ? answer.value.status : "no answer", 503, path)
          }
        }).pipe(Effect.provide(serving(engine, store).pipe(Layer.provide(Layer.succeed(KernelConfig.Limits, limits)))))
      })
  )
})
