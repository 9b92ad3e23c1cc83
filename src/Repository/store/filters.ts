/**
 * The algebra of filters. `undefined` matches every document.
 */
import type { Filter } from "../DocumentStore.ts"

/**
 * The filter that matches no document.
 *
 * @internal
 */
export const nothing: Filter = { _id: { $in: [] } }

/**
 * The documents that match all of the filters.
 *
 * @internal
 */
export const allOf = (...filters: ReadonlyArray<Filter | undefined>): Filter | undefined => {
  if (filters.includes(nothing)) return nothing
  const given = [...new Set(filters.filter((filter) => filter !== undefined))]
  return given.length < 2 ? given[0] : { $and: given }
}

/**
 * The documents that match one of the filters.
 *
 * @internal
 */
export const anyOf = (filters: ReadonlyArray<Filter | undefined>): Filter | undefined => {
  const some = filters.filter((filter) => filter !== undefined)
  if (some.length < filters.length) return undefined
  const others = [...new Set(some)].filter((filter) => filter !== nothing)
  const [one = nothing] = others
  return others.length < 2 ? one : { $or: others }
}

/**
 * The documents that the filter does not match.
 *
 * @internal
 */
export const not = (filter: Filter | undefined): Filter | undefined =>
  filter === undefined ? nothing : filter === nothing ? undefined : { $nor: [filter] }

/**
 * {@link allOf} of two filters whose conditions stay at the top level where no key is in both, because `$text`
 * has to stand there.
 *
 * @internal
 */
export const conjunctionOf = (first: Filter, second: Filter): Filter =>
  Object.keys(second).some((key) => Object.hasOwn(first, key)) ? { $and: [first, second] } : { ...first, ...second }
