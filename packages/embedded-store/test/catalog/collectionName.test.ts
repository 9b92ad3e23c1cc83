import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

type Store = DocumentStore["Service"]

/** What makes a collection. */
const makers: Record<string, (store: Store, name: string) => Effect.Effect<unknown, { readonly _tag: string }>> = {
  insertOne: (store, name) => store.insertOne(name, { _id: 1 }),
  insertMany: (store, name) => store.insertMany(name, [{ _id: 1 }]),
  upsert: (store, name) => store.updateOne(name, { _id: 1 }, { $set: { n: 1 } }, { upsert: true }),
  transaction: (store, name) => store.transaction(store.insertOne(name, { _id: 1 })),
  out: (store, name) => Stream.runDrain(store.aggregate("things", [{ $out: name }])),
  merge: (store, name) => Stream.runDrain(store.aggregate("things", [{ $merge: name }])),
  createIndexes: (store, name) => store.createIndexes(name, [{ name: "a", key: { a: 1 } }]),
  setValidator: (store, name) => store.setValidator(name, {}),
  record: (store, name) => store.changes.record(name, {})
}

describe("the name of a collection", () => {
  for (const [maker, make] of Object.entries(makers)) {
    it.effect(`is one that MongoDB takes: ${maker}`, () =>
      Effect.gen(function*() {
        const store = yield* EmbeddedStore.makeMemory
        yield* store.insertOne("things", { _id: 1 })
        for (const name of ["", "$a", "a$b", "a\0b", "system.users", ".a", "a.", "a..b"]) {
          const failure = yield* Effect.flip(make(store, name))
          assert.include(["QueryRejected", "Unsupported"], failure._tag, name)
        }
        assert.deepStrictEqual((yield* store.listCollections).map(({ name }) => name), ["things"])
        yield* make(store, "a.system b-ü")
        assert.lengthOf(yield* store.listCollections, 2)
      }))
  }
})
