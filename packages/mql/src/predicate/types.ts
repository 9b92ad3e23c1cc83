/** The types of BSON, as `$type` and `$jsonSchema` name them. */
import { isDecimal, isDouble, isInt, isLong, toDouble } from "../bson/number.ts"
import { isArray, isNumber, Rank, rankOf } from "../bson/value.ts"
import { reject } from "../limits/queryProblem.ts"
import type { ValueCondition } from "./comparisonOperators.ts"

/** The operator `$type`. */
export const ofType = (operand: unknown): ValueCondition => {
  const wanted = isArray(operand) ? operand : [operand]
  if (wanted.length === 0) return reject(unknownType)
  const tests = Array.from(new Set(wanted.map((type) => typeTest(type) ?? reject(unknownType))))
  const [first, ...others] = tests
  return first !== undefined && others.length === 0 ? first : (value) => tests.some((test) => test(value))
}

/** The test of a type by its name or number; `undefined` if there is none. */
export const typeTest = (type: unknown): ValueCondition | undefined =>
  types.find(([name, code]) => type === name || (isNumber(type) && toDouble(type) === code))?.[2]

export const typeNameOf = (value: unknown): string => types.find(([, , test]) => test(value))?.[0] ?? "missing"

// internal

const unknownType = "$type needs the name or the number of a type, or an array of them"

const ofRank = (rank: Rank): ValueCondition => (value) => value !== undefined && rankOf(value) === rank

// MongoDB's name and number of each type, and the test of a value.
const types: ReadonlyArray<readonly [name: string, code: number | undefined, test: ValueCondition]> = [
  ["double", 1, (value) => isNumber(value) && isDouble(value)],
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
  // Deprecated types, which are not stored.
  ["dbPointer", 12, () => false],
  ["symbol", 14, () => false],
  ["javascriptWithScope", 15, () => false],
  ["javascript", 13, ofRank(Rank.code)],
  ["int", 16, isInt],
  ["timestamp", 17, ofRank(Rank.timestamp)],
  ["long", 18, (value) => isNumber(value) && isLong(value)],
  ["decimal", 19, (value) => isNumber(value) && isDecimal(value)],
  ["minKey", -1, ofRank(Rank.minKey)],
  ["maxKey", 127, ofRank(Rank.maxKey)],
  ["number", undefined, isNumber]
]
