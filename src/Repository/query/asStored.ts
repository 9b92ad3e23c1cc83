/**
 * Conditions on values as they are stored, such as a position in the order of a sort.
 */
import type { Filter } from "../DocumentStore.ts"

/**
 * The filter, marked: a field that a document lacks has no value in it, whatever its default is.
 *
 * @internal
 */
export const asStored = (filter: Filter): Filter => {
  marked.add(filter)
  return filter
}

/** @internal */
export const isAsStored = (filter: Filter): boolean => marked.has(filter)

// internal

const marked = new WeakSet<Filter>()
