import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { Catalog } from "../../src/catalog/catalog.ts"
import { DocumentWriter } from "../../src/operations/documentWriter.ts"
import { makeEmbeddedWrites } from "../../src/operations/writes.ts"
import * as keyValueLmdb from "../../src/storage/lmdb/store.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import type { SteppedKeyValue } from "../../src/storage/orderedStore.ts"
import { makeVersions } from "../../src/transaction/snapshots.ts"

describe("embeddedInsert", () => {
  const stores = [
    ["memory", keyValueMemory.make],
    ["embedded", Effect.flatMap(freshDirectory, (folder) => keyValueLmdb.make(folder))]
  ] as const

  /** The most documents that were ready at one time, but not written. */
  const mostReady = Effect.fnUntraced(function*(store: SteppedKeyValue, documents: ReadonlyArray<Document>) {
    let [ready, most] = [0, 0]
    const counting: SteppedKeyValue = {
      ...store,
      encode: (document) => {
        ready += 1
        most = Math.max(most, ready)
        return store.encode(document)
      },
      write: (operation, job) => {
        ready = 0
        return store.write(operation, job)
      }
    }
    const watched = makeVersions(counting).store
    const catalog = new Catalog(watched)
    const writing = makeEmbeddedWrites(watched, catalog, new DocumentWriter(watched, catalog, () => {}))
    const { failures, insertedCount } = yield* writing.insertMany("things", documents, { ordered: false })
    return { failures, insertedCount, most }
  })

  for (const [name, make] of stores) {
    it.effect(`prepares few documents before it writes them, and fewer when they are large / ${name}`, () =>
      Effect.gen(function*() {
        const store = yield* make
        const many = Array.from({ length: 20_000 }, (_, _id) => ({ _id, text: "x" }))
        assert.deepStrictEqual(yield* mostReady(store, many), { failures: [], insertedCount: 20_000, most: 256 })
        const values = Array.from({ length: 300_000 }, (_, i) => i)
        const large = Array.from({ length: 12 }, (_, i) => ({ _id: `large ${i}`, values }))
        const { insertedCount, most } = yield* mostReady(store, large)
        assert.strictEqual(insertedCount, 12)
        assert.isAtMost(most, 4)
      }))
  }
})
