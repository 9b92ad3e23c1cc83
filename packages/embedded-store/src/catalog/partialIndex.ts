/**
 * Partial indexes: the documents that they contain, and the queries that match no other documents and so can use them.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import {
  type Collator,
  type Constraint,
  isArray,
  isDocument,
  isNumber,
  isOperatorDocument,
  normalise,
  type Order,
  orderOf,
  parseFilter,
  type Problem,
  queryProblem,
  Rank,
  rankOf,
  toDouble,
  unsupported
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"

export interface FilterPart {
  readonly holds: (document: Document) => boolean
  /** Whether the index contains every document that meets the constraints. */
  readonly isImpliedBy: (constraints: ReadonlyArray<Constraint>) => boolean
}

/** Parses the filter of a partial index. */
export const parsePart = (filter: unknown, collator?: Collator): Result.Result<FilterPart, Problem> =>
  Result.flatMap(
    Result.mapError(normalise(filter, true), queryProblem),
    (normalised) =>
      Result.flatMap(
        Result.flatMap(
          conditionsOf(normalised),
          (all) => Result.all(all.map((condition) => parseCondition(condition, collator)))
        ),
        (conditions) =>
          Result.map(parseFilter(normalised, { now: 0, collator }), ({ matches }) => ({
            holds: matches,
            isImpliedBy: (constraints) => conditions.every((isImplied) => isImplied(constraints))
          }))
      )
  )

type Condition = readonly [path: string, operand: unknown]

const conditionsOf = (filter: Document): Result.Result<ReadonlyArray<Condition>, Problem> =>
  Result.map(
    Result.all(
      Object.entries(filter).map(([key, operand]): Result.Result<ReadonlyArray<Condition>, Problem> => {
        if (!key.startsWith("$")) return Result.succeed([[key, operand]])
        if (key !== "$and") return Result.fail(unsupported(`a partial index with ${key}`))
        return isArray(operand) && operand.length > 0 && operand.every(isDocument)
          ? Result.map(Result.all(operand.map(conditionsOf)), (all) => all.flat())
          : Result.fail(queryProblem("$and needs an array of filters, at least one"))
      })
    ),
    (all) => all.flat()
  )

const bounds = new Set(["$gt", "$gte", "$lt", "$lte", "$exists"])
const operators = new Set([...bounds, "$eq", "$in", "$type"])

type Implied = (constraints: ReadonlyArray<Constraint>) => boolean

const parseCondition = (
  [path, operand]: Condition,
  collator: Collator | undefined
): Result.Result<Implied, Problem> => {
  const used = isOperatorDocument(operand) ? Object.keys(operand) : []
  const unknown = used.find((operator) => !operators.has(operator))
  if (unknown !== undefined) return Result.fail(unsupported(`a partial index with ${unknown}`))
  if (isOperatorDocument(operand) && Object.hasOwn(operand, "$exists") && operand["$exists"] !== true) {
    return Result.fail(unsupported("a partial index with an $exists other than true"))
  }
  // The condition is parsed for a field without dots, so that it can be tested with a single value.
  return Result.map(parseFilter({ [field]: operand }, { now: 0, collator }), ({ constraints: needed, matches }) => {
    const isMetBy = (value: unknown): boolean =>
      // A document that matches `null` may also lack the field.
      matches({ [field]: value }) && (rankOf(value) !== Rank.null || matches({}))
    // An operand that yields no constraint has no bounds that could imply it.
    const isBounded = used.length > 0 && used.every((operator) => bounds.has(operator)) && needed.length === used.length
    return (constraints) => {
      const given = constraints.filter((constraint) => constraint.path === path)
      return given.some((constraint) => constraint.kind === "in" && constraint.values.every(isMetBy))
        || (isBounded &&
          needed.every((need) => given.some((constraint) => implies(constraint, need, orderOf(collator)))))
    }
  })
}

const field = "value"

const implies = (given: Constraint, needed: Constraint, { compare }: Order): boolean => {
  if (needed.kind === "exists") {
    return given.kind === "exists" || ((given.kind === "least" || given.kind === "most") && isOrdinary(given.value))
  }
  if ((needed.kind !== "least" && needed.kind !== "most") || given.kind !== needed.kind) return false
  if (!isOrdinary(given.value) || !isOrdinary(needed.value) || rankOf(given.value) !== rankOf(needed.value)) {
    return false
  }
  const order = compare(given.value, needed.value) * (needed.kind === "least" ? 1 : -1)
  return order > 0 || (order === 0 && (given.isStrict || !needed.isStrict))
}

// `MinKey` and `MaxKey` compare with values of all types, `null` with missing ones, and NaN with itself alone.
const isOrdinary = (value: unknown): boolean => !extraordinary.has(rankOf(value)) && !isNaN(value)

const isNaN = (value: unknown): boolean => isNumber(value) && Number.isNaN(toDouble(value))

const extraordinary: ReadonlySet<Rank> = new Set([Rank.null, Rank.minKey, Rank.maxKey])
