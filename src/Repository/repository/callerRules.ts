/**
 * The rules on documents (rows) of the caller for whom a fiber runs. Repositories apply them in every operation.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ModelLike } from "../../Model/introspection.ts"
import { isArray, isDocument } from "../bson/value.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { tryMingo } from "../mql/expression/operators.ts"
import { parseFilter } from "../mql/filter/parseFilter.ts"
import type { ReadError } from "../RepositoryError.ts"

/**
 * The kinds of operations that rules distinguish.
 *
 * @internal
 */
export type Access = "read" | "insert" | "update" | "delete"

/**
 * The documents of one model that a caller may reach and write. A rule returns the same filter each time, which is then
 * parsed once.
 *
 * @internal
 */
export interface RowRules {
  /** The documents that an operation reaches. `undefined`: all. An insert reaches none, so it is not asked. */
  readonly rows: (access: Access) => Filter | undefined
  /** The documents that a write may leave behind. `undefined`: any. */
  readonly check: (access: "insert" | "update") => Filter | undefined
}

/**
 * The rules of a caller for each model.
 *
 * @internal
 */
export interface CallerRules {
  /** The rules for the model's documents. `undefined`: the caller reaches and writes all of them. */
  readonly of: (model: ModelLike) => Effect.Effect<RowRules | undefined, ReadError>
}

/**
 * The rules of the caller for whom the fiber runs. `undefined`: there is no caller, and no rule.
 *
 * @internal
 */
export const CallerRules = Context.Reference<CallerRules | undefined>("appkernel/Repository/CallerRules", {
  defaultValue: () => undefined
})

/**
 * The filter that matches no document.
 *
 * @internal
 */
export const nothing: Filter = { _id: { $in: [] } }

/**
 * Tests a stored document as the store tests it. A filter that {@link rejectUnsuitable} rejects matches no document. Each
 * filter is parsed once; the most common ones, which compare fields with texts, numbers or booleans, take no parsing.
 *
 * @internal
 */
export const rowMatcher = (filter: Filter): (document: Document) => boolean => {
  const equalities = equalitiesOf(filter)
  if (equalities !== undefined) return Result.getOrElse(parse(equalities), () => matchNone)
  const known = matchers.get(filter)
  if (known !== undefined) return known
  const matcher = Result.getOrElse(parse(filter), () => matchNone)
  matchers.set(filter, matcher)
  return matcher
}

/**
 * Why a filter cannot be a rule, in words that name the operator; `undefined` if it can. A rule is evaluated for a single
 * document before the document is stored, so it cannot have a text search, a distance, code, or a value that is different
 * each time.
 *
 * @internal
 */
export const rejectUnsuitable = (filter: Filter): string | undefined =>
  Result.match(parse(filter), { onFailure: (reason) => reason, onSuccess: () => undefined })

// internal

const matchers = new WeakMap<Filter, (document: Document) => boolean>()

const matchNone = () => false

/** The test of a filter, or why it cannot be a rule. */
const parse = (filter: Filter): Result.Result<(document: Document) => boolean, string> => {
  const operator = unsuitableOperator(filter)
  if (operator !== undefined) return Result.fail(unsuitable(operator))
  // The time is only used for `$$NOW`, which is unsuitable.
  const parsed = parseFilter(filter, 0)
  if (Result.isFailure(parsed)) {
    const { kind, text } = parsed.failure
    return Result.fail(kind === "unsupported" ? unsuitable(text) : text)
  }
  const { isComputed, matches } = parsed.success
  return Result.succeed(
    isComputed
      // An expression may fail for a document.
      ? (document) => Result.getOrElse(tryMingo(() => matches(document)), matchNone)
      : matches
  )
}

/** The values that a filter compares fields with, in the form that `parseFilter` takes as it is. */
const equalitiesOf = (filter: Filter): Filter | undefined => {
  const values: { [field: string]: unknown } = {}
  for (const [field, operand] of Object.entries(filter)) {
    const value = isDocument(operand) && Object.keys(operand).length === 1 ? operand["$eq"] : operand
    if (field.startsWith("$") || field.includes(".") || !isScalar(value)) return undefined
    values[field] = value
  }
  return values
}

const isScalar = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

const unsuitable = (operator: string): string =>
  `${operator} can't be used in a rule, because a rule is evaluated for single documents`

/** The first operator or variable of a filter whose value does not follow from the document. */
const unsuitableOperator = (filter: unknown): string | undefined =>
  isDocument(filter)
    ? firstOf(Object.entries(filter), ([key, operand]) =>
      key === "$text"
        ? key
        : key === "$expr"
        ? unsuitableExpression(operand)
        : parents.has(key)
        ? firstOf([operand].flat(), unsuitableOperator)
        : key.startsWith("$")
        ? undefined
        : unsuitableOperator(operand))
    : undefined

const unsuitableExpression = (expression: unknown): string | undefined => {
  if (typeof expression === "string") return variables.exec(expression)?.[0]
  if (isArray(expression)) return firstOf(expression, unsuitableExpression)
  if (!isDocument(expression) || Object.hasOwn(expression, "$literal")) return undefined
  return Object.hasOwn(expression, "$rand") ? "$rand" : firstOf(Object.values(expression), unsuitableExpression)
}

/** The operators whose operands are filters or operators. */
const parents: ReadonlySet<string> = new Set(["$and", "$or", "$nor", "$not", "$elemMatch", "$all"])

const variables = /^\$\$(?:NOW|CLUSTER_TIME)\b/u

const firstOf = <A>(items: ReadonlyArray<A>, f: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = f(item)
    if (found !== undefined) return found
  }
  return undefined
}
