import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Catalog } from "../../src/catalog/catalog.ts"
import { makeIndex } from "../../src/catalog/collection.ts"
import { DocumentWriter, prepare } from "../../src/operations/documentWriter.ts"
import { makeIndexing } from "../../src/operations/indexBuild.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import { everything } from "../../src/storage/orderedStore.ts"

describe("embeddedIndexing", () => {
  it.effect("discards an unfinished index at open, and builds it anew", () =>
    Effect.gen(function*() {
      const store = yield* keyValueMemory.make
      const unfinished = makeIndex(7, { name: "n", key: { n: 1 }, unique: true })
      const before = new Catalog(store)
      yield* store.write("test", () => {
        const writer = new DocumentWriter(store, before, () => {})
        for (let i = 0; i < 300; i++) {
          const prepared = Result.getOrThrow(prepare(store, { _id: i, n: i }))
          // The first half was there before the index.
          if (i === 150) before.save({ ...before.ensure("things"), indexes: [unfinished] })
          assert.isTrue(Result.isSuccess(writer.insert(before.ensure("things"), prepared)))
        }
      })
      const entries = () => {
        let count = 0
        store.entries(unfinished.number).scanKeys(everything, () => (count += 1) > 0)
        return count
      }
      assert.strictEqual(entries(), 150)
      const catalog = new Catalog(store)
      const indexing = yield* makeIndexing(store, catalog, new DocumentWriter(store, catalog, () => {}), Effect.void)
      assert.deepStrictEqual(yield* indexing.listIndexes("things"), [])
      assert.strictEqual(entries(), 0)
      yield* indexing.createIndexes("things", [unfinished.description])
      assert.deepStrictEqual(yield* indexing.listIndexes("things"), [unfinished.description])
    }))
})
