/**
 * Which filters hold row filters of a caller. The stages of a collection combine filters, and what a document that can't be read
 * may match depends on who gave them.
 */
import type { Filter } from "../DocumentStore.ts"

/** The row filters in a filter. */
export const rowFiltersIn = (filter: Filter): ReadonlyArray<Filter> => known.get(filter) ?? none

/** The filter, marked: of what it is made of, these are row filters. */
export const holdingRowFilters = (filter: Filter, rows: ReadonlyArray<Filter>): Filter => {
  known.set(filter, rows)
  return filter
}

// internal

const none: ReadonlyArray<Filter> = []

const known = new WeakMap<Filter, ReadonlyArray<Filter>>()
