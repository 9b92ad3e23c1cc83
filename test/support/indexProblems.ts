/** Checks the indexes of an embedded store's folder against its documents, by reading the tables directly. */
import { Effect, Result } from "effect"
import { Catalog } from "../../packages/embedded-store/src/catalog/catalog.ts"
import { indexEntries } from "../../packages/embedded-store/src/catalog/indexKeys.ts"
import * as keyValueLmdb from "../../packages/embedded-store/src/storage/lmdb/store.ts"
import { everything } from "../../packages/embedded-store/src/storage/orderedStore.ts"
import { documentKey } from "../../packages/mql/src/bson/keyEncoding.ts"

/**
 * The errors in a closed folder: missing and dangling index entries, also those of dropped indexes, and indexes whose
 * recorded kinds of values are incomplete.
 */
export const indexProblems = (folder: string) =>
  Effect.scoped(Effect.map(keyValueLmdb.make(folder), (store) => {
    const problems: Array<string> = []
    const catalog = new Catalog(store)
    const known = new Set<number>()
    for (const collection of catalog.committed.values()) {
      for (const index of [collection.identifiers, ...collection.indexes]) {
        const name = `${collection.name}: ${index.description.name}`
        known.add(index.number)
        if (!index.isReady) problems.push(`${name} is unfinished`)
        const expected = new Map<string, string>()
        store.documents(collection.number).scan(everything, (recordId, document) => {
          const { inexact, keys, multikey } = Result.getOrThrow(
            indexEntries(index, document, documentKey(document["_id"]))
          )
          if (multikey && !index.traits.multikey) problems.push(`${name} does not know of lists`)
          if (inexact && !index.traits.inexact) problems.push(`${name} does not know of inexact keys`)
          for (const entry of keys) expected.set(entry, recordId)
          return true
        })
        store.entries(index.number).scan(everything, (entry, recordId) => {
          if (expected.get(entry) !== recordId) problems.push(`${name} has an entry too many`)
          expected.delete(entry)
          return true
        })
        if (expected.size > 0) problems.push(`${name} lacks ${expected.size} entries`)
      }
    }
    const last = Number(store.catalog.get("counters")?.["next"] ?? 0)
    for (let number = 1; number <= last; number++) {
      if (!known.has(number)) {
        store.entries(number).scanKeys(everything, () => {
          problems.push(`entries of index ${number} are left, which is gone`)
          return false
        })
      }
    }
    return problems
  }))
