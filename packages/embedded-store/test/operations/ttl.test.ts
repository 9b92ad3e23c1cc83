import { type Document, DocumentStore, type IndexDescription } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import { join } from "node:path"
import { freshDirectory, freshFolder } from "../../../../test/support/folders.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

const at = (seconds: number) => new Date(seconds * 1000)

const stores: ReadonlyArray<readonly [string, Layer.Layer<DocumentStore>]> = [
  ["memory", EmbeddedStore.layerMemory],
  ["embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith))]
]

for (const [name, layer] of stores) {
  describe(`expiry / ${name}`, () => {
    const withThings = Effect.fnUntraced(
      function*(index: Partial<IndexDescription>, documents: ReadonlyArray<Document>) {
        const store = yield* DocumentStore
        yield* store.createIndexes("things", [{ name: "at", key: { at: 1 }, expireAfterSeconds: 10, ...index }])
        yield* store.insertMany("things", documents)
        const ids = Effect.map(
          store.find("things", { sort: { _id: 1 } }),
          (documents) => documents.map(({ _id }) => _id)
        )
        return { store, ids, gone: eventually(ids) }
      }
    )

    it.effect.each<[string, IndexDescription["key"]]>([["upwards", { at: 1 }], ["downwards", { at: -1 }]])(
      "removes documents within a minute after they have expired, by an index %s",
      ([, key]) =>
        Effect.gen(function*() {
          const { gone, ids, store } = yield* withThings({ key }, [
            { _id: 1, at: at(0) },
            { _id: 2, at: at(49) },
            { _id: 3, at: at(51) },
            { _id: 4, at: at(1_000) },
            { _id: 5, at: "text" },
            { _id: 6, at: 0 },
            { _id: 7 },
            { _id: 8, at: [at(5_000), at(20), "text"] },
            { _id: 9, at: [] },
            { _id: 10, at: at(-5_000) }
          ])
          assert.deepStrictEqual(yield* ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
          yield* TestClock.adjust("60 seconds")
          yield* gone([3, 4, 5, 6, 7, 9])
          yield* store.updateOne("things", { _id: 3 }, { $set: { at: at(2_000) } })
          yield* TestClock.adjust("15 minutes")
          yield* gone([3, 4, 5, 6, 7, 9])
          yield* TestClock.adjust("1 minute")
          yield* gone([3, 5, 6, 7, 9])
          yield* TestClock.adjust("1 hour")
          yield* gone([5, 6, 7, 9])
        }).pipe(Effect.provide(layer))
    )

    it.effect("keeps documents outside of the index, and those whose index was dropped", () =>
      Effect.gen(function*() {
        const documents = [{ _id: 1, at: at(0), done: true }, { _id: 2, at: at(0) }]
        const { gone, ids, store } = yield* withThings({ partialFilterExpression: { done: true } }, documents)
        yield* TestClock.adjust("1 minute")
        yield* gone([2])
        yield* store.insertOne("things", { _id: 3, at: at(0), done: true })
        yield* store.dropIndexes("things")
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* ids, [2, 3])
        yield* store.createIndexes("things", [{ name: "at", key: { at: 1 } }])
        const changes = yield* store.syncIndexes("things", [{ name: "at", key: { at: 1 }, expireAfterSeconds: 0 }])
        assert.deepStrictEqual(changes.rebuilt, ["at"])
        yield* TestClock.adjust("1 minute")
        yield* gone([])
      }).pipe(Effect.provide(layer)))

    it.effect("removes what a transaction has written, or the stage of a pipeline", () =>
      Effect.gen(function*() {
        const { gone, store } = yield* withThings({}, [])
        yield* TestClock.adjust("10 minutes")
        yield* store.transaction(store.insertOne("things", { _id: 1, at: at(620) }))
        yield* TestClock.adjust("2 minutes")
        yield* gone([])
        yield* store.insertOne("others", { _id: 2, at: at(740) })
        yield* Stream.runDrain(store.aggregate("others", [{ $merge: "things" }]))
        yield* TestClock.adjust("2 minutes")
        yield* gone([])
      }).pipe(Effect.provide(layer)))

    it.effect("removes many, also from the other indexes", () =>
      Effect.gen(function*() {
        const { gone, store } = yield* withThings({}, [])
        yield* store.createIndexes("things", [{ name: "n", key: { n: 1 }, unique: true }])
        const things = Array.from({ length: 1_000 }, (_, i) => ({ _id: i, n: i, at: at(i < 600 ? i / 20 : 100) }))
        yield* store.insertMany("things", things)
        yield* TestClock.adjust("1 minute")
        yield* gone(Array.from({ length: 400 }, (_, i) => 600 + i))
        yield* store.insertMany("things", Array.from({ length: 600 }, (_, n) => ({ _id: `new ${n}`, n })))
        assert.strictEqual(yield* store.count("things", {}), 1_000)
      }).pipe(Effect.provide(layer)))
  })
}

describe("expiry / embedded", () => {
  it.effect("continues after the store is reopened", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const within = <A, E>(use: Effect.Effect<A, E, DocumentStore>) =>
        Effect.scoped(Effect.provide(use, EmbeddedStore.layerWith({ path })))
      yield* within(Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.createIndexes("things", [{ name: "at", key: { at: 1 }, expireAfterSeconds: 0 }])
        yield* store.insertMany("things", [{ _id: 1, at: at(100) }, { _id: 2, at: at(1_000) }])
      }))
      yield* TestClock.adjust("10 minutes")
      yield* within(Effect.gen(function*() {
        const store = yield* DocumentStore
        const ids = Effect.map(store.find("things", {}), (documents) => documents.map(({ _id }) => _id))
        yield* eventually(ids)([2])
        yield* TestClock.adjust("10 minutes")
        yield* eventually(ids)([])
      }))
    }))

  it.effect("removes others where a document is damaged", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const within = <A, E>(use: Effect.Effect<A, E, DocumentStore>) =>
        Effect.scoped(Effect.provide(use, EmbeddedStore.layerWith({ path })))
      const names = ["first", "second"]
      yield* within(Effect.gen(function*() {
        const store = yield* DocumentStore
        for (const name of names) {
          yield* store.createIndexes(name, [{ name: "at", key: { at: 1 }, expireAfterSeconds: 0 }])
          yield* store.insertMany(name, [{ _id: 1, at: at(100), text: `text of ${name}` }, { _id: 2, at: at(100) }])
        }
      }))
      const file = join(path, "data.mdb")
      const bytes = fs.readFileSync(file)
      const place = bytes.indexOf("text of first")
      assert.isAbove(place, 0)
      for (let i = place; i !== -1; i = bytes.indexOf("text of first", i + 1)) bytes[i] = 0x54
      fs.writeFileSync(file, bytes)
      yield* TestClock.adjust("10 minutes")
      yield* within(Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* eventually(Effect.map(store.find("second", {}), (documents) => documents.map(({ _id }) => _id)))([])
        const left = Effect.map(store.estimatedCount("first"), (count) => Array.from({ length: count }))
        yield* eventually(left)([undefined])
        const { _tag } = yield* Effect.flip(store.findById("first", 1))
        assert.strictEqual(_tag, "DataDamaged")
      }))
    }))
})

/** What is there once the store has come to it; a disk takes its time, which no clock of a test makes pass. */
const eventually = <E>(ids: Effect.Effect<ReadonlyArray<unknown>, E>) => (expected: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    for (let i = 0; i < 200 && (yield* ids).length > expected.length; i++) {
      yield* TestClock.withLive(Effect.sleep("5 millis"))
    }
    assert.deepStrictEqual(yield* ids, expected)
  })
