import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, EmbeddedStore, Migration } from "../../src/index.ts"
import { onMongo } from "../support/mongo.ts"

const inStore = <A, E>(use: (store: DocumentStore.DocumentStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(DocumentStore.DocumentStore, use)

const insert = (id: string, options?: Migration.Options) =>
  Migration.make(id, inStore((store) => store.insertOne("things", { _id: id })), options)

const things = inStore((store) =>
  Effect.map(store.find("things", { sort: { _id: 1 } }), (found) => found.map(({ _id }) => _id))
)

const contract = <E>(layer: Layer.Layer<DocumentStore.DocumentStore, E>) => {
  const test = <A, E2>(name: string, body: Effect.Effect<A, E2, DocumentStore.DocumentStore>) =>
    it.effect(name, () => Effect.provide(body, Layer.fresh(layer)))

  test(
    "run once, in their order, and are noted",
    Effect.gen(function*() {
      const [a, b, c] = [insert("1a"), insert("2b", { transaction: false }), insert("3c")] as const
      assert.deepStrictEqual(yield* Migration.run([a, b]), { applied: ["1a", "2b"] })
      assert.deepStrictEqual(yield* Migration.run([a, b]), { applied: [] })
      assert.deepStrictEqual((yield* Migration.status([a, b, c])).pending, ["3c"])
      assert.deepStrictEqual(yield* Migration.run([a, b, c]), { applied: ["3c"] })
      assert.deepStrictEqual(yield* things, ["1a", "2b", "3c"])
      assert.deepStrictEqual(yield* Migration.status([a, c]), {
        applied: ["1a", "3c"],
        pending: [],
        interrupted: [],
        edited: [],
        unknown: ["2b"]
      })
      assert.include(
        (yield* Effect.flip(Migration.run([a, c]))).message,
        "2b: it has run, and this program does not know"
      )
      const late = yield* Effect.flip(Migration.run([a, insert("1b"), b, c]))
      assert.include(late.message, "1b: it has not run, and stands before 3c")
      assert.deepStrictEqual(yield* things, ["1a", "2b", "3c"])
    })
  )

  test(
    "that fail leave nothing in a transaction, and those after them do not run",
    Effect.gen(function*() {
      const failing = Migration.make("2b", Effect.andThen(insert("2b").effect, Effect.fail("no paper")))
      const error = yield* Effect.flip(Migration.run([insert("1a"), failing, insert("3c")]))
      assert.strictEqual(error.message, "Migration 2b: no paper")
      assert.deepStrictEqual(yield* things, ["1a"])
      assert.deepStrictEqual(yield* Migration.run([insert("1a"), insert("2b"), insert("3c")]), {
        applied: ["2b", "3c"]
      })
    })
  )

  test(
    "say what needs no transaction, and run again without one",
    Effect.gen(function*() {
      const index = inStore((store) => store.createIndexes("things", [{ name: "n_1", key: { n: 1 } }]))
      const refused = yield* Effect.flip(Migration.run([Migration.make("1a", index)]))
      assert.include(refused.message, "Declare it with { transaction: false }")
      let runs = 0
      const twice = Effect.andThen(index, Effect.suspend(() => ++runs === 1 ? Effect.fail("interrupted") : Effect.void))
      const migration = Migration.make("1a", twice, { transaction: false })
      yield* Effect.flip(Migration.run([migration]))
      assert.deepStrictEqual((yield* Migration.status([migration])).interrupted, ["1a"])
      assert.deepStrictEqual(yield* Migration.run([migration]), { applied: ["1a"] })
      assert.strictEqual(runs, 2)
      assert.deepStrictEqual((yield* Migration.status([migration])).interrupted, [])
    })
  )

  test(
    "that have failed without a transaction run in one when they are declared so",
    Effect.gen(function*() {
      const failing = Migration.make("1a", Effect.fail("no transaction takes this"), { transaction: false })
      yield* Effect.flip(Migration.run([failing]))
      assert.deepStrictEqual(yield* Migration.run([insert("1a")]), { applied: ["1a"] })
      assert.deepStrictEqual(yield* things, ["1a"])
      assert.deepStrictEqual((yield* Migration.status([insert("1a")])).interrupted, [])
    })
  )

  test(
    "that were edited are noticed, by the text of their function or by a checksum",
    Effect.gen(function*() {
      const one = Migration.make("1a", () => Effect.succeed(1))
      const spaced = Migration.make("1a", () =>
        Effect.succeed(
          1
        ))
      const two = Migration.make("1a", () => Effect.succeed(2))
      yield* Migration.run([one, insert("2b", { checksum: "first" })])
      const unchanged = [spaced, insert("2b", { checksum: "first" })]
      assert.deepStrictEqual(yield* Migration.run(unchanged), { applied: [] })
      const edited = [two, insert("2b", { checksum: "second" })]
      assert.deepStrictEqual((yield* Migration.status(edited)).edited, ["1a", "2b"])
      assert.include((yield* Effect.flip(Migration.run(edited))).message, "1a: it was edited after it has run")
      assert.deepStrictEqual(yield* Migration.run(edited, { acceptEdited: true }), { applied: [] })
      assert.deepStrictEqual((yield* Migration.status(edited)).edited, [])
    })
  )
}

describe("Migrations / memory", () => {
  contract(EmbeddedStore.layerMemory)

  it.effect("of a process that has died go on when its lock has stood still for the lease", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertOne("appkernel.migrations", {
        _id: "appkernel.lock",
        holder: "gone",
        beat: 3,
        process: "process 1 on elsewhere"
      })
      const waiting = yield* Deferred.make<string>()
      const run = yield* Effect.forkChild(
        Migration.run([insert("1a")], { onWait: (holder) => Deferred.succeed(waiting, holder) })
      )
      assert.strictEqual(yield* Deferred.await(waiting), "process 1 on elsewhere")
      yield* TestClock.adjust("14 seconds")
      assert.deepStrictEqual(yield* things, [])
      // The other one lives after all.
      yield* store.updateOne("appkernel.migrations", { _id: "appkernel.lock" }, { $inc: { beat: 1 } })
      yield* TestClock.adjust("14 seconds")
      assert.deepStrictEqual(yield* things, [])
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(yield* Fiber.join(run), { applied: ["1a"] })
      assert.isUndefined(yield* store.findById("appkernel.migrations", "appkernel.lock"))
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("stop when another process has taken the lock, and commit nothing", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const begun = yield* Deferred.make<void>()
      const slow = Migration.make(
        "1a",
        Effect.gen(function*() {
          yield* insert("1a").effect
          yield* Deferred.succeed(begun, undefined)
          yield* Effect.sleep("1 hour")
        })
      )
      const run = yield* Effect.forkChild(Effect.flip(Migration.run([slow])))
      yield* Deferred.await(begun)
      // It keeps its lock for as long as it takes.
      yield* TestClock.adjust("30 minutes")
      const [lock] = yield* store.find("appkernel.migrations", { filter: { _id: "appkernel.lock" } })
      assert.isAbove(Number(lock?.["beat"]), 100)
      yield* store.updateOne("appkernel.migrations", { _id: "appkernel.lock" }, { $set: { holder: "other" } })
      yield* TestClock.adjust("5 seconds")
      assert.include((yield* Fiber.join(run)).message, "the lock was lost")
      assert.deepStrictEqual(yield* things, [])
      // The lock of the other one stays.
      assert.isDefined(yield* store.findById("appkernel.migrations", "appkernel.lock"))
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("of several fibers at once run once", () =>
    Effect.gen(function*() {
      const both = [insert("1a"), insert("2b", { transaction: false })]
      const runs = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 5 }, () => Migration.run(both)), { concurrency: 5 })
      )
      yield* TestClock.adjust("1 minute")
      const applied = (yield* Fiber.join(runs)).flatMap(({ applied }) => applied)
      assert.deepStrictEqual(applied, ["1a", "2b"])
      assert.deepStrictEqual(yield* things, ["1a", "2b"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})

onMongo("Migrations / mongodb", (layer) => contract(layer))
