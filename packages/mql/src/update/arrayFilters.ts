/**
 * Expands the array operators in paths of updates: `$[]` for every item, `$[name]` for the items that a filter matches.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { normalise } from "../bson/normalise.ts"
import { childOf, type Segments, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument } from "../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { type Filter, parseFilter } from "../filter/parseFilter.ts"
import { chargeTest } from "../limits/costBudget.ts"
import { orReject, reject } from "../limits/queryProblem.ts"

/** Array filters by their names. */
export type ArrayFilters = ReadonlyMap<string, Filter>

export const noArrayFilters: ArrayFilters = new Map()

/** Parses array filters. May throw. */
export const parseArrayFilters = (
  given: ReadonlyArray<unknown> | undefined,
  context: ExpressionContext
): ArrayFilters => {
  if (given === undefined || given.length === 0) return noArrayFilters
  const filters = new Map<string, Filter>()
  for (const condition of given) {
    const normalised = Result.getOrElse(normalise(condition, true), reject)
    const [name, ...others] = new Set(namesIn(normalised))
    if (name === undefined || others.length > 0 || !/^[a-z][A-Za-z0-9]*$/.test(name)) {
      return reject("an array filter needs one name that all its paths begin with")
    }
    if (filters.has(name)) return reject(`there are several array filters named "${name}"`)
    const filter = orReject(parseFilter(normalised, context))
    if (filter.isComputed) return reject("neither $expr nor $jsonSchema can be used in an array filter")
    filters.set(name, filter)
  }
  return filters
}

/** The name in a segment `$[name]`; `undefined` for any other segment. */
export const filterName = (segment: string): string | undefined => /^\$\[(.+)\]$/.exec(segment)?.[1]

/** Whether a segment is `$[]` or `$[name]`. */
export const isItems = (segment: string): boolean => segment.startsWith("$[")

/**
 * Expands a path with `$[]` or `$[name]` into the paths of the matching items of a document, as a part of an evaluation.
 * May throw.
 */
export const expandPath = (
  document: Document,
  path: string,
  filters: ArrayFilters
): ReadonlyArray<string> => {
  const segments = segmentsOf(path)
  return segments.some(isItems) ? visit({ segments, filters }, document, []) : [path]
}

// internal

const namesIn = (condition: Document): ReadonlyArray<string> =>
  Object.entries(condition).flatMap(([key, operand]) =>
    key.startsWith("$")
      ? isArray(operand) ? operand.flatMap((branch) => isDocument(branch) ? namesIn(branch) : []) : []
      : [key.split(".", 1)[0] ?? key]
  )

// The work of an item, and of changing what is at a place.
const itemCost = 4
const placeCost = 24

interface Walk {
  readonly segments: Segments
  readonly filters: ArrayFilters
}

const visit = (walk: Walk, node: unknown, place: ReadonlyArray<string>): ReadonlyArray<string> => {
  const segment = walk.segments[place.length]
  if (segment === undefined) {
    chargeTest(placeCost)
    return [place.join(".")]
  }
  if (!isItems(segment)) {
    return visit(walk, childOf(node, segment), [...place, segment])
  }
  if (!isArray(node)) return reject(`"${place.join(".")}" has no items that could be changed`)
  const name = filterName(segment)
  const filter = name === undefined ? undefined : walk.filters.get(name)
  chargeTest(itemCost * node.length)
  return node.flatMap((item, i) =>
    filter !== undefined && name !== undefined && !filter.matchesPart({ [name]: item })
      ? []
      : visit(walk, item, [...place, String(i)])
  )
}
