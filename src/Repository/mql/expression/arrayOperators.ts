/**
 * The expression operators on arrays, sets and documents, in place of mingo's or around them: they charge their cost
 * before they do the work.
 */
import * as Result from "effect/Result"
import { compareKeys, type Direction, segmentsOf, sortKeyOf } from "../../bson/path.ts"
import { compare, equals, escapedProto, fieldOf, isArray, isDocument } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  costOf,
  evaluate,
  type EvaluationOptions,
  isNothing,
  literal,
  mingo,
  namedOf,
  operandsOf,
  type Operator,
  type Operators
} from "./operatorContext.ts"

const listOf = (name: string, value: unknown): ReadonlyArray<unknown> =>
  isArray(value) ? value : reject(`${name} needs an array`)

// The value of a reference was measured when it was made.
const isReference = (expression: unknown): boolean =>
  typeof expression === "string" || (isDocument(expression) && Object.hasOwn(expression, "$path"))

/** The value of a variable. It is measured, so that using it repeatedly can't grow a value without limit. */
const named = (document: unknown, expression: unknown, options: EvaluationOptions): unknown => {
  const value = evaluate(document, expression, options)
  if (!isReference(expression)) sizeOfValue(value)
  return value
}

const iterationCost = 60

/** Wraps an operator that evaluates one of its parts for each item of its input. */
const looping = (original: Operator, part: string): Operator => (document, operand, options) => {
  if (!isDocument(operand) || !Object.hasOwn(operand, "input")) return original(document, operand, options)
  const input = named(document, operand["input"], options)
  if (isArray(input)) charge(input.length * (iterationCost + costOf(operand[part])))
  return original(document, { ...operand, input: literal(input) }, options)
}

/**
 * An internal operator around the body of `$reduce`: measures each intermediate result.
 *
 * @internal
 */
export const $grown: Operator = (document, operand, options) => {
  const value = evaluate(document, operand, options)
  sizeOfValue(value)
  return value
}

const reduced = looping(mingo.$reduce, "in")

const $reduce: Operator = (document, operand, options) =>
  isDocument(operand) && Object.hasOwn(operand, "initialValue") && Object.hasOwn(operand, "in")
    ? reduced(document, {
      ...operand,
      initialValue: literal(named(document, operand["initialValue"], options)),
      in: { $grown: operand["in"] }
    }, options)
    : mingo.$reduce(document, operand, options)

const $let: Operator = (document, operand, options) => {
  if (!isDocument(operand) || !isDocument(operand["vars"])) return reject("$let needs vars and an expression")
  const vars = Object.fromEntries(
    Object.entries(operand["vars"]).map(([name, value]) => [name, literal(named(document, value, options))])
  )
  return mingo.$let(document, { vars, in: operand["in"] }, options)
}

const $concatArrays: Operator = (document, operand, options) => {
  const lists = evaluate(document, operand, options)
  if (isNothing(lists)) return null
  let length = 0
  for (const list of listOf("$concatArrays", lists)) {
    if (isNothing(list)) return null
    length += listOf("$concatArrays", list).length
  }
  charge(length)
  const result = new Array<unknown>(length)
  let at = 0
  for (const list of listOf("$concatArrays", lists)) {
    for (const item of listOf("$concatArrays", list)) result[at++] = item
  }
  return result
}

const $zip: Operator = (document, operand, options) => {
  if (!isDocument(operand) || !Object.hasOwn(operand, "inputs")) return reject("$zip needs inputs")
  const inputs = evaluate(document, operand["inputs"], options)
  if (isArray(inputs)) {
    const longest = inputs.reduce<number>((most, input) => Math.max(most, isArray(input) ? input.length : 0), 0)
    charge(longest * (8 + inputs.length))
  }
  return mingo.$zip(document, { ...operand, inputs: literal(inputs) }, options)
}

// MongoDB limits the memory of a range, too.
const maxRange = 1_000_000

const $range: Operator = (document, operand, options) => {
  const [start, end, given] = operandsOf(document, operand, options)
  const step = given ?? 1
  if (!isWhole(start) || !isWhole(end) || !isWhole(step) || step === 0) {
    return reject("$range needs whole numbers, and a step other than 0")
  }
  const length = Math.max(0, Math.ceil((end - start) / step))
  if (length > maxRange) return reject(`$range gives ${maxRange} numbers at most`)
  charge(length)
  // Allocates exactly as many slots as needed, unlike an array that grows.
  const numbers = new Array<number>(length)
  for (let i = 0; i < length; i++) numbers[i] = start + i * step
  return numbers
}

const $in: Operator = (document, operand, options) => {
  const [value, list] = operandsOf(document, operand, options)
  if (!isArray(list)) return reject("$in needs an array")
  chargeSearch(list, value)
  for (let i = 0; i < list.length; i++) if (equals(list[i], value)) return true
  return false
}

const $indexOfArray: Operator = (document, operand, options) => {
  const operands = operandsOf(document, operand, options)
  const [list, value] = operands
  if (isArray(list)) chargeSearch(list, value)
  return mingo.$indexOfArray(document, operands.map(literal), options)
}

const chargeSearch = (list: ReadonlyArray<unknown>, value: unknown): void =>
  charge(list.length + (typeof value === "object" ? sizeOfValue(list) : typeof value === "string" ? list.length : 0))

const $mergeObjects: Operator = (document, operand, options) => {
  const documents = evaluate(document, operand, options)
  if (isArray(documents)) {
    charge(documents.length)
    for (const item of documents) if (isDocument(item)) charge(4 * Object.keys(item).length)
  }
  return mingo.$mergeObjects(document, literal(documents), options)
}

const $objectToArray: Operator = (document, operand, options) => {
  const value = evaluate(document, operand, options)
  if (isDocument(value)) charge(8 * Object.keys(value).length)
  return mingo.$objectToArray(document, literal(value), options)
}

// mingo's own spreads an array that is the value of a key.
const $arrayToObject: Operator = (document, operand, options) => {
  const value = evaluate(document, operand, options)
  if (isNothing(value)) return null
  const given = listOf("$arrayToObject", value)
  // The operand may be wrapped in an array of one.
  const [only] = given.length === 1 ? given : []
  const items = isArray(only) && typeof only[0] === "object" && only[0] !== null ? only : given
  const isPairs = isArray(items[0])
  charge(16 * items.length)
  const result: { [key: string]: unknown } = {}
  for (const item of items) {
    const [key, field] = isPairs
      ? isArray(item) && item.length === 2 ? item : []
      : isDocument(item)
      ? [fieldOf(item, "k"), fieldOf(item, "v")]
      : []
    if (typeof key !== "string") return reject("$arrayToObject needs pairs of keys and values, all of one kind")
    result[key === "__proto__" ? escapedProto : key] = field
  }
  return result
}

/** A slice of an array. `Array.prototype.slice` is much slower on a frozen array. */
const part = (items: ReadonlyArray<unknown>, from: number, to: number): ReadonlyArray<unknown> => {
  const [start, end] = [Math.max(0, from), Math.min(items.length, to)]
  const length = Math.max(0, end - start)
  charge(length)
  return Array.from({ length }, (_, i) => items[start + i])
}

const $slice: Operator = (document, operand, options) => {
  const [list, n, limit, ...others] = operandsOf(document, operand, options)
  if (isNothing(list)) return null
  const items = listOf("$slice", list)
  if (!isWhole(n) || !(isNothing(limit) || (isWhole(limit) && limit > 0)) || others.length > 0) {
    return reject("$slice needs whole numbers, of which the last is 1 at least")
  }
  const start = n < 0 ? Math.max(0, items.length + n) : n
  return isWhole(limit)
    ? part(items, start, start + limit)
    : n < 0
    ? part(items, start, items.length)
    : part(items, 0, n)
}

const isWhole = (value: unknown): value is number => Number.isInteger(value)

const $reverseArray: Operator = (document, operand, options) => {
  const value = evaluate(document, isArray(operand) && operand.length === 1 ? operand[0] : operand, options)
  return isNothing(value) ? null : [...listOf("$reverseArray", value)].toReversed()
}

const settingField = (original: Operator): Operator => (document, operand, options) => {
  if (!isDocument(operand) || !Object.hasOwn(operand, "input")) return original(document, operand, options)
  const input = evaluate(document, operand["input"], options)
  if (isDocument(input)) charge(4 * Object.keys(input).length)
  return original(document, { ...operand, input: literal(input) }, options)
}

/** The first or last item of an array. As an accumulator, the operator gets an array of documents instead. */
const itemOf = (name: string, original: Operator, at: 0 | -1): Operator => (document, operand, options) => {
  if (isArray(document)) return original(document, operand, options)
  const value = evaluate(document, operand, options)
  return isNothing(value) ? null : listOf(name, value).at(at)
}

/** An operator with `n` that takes some items of an array. */
const someOf =
  (name: string, original: Operator, take: (items: ReadonlyArray<unknown>, n: number) => unknown): Operator =>
  (document, operand, options) => {
    if (isArray(document)) return original(document, operand, options)
    const { input, n } = namedOf(document, operand, options)
    if (isNothing(input)) return null
    if (!isWhole(n) || n < 1) return reject(`${name} needs a whole number from 1`)
    return take(listOf(name, input), n)
  }

/**
 * Sorts values in MongoDB's order.
 *
 * @internal
 */
export const inOrder = (items: ReadonlyArray<unknown>, sign: 1 | -1): ReadonlyArray<unknown> => {
  chargeSort(items)
  return [...items].toSorted((a, b) => sign * compare(a, b))
}

const chargeSort = (items: ReadonlyArray<unknown>): void =>
  charge((items.length + sizeOfValue(items) / 16) * Math.log2(items.length + 1))

const withoutNothing = (items: ReadonlyArray<unknown>) => items.filter((item) => !isNothing(item))

const $sortArray: Operator = (document, operand, options) => {
  const { input, sortBy } = namedOf(document, operand, options)
  if (isNothing(input)) return null
  const items = listOf("$sortArray", input)
  if (sortBy === 1 || sortBy === -1) return inOrder(items, sortBy)
  if (!isDocument(sortBy)) return reject("$sortArray needs 1, -1 or fields to sort by")
  chargeSort(items)
  const directions = Object.entries(sortBy).map(([path, direction]): Direction => ({
    path: segmentsOf(path),
    descending: direction === -1
  }))
  const keyed = items.map((item) => ({
    item,
    key: Result.getOrElse(sortKeyOf(isDocument(item) ? item : {}, directions), reject)
  }))
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key, directions)).map(({ item }) => item)
}

/** A set of the values; building it takes time linear in their number and size. */
const setOf = (values: ReadonlyArray<unknown>): ValueSet => {
  chargeSet(values)
  return new ValueSet(values)
}

const chargeSet = (values: ReadonlyArray<unknown>): void => charge(40 * values.length + sizeOfValue(values))

/**
 * Each of these values once.
 *
 * @internal
 */
export const unique = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  chargeSet(values)
  const known = new ValueSet()
  return values.filter((value) => known.add(value))
}

const ofSets =
  (name: string, combine: (sets: ReadonlyArray<ReadonlyArray<unknown>>) => unknown): Operator =>
  (document, operand, options) => {
    const values = evaluate(document, operand, options)
    if (isNothing(values)) return null
    const lists = isArray(operand) ? listOf(name, values) : [listOf(name, values)]
    return lists.some(isNothing) ? null : combine(lists.map((list) => listOf(name, list)))
  }

const isSubset = (part: ReadonlyArray<unknown> = [], superset: ReadonlyArray<unknown> = []): boolean => {
  chargeSet(part)
  const known = setOf(superset)
  return part.every((value) => known.has(value))
}

const allOf = (lists: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<unknown> => {
  charge(lists.reduce((sum, { length }) => sum + length, 0))
  return lists.flat()
}

const quantified = (original: Operator): Operator => (document, operand, options) => {
  const value = evaluate(document, isArray(operand) && operand.length === 1 ? operand[0] : operand, options)
  if (isArray(value)) charge(value.length)
  return original(document, literal(value), options)
}

/**
 * The percentiles of numbers for fractions from 0 to 1. With the method `exact` they are interpolated; otherwise each is
 * one of the numbers.
 *
 * @internal
 */
export const percentiles = (values: unknown, parts: unknown, method: unknown): ReadonlyArray<unknown> => {
  const numbers = new Float64Array(
    listOf("a percentile", values).filter((value) => typeof value === "number" && !Number.isNaN(value)) as Array<number>
  )
  charge(numbers.length * Math.log2(numbers.length + 1) / 2)
  numbers.sort()
  return listOf("a percentile's p", parts).map((part) => {
    if (typeof part !== "number" || !(part >= 0 && part <= 1)) return reject("a percentile's p is from 0 to 1")
    const place = part * (numbers.length - 1)
    const below = Math.floor(place)
    const [low = null, high = low] = numbers.subarray(below, below + 2)
    if (low === null || high === null || place === below) return low
    if (method === "exact") return low + (place - below) * (high - low)
    return (below + 1) / numbers.length >= part ? low : high
  })
}

const quantiles =
  (result: (values: unknown, operand: Document) => unknown): Operator => (document, operand, options) => {
    if (!isDocument(operand)) return reject("an input is needed")
    const values = isArray(document)
      ? document.map((item) => evaluate(item, operand["input"], options))
      : evaluate(document, operand["input"], options)
    if (isArray(values)) charge(values.length)
    return isNothing(values) ? null : result(values, operand)
  }

/** @internal */
export const arrayOperators: Operators = {
  $map: looping(mingo.$map, "in"),
  $filter: looping(mingo.$filter, "cond"),
  $reduce,
  $let,
  $concatArrays,
  $zip,
  $range,
  $in,
  $indexOfArray,
  $mergeObjects,
  $objectToArray,
  $arrayToObject,
  $slice,
  $reverseArray,
  $setField: settingField(mingo.$setField),
  $unsetField: settingField(mingo.$unsetField),
  $first: itemOf("$first", mingo.$first, 0),
  $last: itemOf("$last", mingo.$last, -1),
  $firstN: someOf("$firstN", mingo.$firstN, (items, n) => part(items, 0, n)),
  $lastN: someOf("$lastN", mingo.$lastN, (items, n) => part(items, items.length - n, items.length)),
  $minN: someOf("$minN", mingo.$minN, (items, n) => inOrder(withoutNothing(items), 1).slice(0, n)),
  $maxN: someOf("$maxN", mingo.$maxN, (items, n) => inOrder(withoutNothing(items), -1).slice(0, n)),
  $sortArray,
  $setUnion: ofSets("$setUnion", (lists) => unique(allOf(lists))),
  $setIntersection: ofSets("$setIntersection", ([first = [], ...others]) => {
    const sets = others.map(setOf)
    return unique(first).filter((value) => sets.every((set) => set.has(value)))
  }),
  $setDifference: ofSets("$setDifference", ([first = [], second = []]) => {
    const others = setOf(second)
    return unique(first).filter((value) => !others.has(value))
  }),
  $setEquals: ofSets(
    "$setEquals",
    ([first, ...others]) => others.every((other) => isSubset(first, other) && isSubset(other, first))
  ),
  $setIsSubset: ofSets("$setIsSubset", ([part, superset]) => isSubset(part, superset)),
  $allElementsTrue: quantified(mingo.$allElementsTrue),
  $anyElementTrue: quantified(mingo.$anyElementTrue),
  $median: quantiles((values) => percentiles(values, [0.5], "approximate")[0]),
  $percentile: quantiles((values, { method, p }) => percentiles(values, p, method))
}
