/**
 * The rules of a JSON schema, which accept a value or tell what breaks them, and the operands of keywords. Each function rejects an operand that its keyword does not take, and returns `undefined` if the
 * keyword is not given.
 */
import type { BrokenRule } from "@appkernel/document-store/internal"
import * as Predicate from "effect/Predicate"
import { toDouble } from "../bson/number.ts"
import { isArray, isDocument, isNumber, setField } from "../bson/value.ts"
import { DifferentValues } from "../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import type { ValueCondition } from "../predicate/comparisonOperators.ts"

export const countIn = (keywords: Keywords, keyword: string): number | undefined => {
  const given = keywords[keyword]
  if (given === undefined) return undefined
  const count = isNumber(given) ? toDouble(given) : NaN
  return Number.isSafeInteger(count) && count >= 0
    ? count
    : reject(`${keyword} of $jsonSchema needs a whole number from 0`)
}

/** The operand of a keyword that takes a kind of values, described in words. */
const operandIn =
  <A>(is: (given: unknown) => given is A, description: string) =>
  (keywords: Keywords, keyword: string): A | undefined => {
    const given = keywords[keyword]
    return given === undefined || is(given) ? given : reject(`${keyword} of $jsonSchema ${description}`)
  }

export const numberIn = operandIn(isNumber, "needs a number")

export const flagIn = operandIn(Predicate.isBoolean, "is either true or false")

export const keywordText = operandIn(Predicate.isString, "needs a text")

export const fieldsIn = operandIn(isDocument, "needs a document")

/** At least one item, if the keyword is given. */
export const listIn = (keywords: Keywords, keyword: string): ReadonlyArray<unknown> | undefined => {
  const given = keywords[keyword]
  return given === undefined || (isArray(given) && given.length > 0)
    ? given
    : reject(`${keyword} of $jsonSchema needs an array of at least one item`)
}

export const namesIn = (given: unknown, keyword: string): ReadonlyArray<string> => {
  const names = isArray(given) ? given.filter((name) => typeof name === "string") : []
  return isArray(given) && names.length > 0 && names.length === given.length && new Set(names).size === names.length
    ? names
    : reject(`${keyword} of $jsonSchema needs an array of different texts, at least one`)
}

export const differentIn = (keywords: Keywords, keyword: string): DifferentValues | undefined => {
  const given = listIn(keywords, keyword)
  if (given === undefined) return undefined
  const different = new DifferentValues(given.map(unordered))
  return different.list.length === given.length ? different : reject(`${keyword} of $jsonSchema needs different values`)
}

/** A value with sorted fields in its documents: in a JSON schema, the order does not matter. */
export const unordered = (value: unknown): unknown => {
  if (isArray(value)) {
    charge(value.length)
    return value.map(unordered)
  }
  if (!isDocument(value)) return value
  const sorted: { [key: string]: unknown } = {}
  const names = Object.keys(value).toSorted()
  charge(4 * names.length)
  for (const name of names) setField(sorted, name, unordered(value[name]))
  return sorted
}

export interface SchemaRule {
  /** Whether a value that is there fulfils it. */
  readonly accepts: ValueCondition
  /** What a value breaks that it does not accept. */
  readonly broken: (value: unknown, path: ReadonlyArray<string>) => ReadonlyArray<BrokenRule>
}

/** A rule about a value as a whole. */
export const rule = (keyword: string, accepts: ValueCondition): SchemaRule => ({
  accepts,
  broken: (_, path) => [{ path, keyword }]
})

/** Several rules, each of which a value has to fulfil. */
export const allRules = (rules: ReadonlyArray<SchemaRule>): SchemaRule => ({
  accepts: (value) => {
    charge(costOfRule * (1 + rules.length))
    return rules.every(({ accepts }) => accepts(value))
  },
  broken: (value, path) => rules.flatMap(({ accepts, broken }) => accepts(value) ? [] : broken(value, path))
})

/** The keywords of a schema, as far as they are given. */
export interface Keywords {
  readonly [keyword: string]: unknown
}

/** Parses a schema within a schema; rejects what is none. */
export type SchemaParser = (schema: unknown, keyword: string) => SchemaRule

/** The rules of some keywords of a schema. */
export type RuleParser = (keywords: Keywords, parse: SchemaParser) => ReadonlyArray<SchemaRule>

const costOfRule = 5
