/**
 * Enforces unique indexes: no two documents of a collection have the same key.
 *
 * The check runs in the job that writes the document, before its first write. Jobs run one after the other, so no other
 * write comes between the check and the write.
 */
import { DuplicateKey } from "../../RepositoryError.ts"
import type { KeyValue } from "../../storage/orderedStore.ts"
import type { Collection, Index } from "../catalog/catalog.ts"

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

/** @internal */
export const duplicateKey = ({ name }: Collection, { description, paths }: Index): DuplicateKey =>
  new DuplicateKey({ collection: name, index: description.name, fields: paths })
