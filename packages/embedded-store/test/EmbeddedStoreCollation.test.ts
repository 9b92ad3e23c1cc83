import type { Document, DocumentStore, IndexDescription } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { freshDirectory } from "../../../test/support/folders.ts"
import { collationVersion } from "../../mql/src/bson/collator.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"
import * as keyValueLmdb from "../src/storage/lmdb/store.ts"
import { everything, type KeyValue } from "../src/storage/orderedStore.ts"

const collation = { locale: "en", strength: 2 } as const

const byName: IndexDescription = { name: "by name", key: { name: 1 }, unique: true, collation }

const inFolder = <A, E>(folder: string, use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))

describe("EmbeddedStore and collations / embedded", () => {
  it.effect("finds by an index with a collation and keeps it unique after it is reopened", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(
        folder,
        (store) =>
          Effect.andThen(store.createIndexes("people", [byName]), store.insertOne("people", { _id: 1, name: "Ján" }))
      )
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* store.listIndexes("people"), [byName])
          assert.strictEqual(yield* store.count("people", { name: "JÁN" }, { collation }), 1)
          assert.strictEqual(yield* store.count("people", { name: "JÁN" }), 0)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(store.insertOne("people", { _id: 2, name: "jÁn" }))))
        }))
    }))

  it.effect("commits one of two transactions that insert equal texts", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.createIndexes("people", [byName])
          const inserts = ["a", "A", "á", "Á"].map((name, _id) =>
            Effect.exit(store.transaction(Effect.andThen(
              store.count("people", { name }, { collation }),
              Effect.andThen(Effect.yieldNow, store.insertOne("people", { _id, name }))
            )))
          )
          const exits = yield* Effect.all(inserts, { concurrency: 4 })
          assert.strictEqual(exits.filter(Exit.isSuccess).length, 2)
          assert.strictEqual(yield* store.count("people", {}), 2)
        }))
    }))

  it.effect("builds an index again whose keys follow the rules of another version of Intl", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const names = ["a", "B", "c", "D"]
      yield* inFolder(folder, (store) =>
        Effect.andThen(
          store.createIndexes("people", [byName]),
          store.insertMany("people", names.map((name, _id) => ({ _id, name })))
        ))
      // As another version would have left it: with keys that this one does not look for.
      const age = ({ catalog, entries }: KeyValue) => {
        catalog.scan({ ...everything, start: "collection:" }, (key, collection) => {
          const [index] = collection["indexes"] as ReadonlyArray<Document>
          assert.strictEqual(index?.["collationVersion"], collationVersion)
          catalog.put(key, { ...collection, indexes: [{ ...index, collationVersion: "older" }] }, undefined)
          const table = entries(Number(index?.["number"]))
          const keys: Array<string> = []
          table.scanKeys(everything, (key) => keys.push(key) > 0)
          assert.strictEqual(keys.length, names.length)
          for (const key of keys) table.remove(key, undefined)
          return false
        })
      }
      yield* Effect.scoped(
        Effect.flatMap(keyValueLmdb.make(folder), (store) => store.write("test", () => age(store)))
      )
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* store.listIndexes("people"), [byName])
          for (const name of names) {
            assert.strictEqual(yield* store.count("people", { name: name.toLowerCase() }, { collation }), 1)
          }
          assert.isTrue(Exit.isFailure(yield* Effect.exit(store.insertOne("people", { _id: 5, name: "d" }))))
        }))
    }))
})
