/**
 * Filters that are evaluated for single documents, in the process. It loads the query language, so only what runs
 * operations imports it.
 */
import * as Result from "effect/Result"
import { isArray, isDocument } from "../bson/value.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { parseFilter } from "../mql/filter/parseFilter.ts"
import { catchRejection } from "../mql/limits/queryProblem.ts"

/**
 * Tests a stored document as the store tests it. A filter that {@link rejectUnsuitable} rejects matches no document. Each
 * filter is parsed once.
 *
 * @internal
 */
export const rowMatcher = (filter: Filter): (document: Document) => boolean => {
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
  const parsed = parseFilter(filter, { now: 0 })
  if (Result.isFailure(parsed)) {
    const { kind, text } = parsed.failure
    return Result.fail(kind === "unsupported" ? unsuitable(text) : text)
  }
  const { matches } = parsed.success
  // An expression or a regular expression may fail for a document.
  return Result.succeed((document) => Result.getOrElse(catchRejection(() => matches(document)), matchNone))
}

const unsuitable = (operator: string): string =>
  `${operator} can't be used in a rule, because a rule is evaluated for single documents`

/** The first operator or variable of a filter whose value does not follow from the document. */
const unsuitableOperator = (filter: unknown): string | undefined =>
  isDocument(filter)
    ? firstOf(Object.entries(filter), ([key, operand]) =>
      key === "$text" || key === "$sampleRate"
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
