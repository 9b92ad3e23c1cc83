/**
 * The algebra of filters. `undefined` and `{}` match every document, and {@link nothing} matches none. What has no effect is left
 * out of a result, and a single filter that remains is the same object.
 */
import * as Predicate from "effect/Predicate"
import type { Filter } from "../DocumentStore.ts"

/** The filter that matches no document. */
export const nothing: Filter = { _id: { $in: [] } }

/** The documents that match all of the filters. */
export const allOf = (...filters: ReadonlyArray<Filter | undefined>): Filter | undefined => {
  const given = effective(filters)
  if (given.includes(nothing)) return nothing
  return given.length < 2 ? given[0] : { $and: flattened("$and", given) }
}

/**
 * {@link allOf} the filters, with their conditions side by side if no key is in two of them: `$text` has to stand at the top, and
 * so must the conditions that the store looks for there.
 */
export const conjunctionOf = (...filters: ReadonlyArray<Filter | undefined>): Filter => {
  const given = effective(filters)
  if (given.includes(nothing)) return nothing
  const [one = {}, ...others] = given
  if (others.length === 0) return one
  const parts = flattened("$and", given)
  const entries: Array<[string, unknown]> = []
  for (const part of parts) for (const entry of Object.entries(part)) entries.push(entry)
  const together = Object.fromEntries(entries)
  return Object.keys(together).length < entries.length || parts.some(staysWhole) ? { $and: parts } : together
}

/** The documents that match one of the filters. */
export const anyOf = (filters: ReadonlyArray<Filter | undefined>): Filter | undefined => {
  const given = effective(filters)
  if (given.length < new Set(filters).size) return undefined
  const [one = nothing, ...others] = given.filter((filter) => filter !== nothing)
  return others.length === 0 ? one : { $or: flattened("$or", [one, ...others]) }
}

/** The documents that the filter does not match. */
export const negated = (filter: Filter | undefined): Filter | undefined =>
  filter === undefined || isAlways(filter)
    ? nothing
    : filter === nothing
    ? undefined
    : { $nor: flattened("$or", [filter]) }

/**
 * The filter, marked: a field that a document lacks has no value in it, whatever its default is. A position in the order of a
 * sort is such a filter. A marked filter stays one object in whatever it is a part of.
 */
export const asStored = (filter: Filter): Filter => {
  marked.add(filter)
  return filter
}

export const isAsStored = (filter: Filter): boolean => marked.has(filter)

/**
 * The filter, marked: a store evaluates it only for documents that match what it is combined with, as `filterOrderOf` says. It stays one
 * object, too.
 */
export const asLast = (filter: Filter): Filter => {
  last.add(filter)
  return filter
}

export const isLast = (filter: Filter): boolean => last.has(filter)

/** A list that is malformed is the store's to reject. */
export const isListOfFilters = (value: unknown): value is ReadonlyArray<Filter> =>
  Array.isArray(value) && value.length > 0 &&
  value.every((part) => Object.prototype.toString.call(part) === "[object Object]" && Object.keys(part).length > 0)

/** The fields by whose distance from a point a filter searches: stores neither count such documents nor do it everywhere. */
export const nearFields = (filter: Filter): ReadonlyArray<string> =>
  Object.entries(filter).flatMap(([key, operand]) => {
    if (key === "$and" && Array.isArray(operand)) return operand.filter(Predicate.isObject).flatMap(nearFields)
    return Predicate.isObject(operand) && ["$near", "$nearSphere"].some((one) => Object.hasOwn(operand, one))
      ? [key]
      : []
  })

// internal

const marked = new WeakSet<Filter>()

const last = new WeakSet<Filter>()

const staysWhole = (filter: Filter): boolean => isAsStored(filter) || isLast(filter)

const isAlways = (filter: Filter): boolean => Object.keys(filter).length === 0

/** Each filter once, without those that match every document. */
const effective = (filters: ReadonlyArray<Filter | undefined>): ReadonlyArray<Filter> => {
  const given: Array<Filter> = []
  for (const filter of filters) {
    if (filter !== undefined && !isAlways(filter)) given.push(filter)
  }
  return given.length < 2 || given.length === 2 && given[0] !== given[1] ? given : [...new Set(given)]
}

/** The filters, with the parts of those that consist of nothing but this operator in their place. */
const flattened = (operator: "$and" | "$or", filters: ReadonlyArray<Filter>): ReadonlyArray<Filter> => {
  const flat: Array<Filter> = []
  for (const filter of filters) {
    const parts: unknown = filter[operator]
    if (parts !== undefined && Object.keys(filter).length === 1 && isListOfFilters(parts) && !staysWhole(filter)) {
      for (const part of parts) flat.push(part)
    } else flat.push(filter)
  }
  return flat
}
