/** Assigns the ids of records. Their order is that of the insertions. */
import { numberOfRecord, recordIdOf } from "@appkernel/mql/internal"
import { everything, type KeyValue } from "../storage/orderedStore.ts"

/** Assigns record ids. `collection` is the number of a collection. */
export interface RecordIds {
  /** Assigns the next record id. */
  readonly next: (collection: number) => string
  /** The record id that `next` would return. */
  readonly end: (collection: number) => string
}

/** The record ids of these collections. Ids of aborted jobs are not reused: they could meet restored records. */
export const recordIdsOf = (store: KeyValue, collections: Iterable<{ readonly number: number }>): RecordIds => {
  const nexts = new Map<number, number>()
  for (const { number } of collections) {
    const last = store.documents(number).keyAt({ ...everything, reverse: true }, 0)
    if (last !== undefined) nexts.set(number, numberOfRecord(last) + 1)
  }
  const end = (collection: number) => nexts.get(collection) ?? 0
  return {
    next: (collection) => {
      const next = end(collection)
      nexts.set(collection, next + 1)
      return recordIdOf(next)
    },
    end: (collection) => recordIdOf(end(collection))
  }
}
