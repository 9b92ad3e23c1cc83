import { assert, it } from "@effect/vitest"
import { Long, ObjectId } from "bson"
import { Effect, Layer, Schema } from "effect"
import { DocumentStore, EmbeddedStore, Index, Model, Repository } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { freshFolder } from "../support/folders.ts"
import { turnsOf } from "../support/turns.ts"

// Milliseconds that a request may have to wait for another one's writes. What is wrong takes more than a second.
const most = 200

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  n: Schema.Int.pipe(Model.indexed(Index.plain)),
  ...Model.softDeleted
}) {}

const things = (length: number) => Array.from({ length }, (_, _id) => ({ _id, n: _id % 1000, text: `text ${_id}` }))

const pages = Array.from({ length: 500 }, (_, _id) => ({
  _id,
  text: Array.from({ length: 500 }, (_, i) => `word${(_id * 7 + i * i) % 997}`).join(" ")
}))

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(Repository.layer(Note).pipe(Layer.provideMerge(layer)), {
    excludeTestServices: true
  })(
    `EmbeddedStore with long writes / ${name}`,
    (it) => {
      const lasting = Effect.fnUntraced(function*(
        operations: { readonly [name: string]: Effect.Effect<unknown, unknown> }
      ) {
        let all = 0
        for (const [name, operation] of Object.entries(operations)) {
          const { longest, whole } = yield* turnsOf(operation)
          assert.isBelow(longest, most, name)
          all += whole
        }
        // Otherwise they were too short to tell.
        assert.isAbove(all, 2 * most)
      })

      it.effect(
        "yields to other fibers while it inserts 50,000 documents, also with many concurrent inserts",
        () =>
          Effect.gen(function*() {
            const store = yield* DocumentStore.DocumentStore
            const notes = things(50_000).map(({ _id, n }) => new Note({ id: `${_id}`, n }))
            const repository = yield* Repository.for(Note)
            yield* lasting({
              insertMany: store.insertMany("things", things(50_000)),
              together: Effect.all(
                Array.from({ length: 20 }, (_, i) => store.insertMany(`things ${i}`, things(2_500))),
                { concurrency: 20 }
              ),
              bulkInsert: repository.bulkInsert(notes),
              page: documentOperationsOf(repository).findAndCount({ filter: {}, sort: { _id: 1 }, limit: 1 })
            })
            assert.strictEqual(yield* store.count("things", {}), 50_000)
            assert.strictEqual(yield* repository.count(), 50_000)
          })
      )

      it.effect("refuses a document with more than 100,000 values in an indexed list", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const listOf = (length: number) => Array.from({ length }, (_, i) => i)
          yield* store.createIndexes("long lists", [{ name: "v", key: { "l.v": 1 } }])
          const long = { _id: 1, l: [{ v: listOf(100_001) }, { v: 1 }] }
          const wide = { _id: 2, l: listOf(100_001).map((v) => ({ v })) }
          const huge = { _id: 2, l: listOf(60_000).map((v) => ({ v, text: "x".repeat(300) })) }
          // Memory has no limit of a document's bytes.
          if (name === "embedded") {
            assert.strictEqual((yield* Effect.flip(store.insertOne("sizes", huge)))._tag, "QueryRejected")
          }
          for (const document of [long, wide]) {
            const refused = yield* Effect.flip(store.insertOne("long lists", document))
            assert.strictEqual(refused._tag, "QueryRejected")
            assert.include(refused.message, "too many values of l")
          }
          yield* store.insertOne("long lists", { _id: 3, l: [{ v: 1 }] })
          const update = store.updateOne("long lists", { _id: 3 }, { $set: { "l.0.v": listOf(100_001) } })
          assert.strictEqual((yield* Effect.flip(update))._tag, "QueryRejected")
          assert.deepStrictEqual(yield* store.find("long lists", { filter: { "l.v": 1 } }), [{ _id: 3, l: [{ v: 1 }] }])
          yield* store.insertOne("plain lists", long)
          const index = store.createIndexes("plain lists", [{ name: "v", key: { "l.v": 1 } }])
          assert.strictEqual((yield* Effect.flip(index))._tag, "QueryRejected")
          assert.deepStrictEqual(yield* store.listIndexes("plain lists"), [])
        }))

      it.effect("yields to other fibers while it looks up 100,000 values", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const hex = (i: number) => i.toString(16).padStart(24, "0")
          const documents = things(1_000).map((thing) => ({ ...thing, at: new ObjectId(hex(thing._id)) }))
          yield* store.insertMany("sought", documents)
          for (const path of ["n", "text", "at"]) {
            yield* store.createIndexes("sought", [{ name: path, key: { [path]: 1 } }])
          }
          // Each once, in no order.
          const some = <A>(make: (i: number) => A) =>
            Array.from({ length: 100_000 }, (_, i) => make(i * 7_919 % 100_000))
          const sought = {
            identifiers: { _id: { $in: some((i) => i) } },
            numbers: { n: { $in: some((i) => i) } },
            texts: { text: { $in: some((i) => `text ${i}`) } },
            objectIds: { at: { $in: some((i) => new ObjectId(hex(i))) } },
            equal: { n: { $in: [...some((i) => i % 1_000), ...some((i) => Long.fromNumber(i % 1_000))] } }
          }
          for (const [name, filter] of Object.entries(sought)) {
            const { longest } = yield* turnsOf(
              Effect.flatMap(
                store.find("sought", { filter, sort: { n: 1 } }),
                (found) => Effect.sync(() => assert.strictEqual(found.length, 1_000, name))
              )
            )
            assert.isBelow(longest, most, name)
          }
        }))

      it.effect("yields to other fibers while transactions write 50,000 documents", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.createIndexes("written", [{ name: "n", key: { n: 1 } }])
          yield* lasting({
            insertMany: store.transaction(store.insertMany("written", things(50_000))),
            deleteMany: store.transaction(store.deleteMany("written", {}))
          })
          assert.strictEqual(yield* store.count("written", {}), 0)
        }))

      it.effect(
        "yields to other fibers while it indexes lists, and finds by them for the first time",
        () =>
          Effect.gen(function*() {
            const store = yield* DocumentStore.DocumentStore
            const lists = Array.from({ length: 90_000 }, (_, _id) => ({
              _id,
              l: Array.from({ length: 5 }, (_, i) => (_id * 7919 + i * 104_729) % 300_007)
            }))
            yield* lasting({
              insertMany: store.insertMany("lists", lists),
              createIndexes: store.createIndexes("lists", [{ name: "l", key: { l: 1 } }]),
              find: store.find("lists", { filter: { l: 7919 } })
            })
          })
      )

      it.effect("yields to other fibers while it indexes, searches and writes texts", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const filter = { $text: { $search: "word1 word2 word3 word4" } }
          yield* store.insertMany("pages", pages)
          yield* lasting({
            createIndexes: store.createIndexes("pages", [{ name: "text", key: { text: "text" } }]),
            find: store.find("pages", { filter }),
            updateMany: store.updateMany("pages", filter, { $set: { read: true } }),
            insertMany: store.insertMany("pages", pages.map(({ text }, i) => ({ _id: `more ${i}`, text })))
          })
        }))
    }
  )
}
