/**
 * Places in arrays that paths of updates stand for: `$[]` for every item, `$[name]` for those that a filter matches.
 */
import * as Result from "effect/Result"
import { normalise } from "../../bson/normalise.ts"
import { isArrayIndex, type Segments, segmentsOf } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { attempt } from "../expression/operators.ts"
import { type Filter, parseFilter } from "../filter/parseFilter.ts"
import { type Problem, rejected } from "../limits/queryProblem.ts"

/**
 * The filters of items by their names.
 *
 * @internal
 */
export type ArrayFilters = ReadonlyMap<string, Filter>

/** @internal */
export const noArrayFilters: ArrayFilters = new Map()

/**
 * Reads array filters; `now` is the time that `$$NOW` stands for, in milliseconds.
 *
 * @internal
 */
export const parseArrayFilters = (
  given: ReadonlyArray<unknown> | undefined,
  now: number
): Result.Result<ArrayFilters, Problem> => {
  if (given === undefined || given.length === 0) return Result.succeed(noArrayFilters)
  const filters = new Map<string, Filter>()
  for (const condition of given) {
    const normalised = Result.mapError(normalise(condition, true), rejected)
    if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
    const [name, ...others] = new Set(namesIn(normalised.success))
    if (name === undefined || others.length > 0 || !/^[a-z][A-Za-z0-9]*$/.test(name)) {
      return Result.fail(rejected("an array filter needs one name that all its paths begin with"))
    }
    if (filters.has(name)) return Result.fail(rejected(`there are several array filters named "${name}"`))
    const filter = parseFilter(normalised.success, now)
    if (Result.isFailure(filter)) return Result.fail(filter.failure)
    if (filter.success.isComputed) return Result.fail(rejected("$expr can't be used in an array filter"))
    filters.set(name, filter.success)
  }
  return Result.succeed(filters)
}

/**
 * The name in `$[name]`; `undefined` for any other part of a path.
 *
 * @internal
 */
export const filterName = (segment: string): string | undefined => /^\$\[(.+)\]$/.exec(segment)?.[1]

/**
 * Whether a part of a path is `$[]` or `$[name]`.
 *
 * @internal
 */
export const isItems = (segment: string): boolean => segment.startsWith("$[")

/**
 * The paths that a path with `$[]` or `$[name]` in it stands for in a document.
 *
 * @internal
 */
export const placesOf = (
  document: Document,
  path: string,
  filters: ArrayFilters
): Result.Result<ReadonlyArray<string>, Problem> => {
  const segments = segmentsOf(path)
  if (!segments.some(isItems)) return Result.succeed([path])
  return Result.flatMap(attempt(() => visit({ segments, filters }, document, [])), (places) => places)
}

// internal

const namesIn = (condition: Document): ReadonlyArray<string> =>
  Object.entries(condition).flatMap(([key, operand]) =>
    key.startsWith("$")
      ? isArray(operand) ? operand.flatMap((branch) => isDocument(branch) ? namesIn(branch) : []) : []
      : [key.split(".", 1)[0] ?? key]
  )

interface Walk {
  readonly segments: Segments
  readonly filters: ArrayFilters
}

// Filters may throw, as mingo does.
const visit = (
  walk: Walk,
  node: unknown,
  place: ReadonlyArray<string>
): Result.Result<ReadonlyArray<string>, Problem> => {
  const segment = walk.segments[place.length]
  if (segment === undefined) return Result.succeed([place.join(".")])
  if (!isItems(segment)) {
    const next = isDocument(node)
      ? fieldOf(node, segment)
      : isArray(node) && isArrayIndex(segment)
      ? node[Number(segment)]
      : undefined
    return visit(walk, next, [...place, segment])
  }
  if (!isArray(node)) return Result.fail(rejected(`"${place.join(".")}" has no items that could be changed`))
  const name = filterName(segment)
  const filter = name === undefined ? undefined : walk.filters.get(name)
  const places: Array<string> = []
  for (const [i, item] of node.entries()) {
    if (filter !== undefined && name !== undefined && !isMatch(filter, name, item)) continue
    const inner = visit(walk, item, [...place, String(i)])
    if (Result.isFailure(inner)) return inner
    places.push(...inner.success)
  }
  return Result.succeed(places)
}

// An array is an item of its own: what it holds is not looked at.
const isMatch = (filter: Filter, name: string, item: unknown): boolean =>
  filter.matches({ [name]: isArray(item) ? [item] : item })
