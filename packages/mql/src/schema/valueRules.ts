/** The keywords of JSON schemas about types, equality, numbers and texts. */
import { Decimal128 } from "bson"
import * as Result from "effect/Result"
import { remainderOf } from "../bson/arithmetic.ts"
import { type BsonNumber, type Exact, exactOf } from "../bson/number.ts"
import { isArray, isNumber } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { ordered, type ValueCondition } from "../predicate/comparisonOperators.ts"
import { typeTest } from "../predicate/types.ts"
import { compilePattern } from "../text/regularExpression.ts"
import {
  countIn,
  differentIn,
  flagIn,
  type Keywords,
  keywordText,
  numberIn,
  rule,
  type RuleParser,
  type SchemaRule,
  unordered
} from "./operands.ts"

/** `type` and `bsonType`. */
export const typeRules: RuleParser = (keywords) => {
  const { bsonType, type } = keywords
  if (type !== undefined && bsonType !== undefined) return reject("a $jsonSchema can't have both type and bsonType")
  if (type !== undefined) return [rule("type", ofTypes("type", type, (name) => jsonTypes.get(name)))]
  return bsonType === undefined ? [] : [rule("bsonType", ofTypes("bsonType", bsonType, bsonTypeTest))]
}

export const enumRules: RuleParser = (keywords) => {
  const values = differentIn(keywords, "enum")
  return values === undefined ? [] : [rule("enum", (value) => values.set.has(unordered(value)))]
}

export const numberRules: RuleParser = (keywords) => [
  ...bound(keywords, "minimum", "exclusiveMinimum", "$gt"),
  ...bound(keywords, "maximum", "exclusiveMaximum", "$lt"),
  ...multiple(keywords)
]

export const textRules: RuleParser = (keywords) => {
  const rules: Array<SchemaRule> = []
  const [least, most, pattern] = [
    countIn(keywords, "minLength"),
    countIn(keywords, "maxLength"),
    keywordText(keywords, "pattern")
  ]
  if (least !== undefined) {
    rules.push(rule("minLength", (value) => typeof value !== "string" || lengthOf(value) >= least))
  }
  if (most !== undefined) rules.push(rule("maxLength", (value) => typeof value !== "string" || lengthOf(value) <= most))
  if (pattern !== undefined) {
    const matches = patternTest(pattern)
    rules.push(rule("pattern", (value) => typeof value !== "string" || matches(value)))
  }
  return rules
}

/** The test of a text by a pattern, which costs as much as the text is long. */
export const patternTest = (pattern: string): (text: string) => boolean => {
  const { size, test } = Result.getOrElse(compilePattern(pattern, ""), reject)
  return (text) => {
    charge(text.length * (1 + size / 16))
    return test(text)
  }
}

// internal

// A whole number beyond 32 bits is read alike, whether it was written as a 64-bit integer or as a double.
const isLong: ValueCondition = (value) =>
  typeof value === "number" ? Number.isSafeInteger(value) && value !== (value | 0) : typeTest("long")?.(value) === true

const bsonTypeTest = (name: string): ValueCondition | undefined => name === "long" ? isLong : typeTest(name)

const jsonTypes: ReadonlyMap<string, ValueCondition | undefined> = new Map(
  [["object", "object"], ["array", "array"], ["number", "number"], ["string", "string"], ["boolean", "bool"], [
    "null",
    "null"
  ]].map(([name = "", bsonType]) => [name, typeTest(bsonType)])
)

const ofTypes = (
  keyword: string,
  given: unknown,
  testOf: (name: string) => ValueCondition | undefined
): ValueCondition => {
  const names = isArray(given) ? given : [given]
  if (names.length === 0 || new Set(names).size < names.length) {
    return reject(`${keyword} of $jsonSchema needs the name of a type, or an array of different ones`)
  }
  const tests = names.map((name) =>
    (typeof name === "string" ? testOf(name) : undefined) ??
      reject(`${keyword} of $jsonSchema needs the name of a type`)
  )
  return (value) => tests.some((test) => test(value))
}

const bound = (
  keywords: Keywords,
  keyword: string,
  exclusive: string,
  operator: "$gt" | "$lt"
): ReadonlyArray<SchemaRule> => {
  const limit = numberIn(keywords, keyword)
  const isExclusive = flagIn(keywords, exclusive) === true
  if (limit === undefined) {
    return keywords[exclusive] === undefined ? [] : reject(`${exclusive} of $jsonSchema needs a ${keyword}`)
  }
  const isWithin = ordered(isExclusive ? operator : `${operator}e`)(limit, undefined)
  return [rule(keyword, (value) => !isNumber(value) || isWithin(value))]
}

const multiple = (keywords: Keywords): ReadonlyArray<SchemaRule> => {
  const given = numberIn(keywords, "multipleOf")
  if (given === undefined) return []
  const divisor = decimalOf(given)
  if (divisor === undefined || divisor.digits <= 0n) return reject("multipleOf of $jsonSchema needs a number above 0")
  return [rule("multipleOf", (value) => !isNumber(value) || isMultiple(value, divisor))]
}

const isMultiple = (value: BsonNumber, divisor: Exact): boolean => {
  const exact = decimalOf(value)
  return exact !== undefined && remainderOf(exact, divisor).digits === 0n
}

/** A number as MongoDB makes a decimal of it: a double with 15 digits. So 0.3 is a multiple of 0.1. */
const decimalOf = (value: BsonNumber): Exact | undefined =>
  typeof value === "number" && !Number.isInteger(value) && Number.isFinite(value)
    ? exactOf(Decimal128.fromString(value.toPrecision(15)))
    : exactOf(value)

/** The number of characters, each a code point. */
const lengthOf = (text: string): number => {
  charge(text.length)
  let count = 0
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) count += 1
  return count
}
