import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { awaitMigrations } from "../../../src/Http/startup/migrations.ts"
import { DocumentStore, EmbeddedStore, KernelEngine, Migration, Model } from "../../../src/index.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const first = Migration.make(
  "0001_first",
  Effect.flatMap(DocumentStore.DocumentStore, (store) => store.insertOne("Note", { _id: "N1", text: "first" }))
)

const engine = KernelEngine.make("notes").register(Note).useMigrations([first])

const configured = (value?: string) =>
  ConfigProvider.layer(
    ConfigProvider.fromUnknown(value === undefined ? {} : { appkernel: { migrations: { on_start: value } } })
  )

const start = (value?: string) => Effect.provide(awaitMigrations(engine.migrations), configured(value))

const has = Effect.flatMap(DocumentStore.DocumentStore, (store) => store.count("Note", {}))

describe("A start while migrations have not run", () => {
  const test = <A, E>(name: string, body: Effect.Effect<A, E, DocumentStore.DocumentStore>) =>
    it.effect(name, () => Effect.provide(body, Layer.fresh(EmbeddedStore.layerMemory)))

  test(
    "fails by default, and succeeds afterwards",
    Effect.gen(function*() {
      const error = yield* Effect.flip(start())
      assert.include(error.message, "Migrations have not run: 0001_first")
      assert.strictEqual(yield* has, 0)
      yield* Migration.run(engine.migrations)
      yield* start()
    })
  )

  test(
    "fails as a whole",
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const layer = Layer.provide(engine.layer, Layer.succeed(DocumentStore.DocumentStore, store))
      const error = yield* Effect.flip(Effect.scoped(Effect.provide(Layer.build(layer), configured("refuse"))))
      assert.strictEqual(error._tag, "MigrationsMissing")
    })
  )

  test(
    "runs them, or goes on",
    Effect.gen(function*() {
      yield* start("ignore")
      assert.strictEqual(yield* has, 0)
      yield* start("run")
      assert.strictEqual(yield* has, 1)
      yield* start("run")
      assert.strictEqual(yield* has, 1)
    })
  )

  test(
    "runs no more of a program that a bundler wrote with other names, wherever it has run, and tells edits by checksums",
    Effect.gen(function*() {
      const build = (effect: () => Effect.Effect<unknown>, checksum: string) =>
        Effect.provide(
          awaitMigrations([Migration.make("1a", effect), Migration.make("2b", effect, { checksum })]),
          configured("run")
        )
      const sources = Migration.make("1a", () => Effect.sync(() => "done"))
      assert.deepStrictEqual(yield* Migration.run([sources]), { applied: ["1a"] })
      yield* build(() => Effect.sync(() => "done"), "1")
      yield* build(() =>
        Effect.sync(() => {
          return "done"
        }), "1")
      yield* Migration.run([sources, Migration.make("2b", Effect.void, { checksum: "1" })])
      const edited = yield* Effect.flip(build(() => Effect.sync(() => "done"), "2"))
      assert.include(edited.message, "2b: it was edited after it has run")
    })
  )

  test(
    "goes on from notes of an earlier version, which have hashes of a bundler's texts",
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertOne("appkernel.migrations", { _id: "0001_first", hash: "c569c569c569c569", state: "done" })
      yield* start("run")
      assert.deepStrictEqual((yield* Migration.status([Migration.make("0001_first", () => Effect.void)])).edited, [])
    })
  )

  test(
    "waits for somebody to run them",
    Effect.gen(function*() {
      const waiting = yield* Effect.forkChild(start("wait"))
      yield* TestClock.adjust("1 hour")
      assert.isUndefined(waiting.pollUnsafe())
      yield* Migration.run(engine.migrations)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
      yield* start("wait")
    })
  )

  it.effect("is nothing to a test of the engine", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      assert.deepStrictEqual((yield* client.notes.list())._items, [])
    }))
})
