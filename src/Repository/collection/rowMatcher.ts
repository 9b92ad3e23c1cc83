/**
 * Filters that are evaluated for single documents, in the process. It loads the query language, so only what runs
 * operations imports it.
 */
import { spend } from "@appkernel/document-store/internal"
import { catchRejection, matchCost, parseFilter, randomOperators } from "@appkernel/mql"
import { isArray, isDocument, isNumber, normalise, toDouble } from "@appkernel/mql/values"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { withDefaults } from "./defaultedFields.ts"

/** Tests a stored document of the model as its repository finds it: with the defaults of fields that it lacks. */
export const modelMatcher = (model: ModelLike, filter: Filter): (document: Document) => boolean =>
  rowMatcher(withDefaults(model)(filter))

/** Tests a document as the store does, by a filter parsed once. {@link rejectUnsuitable} ones match nothing. */
export const rowMatcher: (filter: Filter) => (document: Document) => boolean = memoize((filter) =>
  Result.getOrElse(parse(filter), () => matchNone)
)

/**
 * Why a filter cannot be a rule, in words that name the operator; `undefined` if it can. A rule is evaluated for a single
 * document before the document is stored, so it cannot have a text search, a distance, code, a value that is different
 * each time, or a type of numbers that a document does not show when it is read.
 */
export const rejectUnsuitable = (filter: Filter): string | undefined =>
  Result.match(parse(filter), { onFailure: (reason) => reason, onSuccess: () => undefined })

// internal

const matchNone = () => false

/** The test of a filter, or why it cannot be a rule. */
const parse = (filter: Filter): Result.Result<(document: Document) => boolean, string> => {
  const normalised = normalise(filter, true)
  if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
  const reason = unsuitableReason(normalised.success)
  if (reason !== undefined) return Result.fail(reason)
  // The time is only used for `$$NOW`, which is unsuitable.
  const parsed = parseFilter(filter, { now: 0 })
  if (Result.isFailure(parsed)) {
    const { kind, text } = parsed.failure
    return Result.fail(kind === "unsupported" ? unsuitable(text) : text)
  }
  const { matches, relativeCost } = parsed.success
  const cost = matchCost * relativeCost
  return Result.succeed((document) => {
    spend(cost)
    // An expression or a regular expression may fail for a document.
    return Result.getOrElse(catchRejection(() => matches(document)), matchNone)
  })
}

const unsuitable = (operator: string): string =>
  `${operator} can't be used in a rule, because a rule is evaluated for single documents`

const untyped = (operator: string, type: string): string =>
  `${operator} ${type} can't be used in a rule, because documents that are read do not tell int, long and double apart`

/** Why the value of a filter does not follow from the document as it is read; the first reason. */
const unsuitableReason = (filter: unknown): string | undefined =>
  isDocument(filter)
    ? firstOf(Object.entries(filter), ([key, operand]) =>
      key === "$text" || key === "$sampleRate"
        ? unsuitable(key)
        : key === "$expr"
        ? unsuitableExpression(operand)
        : key === "$type"
        ? untypedNumber(key, operand)
        : key === "$jsonSchema"
        ? unsuitableSchema(operand)
        : parents.has(key)
        ? firstOf([operand].flat(), unsuitableReason)
        : key.startsWith("$")
        ? undefined
        : unsuitableReason(operand))
    : undefined

const unsuitableExpression = (expression: unknown): string | undefined => {
  if (typeof expression === "string") {
    const [variable] = variables.exec(expression) ?? []
    return variable === undefined ? undefined : unsuitable(variable)
  }
  if (isArray(expression)) return firstOf(expression, unsuitableExpression)
  if (!isDocument(expression) || Object.hasOwn(expression, "$literal")) return undefined
  return firstOf(Object.entries(expression), ([key, operand]) =>
    randomOperators.has(key)
      ? unsuitable(key)
      : key === "$type" || key === "$bsonSize"
      ? untyped("$expr with", key)
      : unsuitableExpression(operand))
}

const unsuitableSchema = (schema: unknown): string | undefined =>
  isArray(schema)
    ? firstOf(schema, unsuitableSchema)
    : isDocument(schema)
    ? firstOf(
      Object.entries(schema),
      ([key, part]) => (key === "bsonType" ? untypedNumber(key, part) : undefined) ?? unsuitableSchema(part)
    )
    : undefined

/** The reason of a type of numbers among the types of an operand. */
const untypedNumber = (operator: string, types: unknown): string | undefined =>
  firstOf([types].flat(), (type) => numberTypes.has(typeText(type)) ? untyped(operator, typeText(type)) : undefined)

// A number of any type, or a name.
const typeText = (type: unknown): string => isNumber(type) ? `${toDouble(type)}` : typeof type === "string" ? type : ""

/** The types of numbers that are read as JavaScript's, by their names and numbers. */
const numberTypes: ReadonlySet<string> = new Set(["int", "long", "double", "16", "18", "1"])

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
