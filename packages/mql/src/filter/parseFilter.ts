/**
 * Parses MongoDB's filters: rejects invalid ones before the first document is read, and extracts what an index can use.
 */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import type { Collator } from "../bson/collator.ts"
import { isOrdinaryKey, normalise } from "../bson/normalise.ts"
import { isArray, ownField } from "../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { distanceTest, type Near } from "../geo/near.ts"
import { beginEvaluation, beginTest } from "../limits/costBudget.ts"
import { catchRejection, type Problem, queryProblem, reject, rejectWith } from "../limits/queryProblem.ts"
import { equal, type ValueCondition } from "../predicate/comparisonOperators.ts"
import type { TextField, TextSearch } from "../text/textSearch.ts"
import type { Constraint } from "./constraints.ts"
import { every, onItems } from "./fieldTest.ts"
import { FilterParser } from "./filterParser.ts"
import { type ItemConditions, itemConditionsOf } from "./matchedItem.ts"

export interface Filter {
  /** Tests a document. It may throw: it rejects what it can't compute, or what would take too long. */
  readonly matches: (document: Document) => boolean
  /** Tests a document as a part of an evaluation that has begun, and from its budget. */
  readonly matchesPart: (part: Document) => boolean
  readonly constraints: ReadonlyArray<Constraint>
  /** The equality conditions that every match meets: an upsert inserts their values. */
  readonly equalities: ReadonlyArray<readonly [path: string, value: unknown]>
  /** Whether every document matches. */
  readonly isEmpty: boolean
  /** Whether the constraints express the whole filter, unless a list has several values at a path. */
  readonly isExact: boolean
  /** How texts compare, unless by their code points. */
  readonly collator: Collator | undefined
  /** The field that it requires to be null or missing, if that is its only condition. */
  readonly missingField?: string | undefined
  readonly itemConditions: ItemConditions
  /** The cost of a test relative to an ordinary filter; 1 for those. */
  readonly relativeCost: number
  /** Whether the filter contains an expression or a JSON schema, which may take long for one document. */
  readonly isComputed: boolean
  /** The text search of a filter with `$text`. */
  readonly search?: Search | undefined
  /** The search by distance of a filter with `$near` or `$nearSphere`, which orders the matches. */
  readonly near?: Near | undefined
}

/** The text search of a filter. */
export interface Search {
  /** The words searched for; a match contains at least one of them. */
  readonly words: ReadonlyArray<string>
  /** The relevance of a document. */
  readonly score: (document: Document) => number
}

/** What the parsing of filters depends on. */
export interface FilterContext extends ExpressionContext {
  /** The fields of the collection's text index; without them, `$text` is rejected. */
  readonly texts?: ReadonlyArray<TextField> | undefined
  /** Whether matches can be put in the order of their distance; otherwise `$near` is rejected. */
  readonly canBeNear?: boolean
}

export const parseFilter = (
  filter: unknown,
  context: FilterContext
): Result.Result<Filter, Problem> => {
  const equality = equalityFilter(filter, context.collator)
  if (equality !== undefined) return Result.succeed(equality)
  return Result.flatMap(
    Result.mapError(normalise(filter, true), queryProblem),
    (normalised) => catchRejection(() => parse(normalised, context))
  )
}

/** The fast path for filters that compare top-level fields with scalars, such as `{ _id }`; else `undefined`. */
export const equalityFilter = (filter: unknown, collator: Collator | undefined): Filter | undefined => {
  if (!isOwnDocument(filter)) return undefined
  const fields: Array<readonly [string, unknown]> = []
  for (const path of Object.keys(filter)) {
    const value = comparedValue(filter[path])
    if (!isScalar(value) || !isOrdinaryKey(path) || path.startsWith("$") || path.includes(".")) return undefined
    fields.push([path, value])
  }
  return new EqualityFilter(fields, collator)
}

const parse = (filter: Document, context: FilterContext): Filter => {
  const parser = new FilterParser(context)
  const { itemConditions, test: conditionsTest } = parser.filter(filter, true)
  const { conditions, constraints, equalities, isComputed, near, search, size } = parser
  if (near !== undefined && context.canBeNear !== true) {
    rejectWith(
      queryProblem("$near and $nearSphere can't be used here", "in a pipeline, use $geoNear as its first stage")
    )
  }
  if (near !== undefined && search !== undefined) reject("$near and $nearSphere can't be used with $text")
  const test = near === undefined ? conditionsTest : every([conditionsTest, distanceTest(near)])
  const parsed: Filter = {
    matches: isComputed
      ? (document) => {
        beginEvaluation()
        return test(document)
      }
      : (document) => {
        beginTest()
        return test(document)
      },
    matchesPart: test,
    isComputed,
    collator: context.collator,
    constraints,
    equalities,
    isEmpty: conditions === 0,
    isExact: conditions === parser.exactConditions && !isComputed && near === undefined,
    missingField: conditions === 1 ? missingFieldOf(constraints) : undefined,
    itemConditions,
    relativeCost: relativeCostOf(size),
    near
  }
  if (search === undefined) return parsed
  return context.texts === undefined
    ? reject("$text needs a text index, and in a pipeline it needs to be in the first stage")
    : withSearch(parsed, search, context.texts)
}

const missingFieldOf = ([constraint]: ReadonlyArray<Constraint>): string | undefined =>
  constraint?.kind === "in" && constraint.values.length === 1 && constraint.values[0] === null
    ? constraint.path
    : undefined

const isOwnDocument = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The value of `{ $eq: value }`, otherwise the operand itself. */
const comparedValue = (operand: unknown): unknown => {
  if (!isOwnDocument(operand)) return operand
  const [operator, ...others] = Object.keys(operand)
  return operator === "$eq" && others.length === 0 ? operand[operator] : operand
}

class EqualityFilter implements Filter {
  readonly equalities: Filter["equalities"]
  readonly constraints: ReadonlyArray<Constraint>
  readonly matches: Filter["matches"]
  readonly matchesPart: Filter["matchesPart"]
  readonly isEmpty: boolean
  readonly isExact = true
  readonly relativeCost: number
  readonly isComputed = false
  readonly collator: Collator | undefined
  constructor(fields: Filter["equalities"], collator: Collator | undefined) {
    this.collator = collator
    this.equalities = fields
    this.constraints = fields.map(([path, value]) => ({ kind: "in", path, values: [value] }))
    this.matches = every(fields.map(([path, value]) => scalarTest(path, value, collator)))
    this.matchesPart = this.matches
    this.isEmpty = fields.length === 0
    this.relativeCost = relativeCostOf(1 + 2 * fields.length)
  }
  get itemConditions(): ItemConditions {
    const conditions = this.equalities.map(([path, value]) =>
      itemConditionsOf(path, onItems(equal(value, this.collator)))
    )
    return (path) => conditions.flatMap((conditionsAt) => conditionsAt(path))
  }
}

/** Tests a top-level field, without what longer paths and other values need. */
const scalarTest = (path: string, value: unknown, collator: Collator | undefined): Filter["matches"] => {
  if (collator !== undefined || typeof value === "number") {
    const accepts = equal(value, collator)
    return (document) => {
      const found = ownField(document, path)
      if (!isArray(found)) return accepts(found)
      spend(found.length)
      for (const item of found) if (accepts(item)) return true
      return false
    }
  }
  return (document) => {
    const found = ownField(document, path)
    if (!isArray(found)) return found === value
    spend(found.length / 8)
    return found.includes(value)
  }
}

const ordinarySize = 64

/** The work of a test by a filter whose relative cost is 1. */
export const matchCost = 50

const relativeCostOf = (size: number): number => Math.max(1, size / ordinarySize)

/** The filter that every document matches. */
export const matchAll: Filter = new EqualityFilter([], undefined)

const isScalar = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : typeof value === "number" || typeof value === "boolean"

const withSearch = (filter: Filter, search: TextSearch, texts: ReadonlyArray<TextField>): Filter => ({
  ...filter,
  matches: (document) => filter.matches(document) && search.matches(document, texts),
  matchesPart: (document) => filter.matchesPart(document) && search.matches(document, texts),
  isEmpty: false,
  isExact: false,
  missingField: undefined,
  search: { words: search.words, score: (document) => search.score(document, texts) }
})

/** Parses the operand of an `$elemMatch` into a test of an item. May throw. */
export const parseItemCondition = (condition: Document, context: ExpressionContext): ValueCondition =>
  new FilterParser(context).item(condition)

/** Parses a condition that is the operand of a `$pull` into a test of an item. May throw. */
export const parsePullCondition = (condition: Document | RegExp, context: ExpressionContext): ValueCondition =>
  new FilterParser(context).pull(condition)
