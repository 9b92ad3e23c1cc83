/**
 * The comparison operators of filters: with MongoDB's order of values, its traversal of arrays, and regular expressions
 * that don't backtrack.
 */
import * as Result from "effect/Result"
import { toDouble } from "../../bson/number.ts"
import { segmentsOf, someAt } from "../../bson/path.ts"
import { compare, equals, fieldOf, isArray, isDocument, isNumber, Rank, rankOf } from "../../bson/value.ts"
import { DifferentValues } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { reject } from "../limits/queryProblem.ts"
import { compilePattern, compileRegExp, type Pattern } from "../text/regularExpression.ts"

// A test of the value at the end of a path; `undefined` is a missing one.
type Condition = (value: unknown) => boolean

// A test that knows whether the last segment of the path was an array index.
type PathTest = (value: unknown, isItem: boolean) => boolean

// MongoDB's rule for most operators: an array matches if it matches itself or one of its items does. An array that is
// selected by its index in another one is not entered.
const itselfOrItem = (test: Condition): PathTest => (value, isItem) =>
  isArray(value) && !isItem ? value.some((item) => test(item)) || test(value) : test(value)

type Parsed = Result.Result<Condition, string>

const never: Condition = () => false

const matching = (pattern: Pattern, same: Condition): Condition => (value) =>
  typeof value === "string" ? pattern.test(value) : same(value)

// A regular expression equals the texts that it matches.
const equal = (operand: unknown): Parsed =>
  operand instanceof RegExp
    ? Result.map(compileRegExp(operand), (pattern) => matching(pattern, (value) => equals(value, operand)))
    : Result.succeed(isEqualTo(operand))

const isEqualTo = (operand: unknown): Condition => {
  switch (rankOf(operand)) {
    case Rank.null:
      return (value) => value === undefined || value === null
    case Rank.string:
    case Rank.boolean:
      return (value) => value === operand
    default:
      return (value) => value !== undefined && equals(value, operand)
  }
}

// Type bracketing: a value compares only with values of its own type; 5 is neither less nor greater than a text.
const ordered = (operator: "$gt" | "$gte" | "$lt" | "$lte") => (operand: unknown): Parsed => {
  const rank = rankOf(operand)
  const orEqual = operator === "$gte" || operator === "$lte"
  const less = operator === "$lt" || operator === "$lte"
  if (rank === Rank.regularExpression) return Result.fail(`${operator} can't take a regular expression`)
  if (rank === Rank.null) return orEqual ? equal(null) : Result.succeed(never)
  if (isNaN(operand)) return orEqual ? equal(operand) : Result.succeed(never)
  const beyond = less ? Rank.maxKey : Rank.minKey
  const meets = (order: number) => (less ? order < 0 : order > 0) || (orEqual && order === 0)
  // Fast paths for dates and numbers, the most common operands.
  if (operand instanceof Date) {
    const time = operand.getTime()
    return Result.succeed((value) => value instanceof Date && meets(value.getTime() - time))
  }
  return Result.succeed((value) => {
    if (typeof value === "number" && typeof operand === "number") {
      // Not a difference, which is NaN for two infinities. NaN matches nothing.
      return meets(value < operand ? -1 : value > operand ? 1 : value === operand ? 0 : NaN)
    }
    if (rankOf(value) !== rank) return rank === beyond
    if (isNaN(value)) return false
    return meets(compare(value, operand))
  })
}

const isNaN = (value: unknown): boolean => isNumber(value) && Number.isNaN(toDouble(value))

const oneOf = (operand: unknown): Parsed => {
  const different = isArray(operand) ? new DifferentValues(operand) : operand
  if (!(different instanceof DifferentValues)) return Result.fail("$in and $nin need an array")
  const { list, set } = different
  if (list.some(isOperatorDocument)) return Result.fail("$in and $nin can't contain operators")
  const others: Array<Condition> = []
  for (const item of list) {
    // `null` also equals a missing value, and a regular expression the texts that it matches.
    if (item === null || item instanceof RegExp) {
      const condition = equal(item)
      if (Result.isFailure(condition)) return condition
      others.push(condition.success)
    }
  }
  return Result.succeed((value) => (value !== undefined && set.has(value)) || others.some((test) => test(value)))
}

/**
 * Whether a nested document of a filter holds operators rather than a value.
 *
 * @internal
 */
export const isOperatorDocument = (value: unknown): value is Document => {
  if (!isDocument(value)) return false
  const [first] = Object.keys(value)
  return first !== undefined && first.startsWith("$") && !["$ref", "$id", "$db"].includes(first)
}

const matches = (operand: unknown): Parsed => {
  const { options = "", regex } = isDocument(operand) ? { ...operand } : { regex: operand, options: undefined }
  if (typeof options !== "string") return Result.fail("$options needs a text")
  if (regex instanceof RegExp) {
    return options === ""
      ? equal(regex)
      : Result.map(compilePattern(regex.source, options), (pattern) => matching(pattern, () => false))
  }
  return typeof regex === "string"
    ? Result.map(
      compilePattern(regex, options),
      (pattern) => matching(pattern, (value) => value instanceof RegExp && value.source === regex)
    )
    : Result.fail("$regex needs a text or a regular expression")
}

const isTrue = (value: unknown): boolean =>
  value !== false && value !== null && value !== undefined && !(isNumber(value) && toDouble(value) === 0)

const hasSize = (operand: unknown): Parsed =>
  isNumber(operand) && Number.isInteger(toDouble(operand)) && toDouble(operand) >= 0
    ? Result.succeed((value) => isArray(value) && value.length === toDouble(operand))
    : Result.fail("$size needs a whole number from 0")

const remainder = (operand: unknown): Parsed => {
  if (!isArray(operand) || operand.length !== 2 || !operand.every(isNumber)) {
    return Result.fail("$mod needs an array of a divisor and a remainder")
  }
  const [divisor = 0, rest = 0] = operand.map((item) => Math.trunc(toDouble(item)))
  if (divisor === 0 || !Number.isFinite(divisor) || !Number.isFinite(rest)) {
    return Result.fail("$mod needs a divisor other than 0")
  }
  return Result.succeed((value) => isNumber(value) && Math.trunc(toDouble(value)) % divisor === rest)
}

const isInt32 = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) <= 2 ** 31
  && value !== 2 ** 31

const ofRank = (rank: Rank) => (value: unknown): boolean => value !== undefined && rankOf(value) === rank

const hasTag = (tag: string) => (value: unknown): boolean =>
  isNumber(value) && typeof value === "object" && value._bsontype === tag

// MongoDB's name and number of each type, and the test of a value after reading.
const types: ReadonlyArray<readonly [name: string, code: number | undefined, test: (value: unknown) => boolean]> = [
  ["double", 1, (value) => typeof value === "number" && !isInt32(value)],
  ["string", 2, ofRank(Rank.string)],
  ["object", 3, ofRank(Rank.document)],
  ["array", 4, isArray],
  ["binData", 5, ofRank(Rank.binary)],
  ["undefined", 6, () => false],
  ["objectId", 7, ofRank(Rank.objectId)],
  ["bool", 8, ofRank(Rank.boolean)],
  ["date", 9, ofRank(Rank.date)],
  ["null", 10, (value) => value === null],
  ["regex", 11, ofRank(Rank.regularExpression)],
  ["javascript", 13, ofRank(Rank.code)],
  ["int", 16, isInt32],
  ["timestamp", 17, ofRank(Rank.timestamp)],
  ["long", 18, hasTag("Long")],
  ["decimal", 19, hasTag("Decimal128")],
  ["minKey", -1, ofRank(Rank.minKey)],
  ["maxKey", 127, ofRank(Rank.maxKey)],
  ["number", undefined, isNumber]
]

const ofType = (operand: unknown): Parsed => {
  const wanted = isArray(operand) ? operand : [operand]
  const tests = wanted.map((type) =>
    types.find(([name, code]) => type === name || (isNumber(type) && toDouble(type) === code))?.[2]
  )
  const unknown = tests.indexOf(undefined)
  return unknown >= 0 || wanted.length === 0
    ? Result.fail("$type needs the name or the number of a type, or an array of them")
    : Result.succeed((value) => tests.some((test) => test?.(value)))
}

/**
 * Compiles a path and an operand into a test of documents. Rejects invalid operands.
 *
 * @internal
 */
export type FilterOperator = (path: string, operand: unknown) => (document: unknown) => boolean

/**
 * The operand of an operator, apart from the nested conditions of a filter.
 *
 * @internal
 */
export class Operand {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

const unwrap = (operand: unknown): unknown => operand instanceof Operand ? operand.value : operand

/**
 * The test of the value at a path.
 *
 * @internal
 */
export const testAt = (path: string, test: PathTest): (document: unknown) => boolean => {
  const segments = segmentsOf(path)
  return path.includes(".")
    ? (document) => someAt(document, segments, 0, test)
    : (document) => isDocument(document) ? test(fieldOf(document, path), false) : someAt(document, segments, 0, test)
}

const not = (test: (document: unknown) => boolean) => (document: unknown): boolean => !test(document)

const operator = (parse: (operand: unknown) => Parsed): FilterOperator => (path, operand) =>
  testAt(path, itselfOrItem(Result.getOrElse(parse(unwrap(operand)), reject)))

// A negation matches when no value at the path matches the positive operator.
const negation = (positive: FilterOperator): FilterOperator => (path, operand) => not(positive(path, operand))

/**
 * The operator `$eq`.
 *
 * @internal
 */
export const isEqual = operator(equal)
const $in = operator(oneOf)

const $exists: FilterOperator = (path, operand) => {
  const present = testAt(path, (value) => value !== undefined)
  return isTrue(unwrap(operand)) ? present : not(present)
}

/**
 * Whether a condition on array items consists of operators on values, rather than being a filter on documents.
 *
 * @internal
 */
export const isValueCondition = (condition: Document): boolean => {
  const [first = ""] = Object.keys(condition)
  return isOperatorDocument(condition) && !["$and", "$or", "$nor", "$expr"].includes(first)
}

/**
 * The operators on values. A `$regex` comes with its `$options`, as a document.
 *
 * @internal
 */
export const valueOperators: ReadonlyMap<string, FilterOperator> = new Map<string, FilterOperator>([
  ["$eq", isEqual],
  ["$ne", negation(isEqual)],
  ["$gt", operator(ordered("$gt"))],
  ["$gte", operator(ordered("$gte"))],
  ["$lt", operator(ordered("$lt"))],
  ["$lte", operator(ordered("$lte"))],
  ["$in", $in],
  ["$nin", negation($in)],
  ["$regex", operator(matches)],
  ["$exists", $exists],
  ["$size", (path, operand) => testAt(path, Result.getOrElse(hasSize(unwrap(operand)), reject))],
  ["$mod", operator(remainder)],
  ["$type", operator(ofType)]
])
