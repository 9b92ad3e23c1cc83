/**
 * Expands the array operators in paths of updates: `$[]` for every item, `$[name]` for the items that a filter matches.
 */
import * as Result from "effect/Result"
import { normalise } from "../../bson/normalise.ts"
import { childOf, type Segments, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { type Filter, parseFilter } from "../filter/parseFilter.ts"
import { catchRejection, type Problem, rejected } from "../limits/queryProblem.ts"

/**
 * Array filters by their names.
 *
 * @internal
 */
export type ArrayFilters = ReadonlyMap<string, Filter>

/** @internal */
export const noArrayFilters: ArrayFilters = new Map()

/**
 * Parses array filters.
 *
 * @internal
 */
export const parseArrayFilters = (
  given: ReadonlyArray<unknown> | undefined,
  context: ExpressionContext
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
    const filter = parseFilter(normalised.success, context)
    if (Result.isFailure(filter)) return Result.fail(filter.failure)
    if (filter.success.isComputed) {
      return Result.fail(rejected("neither $expr nor $jsonSchema can be used in an array filter"))
    }
    filters.set(name, filter.success)
  }
  return Result.succeed(filters)
}

/**
 * The name in a segment `$[name]`; `undefined` for any other segment.
 *
 * @internal
 */
export const filterName = (segment: string): string | undefined => /^\$\[(.+)\]$/.exec(segment)?.[1]

/**
 * Whether a segment is `$[]` or `$[name]`.
 *
 * @internal
 */
export const isItems = (segment: string): boolean => segment.startsWith("$[")

/**
 * Expands a path with `$[]` or `$[name]` into the paths of the matching items of a document.
 *
 * @internal
 */
export const expandPath = (
  document: Document,
  path: string,
  filters: ArrayFilters
): Result.Result<ReadonlyArray<string>, Problem> => {
  const segments = segmentsOf(path)
  if (!segments.some(isItems)) return Result.succeed([path])
  return Result.flatMap(catchRejection(() => visit({ segments, filters }, document, [])), (places) => places)
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

// Filters may throw.
const visit = (
  walk: Walk,
  node: unknown,
  place: ReadonlyArray<string>
): Result.Result<ReadonlyArray<string>, Problem> => {
  const segment = walk.segments[place.length]
  if (segment === undefined) return Result.succeed([place.join(".")])
  if (!isItems(segment)) {
    return visit(walk, childOf(node, segment), [...place, segment])
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

// An array as an item is wrapped, so that the filter does not test its items.
const isMatch = (filter: Filter, name: string, item: unknown): boolean =>
  filter.matches({ [name]: isArray(item) ? [item] : item })
