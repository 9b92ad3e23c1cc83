/**
 * Enforces unique indexes: no two documents of a collection have the same key.
 *
 * The check runs in the job that writes the document, before its first write. Jobs run one after the other, so no other
 * write comes between the check and the write.
 */
import { spend } from "../../../internal/stepBudget.ts"
import { limitedRange } from "../../bson/keyEncoding.ts"
import type { Document } from "../../DocumentStore.ts"
import { DuplicateKey } from "../../RepositoryError.ts"
import type { KeyValue } from "../../storage/orderedStore.ts"
import type { Collection, Index } from "../catalog/catalog.ts"
import { haveEqualValues, suffixOf } from "../catalog/indexKeys.ts"

/**
 * Whether one of the keys belongs to another document than the one of this record.
 *
 * @internal
 */
export const isTaken = (
  entries: ReturnType<KeyValue["entries"]>,
  keys: ReadonlyArray<string>,
  recordId: string | undefined
): boolean =>
  keys.some((key) => {
    const holder = entries.get(key)
    return holder !== undefined && holder !== recordId
  })

/**
 * Whether another document has equal values in a unique index with a collation, whose keys only narrow down which.
 *
 * @internal
 */
export const isTakenAlike = (
  store: KeyValue,
  collection: Collection,
  index: Index,
  { document, key }: { readonly document: Document; readonly key: string },
  keys: Iterable<string>,
  recordId: string | undefined
): boolean => {
  const documents = store.documents(collection.number)
  const suffixLength = suffixOf(index, key).length
  for (const entry of keys) {
    const prefix = entry.slice(0, entry.length - suffixLength)
    const others: Array<string> = []
    store.entries(index.number).scan({ ...limitedRange(prefix, prefix), reverse: false }, (_, other) => {
      if (other !== recordId) others.push(other)
      return true
    })
    for (const id of others) {
      const other = documents.get(id)
      spend(compareCost)
      if (other !== undefined && haveEqualValues(index, document, other)) return true
    }
  }
  return false
}

// The cost of a comparison of two documents, in units of work.
const compareCost = 100

/** @internal */
export const duplicateKey = ({ name }: Collection, { description, paths }: Index): DuplicateKey =>
  new DuplicateKey({ collection: name, index: description.name, fields: paths })
