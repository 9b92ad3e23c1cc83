/** `distinct`: the different values of documents at a path. */
import type { Collator } from "../bson/collator.ts"
import { forEachValue, type Segments } from "../bson/path.ts"
import { ValueSet } from "../bson/valueSet.ts"
import { type BatchIterator, mapChunks } from "../execution/batchIterator.ts"

/** Each value once, in the order of its first occurrence. */
export const distinctValues = (
  documents: BatchIterator,
  path: Segments,
  collator: Collator | undefined
): BatchIterator<unknown> => {
  const known = new ValueSet([], collator)
  return mapChunks(documents, (some) => {
    const fresh: Array<unknown> = []
    const add = (value: unknown) => {
      if (known.add(value)) fresh.push(value)
    }
    for (const document of some) forEachValue(document, path, add)
    return fresh
  })
}
