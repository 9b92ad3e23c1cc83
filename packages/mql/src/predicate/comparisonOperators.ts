/**
 * The comparison operators of filters as conditions on single values: with MongoDB's order of values, and regular expressions
 * that don't backtrack.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { wholePartOf } from "../bson/arithmetic.ts"
import { type Collator, orderOf } from "../bson/collator.ts"
import { toDouble } from "../bson/number.ts"
import { isReferenceField } from "../bson/path.ts"
import { equals, isArray, isDocument, isNumber, Rank, rankOf } from "../bson/value.ts"
import { DifferentValues } from "../bson/valueSet.ts"
import { chargeTest } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { compilePattern, compileRegExp, hasOptions, type Pattern } from "../text/regularExpression.ts"

/** A test of a single value, whose items don't count; `undefined` is a missing value. */
export type ValueCondition = (value: unknown) => boolean

/** Parses the operand of an operator, whose texts compare by the collator. Rejects invalid operands. */
export type ConditionParser = (operand: unknown, collator: Collator | undefined) => ValueCondition

const never: ValueCondition = () => false

const matching = (pattern: Result.Result<Pattern, string>, same: ValueCondition): ValueCondition => {
  const { size, test } = Result.getOrElse(pattern, reject)
  return (value) => {
    if (typeof value !== "string") return same(value)
    // RE2 visits each character, and for each at most all instructions of the pattern.
    chargeTest(value.length * (2 + size / 16), value.length * size)
    return test(value)
  }
}

/** An equality among values of `$in`, `$all` and `$pull`: a regular expression equals the texts that it matches. */
export const equal: ConditionParser = (operand, collator) =>
  operand instanceof RegExp
    ? matching(compileRegExp(operand), (value) => equals(value, operand))
    : equalTo(operand, collator)

/** The operator `$eq`. A regular expression equals only another one. */
export const equalTo: ConditionParser = (operand, collator) => {
  const { equals } = orderOf(collator)
  const rank = rankOf(operand)
  if (rank === Rank.null) return (value) => value === undefined || value === null
  return rank === Rank.boolean || (rank === Rank.string && collator === undefined)
    ? (value) => value === operand
    : (value) => value !== undefined && equals(value, operand)
}

/** The operators with an order, which compares only values of one type. */
export const ordered = (operator: "$gt" | "$gte" | "$lt" | "$lte"): ConditionParser => (operand, collator) => {
  const { compare } = orderOf(collator)
  const rank = rankOf(operand)
  const orEqual = operator === "$gte" || operator === "$lte"
  const less = operator === "$lt" || operator === "$lte"
  if (rank === Rank.regularExpression) return reject(`${operator} can't take a regular expression`)
  if (rank === Rank.null) return orEqual ? equal(null, collator) : never
  if (isNaN(operand)) return orEqual ? equal(operand, collator) : never
  const beyond = less ? Rank.maxKey : Rank.minKey
  const meets = (order: number) => (less ? order < 0 : order > 0) || (orEqual && order === 0)
  const general: ValueCondition = (value) =>
    rankOf(value) !== rank ? rank === beyond : !isNaN(value) && meets(compare(value, operand))
  // Fast paths for dates and numbers, the most common operands.
  if (operand instanceof Date) {
    const time = operand.getTime()
    return (value) => value instanceof Date && meets(value.getTime() - time)
  }
  if (typeof operand !== "number") return general
  switch (operator) {
    case "$gt":
      return (value) => typeof value === "number" ? value > operand : general(value)
    case "$gte":
      return (value) => typeof value === "number" ? value >= operand : general(value)
    case "$lt":
      return (value) => typeof value === "number" ? value < operand : general(value)
    case "$lte":
      return (value) => typeof value === "number" ? value <= operand : general(value)
  }
}

const isNaN = (value: unknown): boolean => isNumber(value) && Number.isNaN(toDouble(value))

/** The operator `$in`. */
export const equalToOneOf: ConditionParser = (operand, collator) => {
  const different = isArray(operand) ? new DifferentValues(operand, collator) : operand
  if (!(different instanceof DifferentValues)) return reject("$in and $nin need an array")
  const { list, set } = different
  if (list.some(isOperatorDocument)) return reject("$in and $nin can't contain operators")
  // `null` also equals a missing value, and a regular expression the texts that it matches.
  const others = list.filter((item) => item === null || item instanceof RegExp).map((item) => equal(item, collator))
  return others.length === 0
    ? (value) => value !== undefined && set.has(value)
    : (value) => (value !== undefined && set.has(value)) || others.some((test) => test(value))
}

/** Whether a nested document of a filter holds operators rather than a value. */
export const isOperatorDocument = (value: unknown): value is Document => {
  if (!isDocument(value)) return false
  const [first] = Object.keys(value)
  return first !== undefined && first.startsWith("$") && !isReferenceField(first)
}

/** The operator `$regex` with its `$options`. */
export const matchesPattern = (regex: unknown, options: unknown = ""): ValueCondition => {
  if (typeof options !== "string") return reject("$options needs a text")
  if (options !== "" && regex instanceof RegExp && hasOptions(regex)) {
    return reject("the options of a regular expression are in $regex or in $options, not both")
  }
  if (regex instanceof RegExp) {
    return options === "" ? equal(regex, undefined) : matching(compilePattern(regex.source, options), never)
  }
  return typeof regex === "string"
    ? matching(compilePattern(regex, options), (value) => value instanceof RegExp && value.source === regex)
    : reject("$regex needs a text or a regular expression")
}

export const hasSize = (operand: unknown): ValueCondition => {
  const size = isNumber(operand) ? toDouble(operand) : -1
  return Number.isInteger(size) && size >= 0
    ? (value) => isArray(value) && value.length === size
    : reject("$size needs a whole number from 0")
}

/** The operator `$mod`. */
export const remainderCondition = (operand: unknown): ValueCondition => {
  if (!isArray(operand) || operand.length !== 2 || !operand.every(isNumber)) {
    return reject("$mod needs an array of a divisor and a remainder")
  }
  const [divisor, rest] = operand.map(wholePartOf)
  if (divisor === undefined || divisor === 0n || rest === undefined) {
    return reject("$mod needs a divisor other than 0 and a remainder, which are 64-bit integers")
  }
  const [by, wanted] = [Number(divisor), Number(rest)]
  const isExact = Number.isSafeInteger(by) && Number.isSafeInteger(wanted)
  return (value) => {
    if (!isNumber(value)) return false
    if (isExact && typeof value === "number" && Math.abs(value) < 2 ** 53) return Math.trunc(value) % by === wanted
    const whole = wholePartOf(value)
    return whole !== undefined && whole % divisor === rest
  }
}

/** Whether a condition on array items consists of operators on values, rather than being a filter on documents. */
export const isValueCondition = (condition: Document): boolean => {
  const [first = ""] = Object.keys(condition)
  return isOperatorDocument(condition) && !["$and", "$or", "$nor", "$expr"].includes(first)
}
