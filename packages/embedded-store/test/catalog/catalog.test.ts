import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Result } from "effect"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { indexProblems } from "../../../../test/support/indexProblems.ts"
import { Catalog } from "../../src/catalog/catalog.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"
import { DocumentWriter, prepare } from "../../src/operations/documentWriter.ts"
import type { StoredDocument } from "../../src/planner/candidates.ts"
import * as keyValueLmdb from "../../src/storage/lmdb/store.ts"
import { everything } from "../../src/storage/orderedStore.ts"

it.effect("Catalog / embedded: does not reuse a record id freed by an aborted job", () =>
  Effect.gen(function*() {
    const folder = yield* freshDirectory
    const documents = Array.from({ length: 10 }, (_, _id): Document => ({ _id }))
    const inStore = <A, E>(use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
      Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))
    yield* inStore((store) => store.insertMany("things", documents))
    yield* Effect.scoped(Effect.gen(function*() {
      const store = yield* keyValueLmdb.make(folder)
      const catalog = new Catalog(store)
      const writer = new DocumentWriter(store, catalog, () => {})
      const insert = (_id: string) =>
        Result.getOrThrow(writer.insert(catalog.ensure("things"), Result.getOrThrow(prepare(store, { _id }))))
      const givenUp = yield* Effect.exit(store.write("test", () => {
        const all: Array<StoredDocument> = []
        const collection = catalog.ensure("things")
        store.documents(collection.number).scan(
          everything,
          (recordId, document) => all.push({ recordId, document }) > 0
        )
        for (const found of all) writer.remove(collection, found)
        insert("none")
        throw new Error("given up")
      }))
      assert.isTrue(Exit.isFailure(givenUp))
      yield* store.write("test", () => insert("new"))
    }))
    assert.deepStrictEqual(yield* inStore((store) => store.find("things", {})), [...documents, { _id: "new" }])
    assert.deepStrictEqual(yield* indexProblems(folder), [])
  }))
