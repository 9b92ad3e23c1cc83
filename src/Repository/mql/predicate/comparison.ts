/**
 * The operators of a filter that compare values, in place of mingo's: with MongoDB's order of all values, its way through
 * arrays, and regular expressions that can't be made to hang.
 */
import * as Result from "effect/Result"
import { Query } from "mingo/query"
import type { Options } from "mingo/types"
import { toDouble } from "../../bson/number.ts"
import { isPosition, type Segments, segmentsOf } from "../../bson/path.ts"
import {
  compare,
  equals,
  escapedProto,
  fieldOf,
  isArray,
  isDocument,
  isNumber,
  Rank,
  rankOf
} from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { refuse } from "../limits/queryProblem.ts"
import { compilePattern, compileRegExp, type Pattern } from "../text/regularExpression.ts"

// What was found at the end of a path (`undefined` when nothing was) meets a condition, or doesn't.
type Condition = (value: unknown) => boolean

// What a path leads to; an item, when its last part is a place in an array.
type Found = (value: unknown, isItem: boolean) => boolean

// Mostly, an array meets a condition when it does itself, or one of its items does; an array in an array has none.
const itselfOrItem = (test: Condition): Found => (value, isItem) =>
  isArray(value) && !isItem ? value.some((item) => test(item)) || test(value) : test(value)

type Parsed = Result.Result<Condition, string>

const never: Condition = () => false

const matching = (pattern: Pattern, same: Condition): Condition => (value) =>
  typeof value === "string" ? pattern.test(value) : same(value)

// A regular expression equals what it matches.
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

// An order within one class of values: 5 is less than 6, and neither less nor more than a text.
const ordered = (operator: "$gt" | "$gte" | "$lt" | "$lte") => (operand: unknown): Parsed => {
  const rank = rankOf(operand)
  const orEqual = operator === "$gte" || operator === "$lte"
  const less = operator === "$lt" || operator === "$lte"
  if (rank === Rank.regularExpression) return Result.fail(`${operator} can't take a regular expression`)
  if (rank === Rank.null) return orEqual ? equal(null) : Result.succeed(never)
  if (isNaN(operand)) return orEqual ? equal(operand) : Result.succeed(never)
  const beyond = less ? Rank.maxKey : Rank.minKey
  const meets = (order: number) => (less ? order < 0 : order > 0) || (orEqual && order === 0)
  // What is mostly asked for, without a detour.
  if (operand instanceof Date) {
    const time = operand.getTime()
    return Result.succeed((value) => value instanceof Date && meets(value.getTime() - time))
  }
  return Result.succeed((value) => {
    if (typeof value === "number" && typeof operand === "number") {
      // The difference of two infinities would be no order, and NaN has none.
      return meets(value < operand ? -1 : value > operand ? 1 : value === operand ? 0 : NaN)
    }
    if (rankOf(value) !== rank) return rank === beyond
    if (isNaN(value)) return false
    return meets(compare(value, operand))
  })
}

const isNaN = (value: unknown): boolean => isNumber(value) && Number.isNaN(toDouble(value))

const oneOf = (operand: unknown): Parsed => {
  if (!isArray(operand)) return Result.fail("$in and $nin need an array")
  if (operand.some(isOperatorDocument)) return Result.fail("$in and $nin can't contain operators")
  const values = new ValueSet()
  const others: Array<Condition> = []
  for (const item of operand) {
    // The one equals what is missing, too, and the other what it matches.
    if (item === null || item instanceof RegExp) {
      const condition = equal(item)
      if (Result.isFailure(condition)) return condition
      others.push(condition.success)
    } else values.add(item)
  }
  return Result.succeed((value) => (value !== undefined && values.has(value)) || others.some((test) => test(value)))
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

const sized = (operand: unknown): Parsed =>
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

// MongoDB's name and number of each type, and what it is after reading.
const isInt32 = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) <= 2 ** 31
  && value !== 2 ** 31

const ofRank = (rank: Rank) => (value: unknown): boolean => value !== undefined && rankOf(value) === rank

const hasTag = (tag: string) => (value: unknown): boolean =>
  isNumber(value) && typeof value === "object" && value._bsontype === tag

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

// Looks at all that a path leads to: into documents, and into the documents of arrays on the way.
const reaches = (node: unknown, path: Segments, at: number, found: Found, isItem = false): boolean => {
  const segment = path[at]
  if (segment === undefined) return found(node, isItem)
  if (isDocument(node)) return reaches(fieldOf(node, segment), path, at + 1, found)
  if (!isArray(node)) return found(undefined, false)
  // Beyond the last item, something is missing.
  if (isPosition(segment) && reaches(node[Number(segment)], path, at + 1, found, true)) return true
  return node.some((item) => isDocument(item) && reaches(item, path, at, found))
}

/**
 * Makes a test of documents of a path and an operand, and refuses those that it can't take.
 *
 * @internal
 */
export type FilterOperator = (
  path: string,
  operand: unknown,
  options: Partial<Options>
) => (document: unknown) => boolean

/**
 * An operand that mingo passes on as it is: it would copy it, and lose a key `__proto__`.
 *
 * @internal
 */
export class Operand {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

const given = (operand: unknown): unknown => operand instanceof Operand ? operand.value : operand

/**
 * A path as a key of what mingo reads, where `__proto__` would not be one.
 *
 * @internal
 */
export const escapePath = (path: string): string =>
  path.includes("__proto__")
    ? segmentsOf(path).map((segment) => segment === "__proto__" ? escapedProto : segment).join(".")
    : path

const reaching = (path: string, found: Found): (document: unknown) => boolean => {
  if (!path.includes(".") && path !== escapedProto) return reachingField(path, found)
  const segments = segmentsOf(path).map((segment) => segment === escapedProto ? "__proto__" : segment)
  return (document) => reaches(document, segments, 0, found)
}

const reachingField = (key: string, found: Found): (document: unknown) => boolean => {
  const segments = [key]
  return (document) =>
    isDocument(document) ? found(fieldOf(document, key), false) : reaches(document, segments, 0, found)
}

const not = (test: (document: unknown) => boolean) => (document: unknown): boolean => !test(document)

const operator = (parse: (operand: unknown) => Parsed): FilterOperator => (path, operand) =>
  reaching(path, itselfOrItem(orRefuse(parse(given(operand)))))

// A negation holds when nothing that the path leads to fulfils its opposite.
const negation = (positive: FilterOperator): FilterOperator => (path, operand, options) =>
  not(positive(path, operand, options))

/**
 * Whether a field has a value, as a filter asks it.
 *
 * @internal
 */
export const isEqual = operator(equal)
const $in = operator(oneOf)
const $regex = operator(matches)

const $exists: FilterOperator = (path, operand) => {
  const present = reaching(path, (value) => value !== undefined)
  return isTrue(given(operand)) ? present : not(present)
}

const $elemMatch: FilterOperator = (path, operand, options) => {
  const item = itemCondition(operand, options)
  return reaching(path, (value) => isArray(value) && value.some(item))
}

const itemCondition = (operand: unknown, options: Partial<Options>): Condition => {
  const condition = isDocument(operand) ? operand : refuse("$elemMatch needs a filter or operators")
  if (!isValueCondition(condition)) {
    const query = new Query(condition, options)
    // An array in an array is to a filter a document whose keys are its places.
    return (item) => isDocument(item) ? query.test(item) : isArray(item) && query.test({ ...item })
  }
  const query = new Query({ item: condition }, options)
  const looksInside = Object.keys(condition).every((key) => key === "$elemMatch" || key === "$size")
  // Other operators would look at the items of an item, too.
  return (item) => query.test({ item: isArray(item) && !looksInside ? [item] : item })
}

/**
 * Whether a condition on items holds operators for values, rather than a filter for documents.
 *
 * @internal
 */
export const isValueCondition = (condition: Document): boolean => {
  const [first = ""] = Object.keys(condition)
  return isOperatorDocument(condition) && !["$and", "$or", "$nor", "$expr"].includes(first)
}

// Each is a `$eq` or an `$elemMatch`.
const $every: FilterOperator = (path, operand, options) => {
  const tests = isArray(operand)
    ? operand.filter(isDocument).map((condition) =>
      Object.hasOwn(condition, "$eq")
        ? isEqual(path, condition["$eq"], options)
        : $elemMatch(path, condition["$elemMatch"], options)
    )
    : []
  return (document) => tests.every((test) => test(document))
}

const $item: FilterOperator = (path, operand, options) => reaching(path, itemCondition(operand, options))

/**
 * Operators for mingo's context. `$every` is the conditions of `$all`, `$pattern` a `$regex` with its `$options`, and
 * `$item` that of `$pull`. On an operand that they can't take, they {@link refuse}.
 *
 * @internal
 */
export const filterOperators = {
  $eq: isEqual,
  $ne: negation(isEqual),
  $gt: operator(ordered("$gt")),
  $gte: operator(ordered("$gte")),
  $lt: operator(ordered("$lt")),
  $lte: operator(ordered("$lte")),
  $in,
  $nin: negation($in),
  $regex,
  // mingo would make V8's regular expression of a text.
  $pattern: $regex,
  $exists,
  $size: ((path, operand) => reaching(path, orRefuse(sized(given(operand))))) satisfies FilterOperator,
  $mod: operator(remainder),
  $type: operator(ofType),
  $elemMatch,
  $every,
  $item
}

const operatorsByName: ReadonlyMap<string, FilterOperator> = new Map(Object.entries(filterOperators))

/**
 * The operator of this name, when it is one of {@link filterOperators}; it may throw.
 *
 * @internal
 */
export const filterOperatorOf = (name: string): FilterOperator | undefined => operatorsByName.get(name)

// Whoever calls mingo catches what its operators throw.
const orRefuse = <A>(parsed: Result.Result<A, string>): A =>
  Result.getOrThrowWith(parsed, (reason) => new Error(reason))
