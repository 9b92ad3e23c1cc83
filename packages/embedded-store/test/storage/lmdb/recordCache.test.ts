import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Binary, ObjectId } from "bson"
import { Effect, Exit, Random, Result, Scope } from "effect"
import { freshDirectory } from "../../../../../test/support/folders.ts"
import { TableCache } from "../../../src/storage/lmdb/recordCache.ts"
import * as keyValueLmdb from "../../../src/storage/lmdb/store.ts"
import { everything, type KeyValue } from "../../../src/storage/orderedStore.ts"

const megabyte = 1024 * 1024

const documentOf = (key: string): Document => ({ _id: key })

describe("TableCache", () => {
  it("caches a value at its second miss, frozen", () => {
    const table = new TableCache(megabyte).table()
    const document = { _id: new ObjectId(), list: [{ a: 1 }], nested: { at: new Date(0) }, none: null }
    table.offer("key", document, 100)
    assert.isUndefined(table.get("key"))
    table.offer("key", document, 100)
    assert.strictEqual(table.get("key"), document)
    for (const shared of [document, document.list, document.list[0], document.nested]) {
      assert.isTrue(Object.isFrozen(shared))
    }
  })

  it("caches no mutable or large values", () => {
    const table = new TableCache(megabyte).table()
    const refused = { binary: { _id: { data: new Binary(Buffer.from("data")) } }, large: { _id: 1 } }
    for (let i = 0; i < 3; i++) {
      table.offer("binary", refused.binary, 100)
      table.offer("large", refused.large, megabyte)
    }
    assert.isUndefined(table.get("binary"))
    assert.isUndefined(table.get("large"))
  })

  it("invalidates written keys, and caches them again after the commit", () => {
    const cache = new TableCache(megabyte)
    const table = cache.table()
    const offer = () => {
      table.offer("key", documentOf("key"), 100)
      table.offer("key", documentOf("key"), 100)
    }
    offer()
    table.forget("key")
    assert.isUndefined(table.get("key"))
    offer()
    assert.isUndefined(table.get("key"))
    cache.settle()
    offer()
    assert.deepStrictEqual(table.get("key"), documentOf("key"))
  })

  it("has a bounded size over all tables, and prefers documents that are hit", () => {
    const cache = new TableCache(megabyte)
    const tables = [cache.table(), cache.table(), cache.table()] as const
    const keys = Array.from({ length: 1000 }, (_, i) => `key ${i}`)
    const found = keys.slice(0, 20)
    for (const table of tables) {
      for (const key of keys) {
        for (let i = 0; i < 2; i++) table.offer(key, documentOf(key), 1000)
        for (const often of found) tables[0].get(often)
      }
    }
    const kept = tables.map((table) => keys.filter((key) => table.get(key) !== undefined).length)
    const total = kept.reduce((sum, count) => sum + count, 0)
    assert.isAbove(total, 200)
    assert.isBelow(total, megabyte / 3000)
    assert.deepStrictEqual(found.filter((key) => tables[0].get(key) === undefined), [])
  })

  it("is bypassed while its hit rate is low", () => {
    const cache = new TableCache(megabyte)
    const table = cache.table()
    const read = (key: string): boolean => {
      if (!cache.isUseful()) return false
      if (table.get(key) !== undefined) return true
      table.offer(key, documentOf(key), 100)
      return false
    }
    for (let i = 0; i < 20_000; i++) assert.isFalse(read(`key ${i}`))
    const asked = Array.from({ length: 640 }, () => cache.isUseful()).filter((isUseful) => isUseful)
    assert.strictEqual(asked.length, 10)
    let found = 0
    for (let i = 0; i < 1000; i++) if (read(`key ${i % 3}`)) found += 1
    assert.isAbove(found, 500)
  })
})

const tables = [1, 2]
const keys = Array.from({ length: 12 }, (_, i) => `key ${i.toString(36)}`)

// As it is in the file: scans know no cache.
const scanned = (store: KeyValue, table: number): ReadonlyMap<string, Document> => {
  const documents = new Map<string, Document>()
  store.documents(table).scan(everything, (key, document) => documents.set(key, document).size > 0)
  return documents
}

const cached = (store: KeyValue, table: number): ReadonlyMap<string, Document> => {
  const documents = new Map<string, Document>()
  for (const key of keys) {
    const document = store.documents(table).get(key)
    if (document !== undefined) documents.set(key, document)
  }
  return documents
}

const hasSame = (store: KeyValue): void => {
  for (const table of tables) assert.deepStrictEqual(cached(store, table), scanned(store, table))
}

describe("KeyValue with cached documents / embedded", () => {
  it.live("reads the file's values during concurrent writes, aborts and reads", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(keyValueLmdb.make(folder), scope)
      let runs = 0
      const work = { busy: 0 }
      let same = 0
      // The runs that were kept, and what readers have seen.
      const kept = new Set<number>()
      const seen = new Set<number>()
      // The last run that was told to be kept, by key.
      const told = new Map<string, number>()

      /** Writes the same to one key of each table, and to some others; breaks now and then. */
      const write = Effect.gen(function*() {
        const key = keys[yield* Random.nextIntBetween(0, keys.length - 1)] ?? ""
        const other = keys[yield* Random.nextIntBetween(0, keys.length - 1)] ?? ""
        const luck = yield* Random.next
        let run = 0
        const job = store.write("test", () => {
          run = runs += 1
          if (luck < 0.3) hasSame(store)
          for (const table of tables) {
            const documents = store.documents(table)
            if (other !== key && luck < 0.6) documents.remove(other, undefined)
            documents.put(key, { _id: key, run }, undefined)
            assert.deepStrictEqual(documents.get(key), { _id: key, run })
          }
          hasSame(store)
          if (luck > 0.8) assert.fail("given up")
          return run
        })
        const exit = yield* Effect.exit(job)
        assert.strictEqual(Exit.isSuccess(exit), luck <= 0.8)
        // Whoever is told reads at once what was written, or something newer.
        hasSame(store)
        if (Exit.isFailure(exit)) return
        kept.add(run)
        for (const changed of other !== key && luck < 0.6 ? [key, other] : [key]) {
          told.set(changed, Math.max(run, told.get(changed) ?? 0))
        }
        look()
      })

      const look = (): void => {
        const step = Result.getOrThrow(
          store.read("test", () => tables.map((table) => [cached(store, table), scanned(store, table)] as const))
        )
        for (const [fromCache, fromFile] of step) {
          assert.deepStrictEqual(fromCache, fromFile)
          assert.deepStrictEqual(fromCache, step[0]?.[1])
          for (const [key, { run }] of fromCache) {
            seen.add(Number(run))
            assert.isAtLeast(Number(run), told.get(key) ?? 0)
          }
        }
        if (cached(store, 1).get(keys[0] ?? "") === cached(store, 1).get(keys[0] ?? "")) same += 1
      }

      const writer = Effect.gen(function*() {
        work.busy += 1
        for (let i = 0; i < 60; i++) {
          yield* write
          if ((yield* Random.next) < 0.2) yield* Effect.sleep("1 millis")
        }
        work.busy -= 1
      })
      // In all kinds of turns of the event loop.
      const reader = (pause: Effect.Effect<unknown>) =>
        Effect.gen(function*() {
          while (work.busy > 0) {
            for (let i = 0; i < 3; i++) look()
            yield* pause
          }
        })
      const pauses = [
        Effect.yieldNow,
        Effect.sleep("1 millis"),
        Effect.promise(() => new Promise((resolve) => setImmediate(() => queueMicrotask(() => resolve(undefined)))))
      ]
      yield* Effect.all([...Array.from({ length: 8 }, () => writer), ...pauses.map(reader)], {
        concurrency: "unbounded"
      })
      look()
      assert.deepStrictEqual(Array.from(seen).filter((run) => !kept.has(run)), [])
      assert.isAbove(seen.size, 100)
      assert.isAbove(same, 100)
      const last = tables.map((table) => cached(store, table))
      yield* Scope.close(scope, Exit.void)
      const again = yield* keyValueLmdb.make(folder)
      assert.deepStrictEqual(tables.map((table) => scanned(again, table)), last)
    }))
})
