/** The expression operators on arrays, also as sets. They charge their cost before they do the work. */
import * as Result from "effect/Result"
import { type Collator, type Order, orderOf } from "../bson/collator.ts"
import { compareKeys, type Direction, segmentsOf, sortKeyOf } from "../bson/path.ts"
import { plainValue } from "../bson/plainDocument.ts"
import { isDocument, isTruthy } from "../bson/value.ts"
import { ValueSet } from "../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  binary,
  collated,
  isNothing,
  listOperand,
  named,
  namesOf,
  ofBoth,
  ofValue,
  type OperatorParser,
  type OperatorParsers,
  unary,
  variadic,
  wholeOf
} from "./expression.ts"
import { BestValues } from "./sortedValues.ts"

const $concatArrays = variadic(0, Infinity, (lists, name) => {
  let length = 0
  for (const list of lists) {
    if (isNothing(list)) return null
    length += listOperand(name, list).length
  }
  charge(length)
  const result = new Array<unknown>(length)
  let at = 0
  for (const list of lists) {
    for (const item of listOperand(name, list)) result[at++] = item
  }
  return result
})

const $zip: OperatorParser = (operand, { parse }, name) => {
  const parts = namesOf(operand, name, ["inputs"], ["useLongestLength", "defaults"])
  const { defaults, inputs, useLongestLength = false } = { ...parts }
  if (typeof useLongestLength !== "boolean") return reject("useLongestLength of $zip needs true or false")
  if (defaults !== undefined && !useLongestLength) return reject("defaults of $zip need useLongestLength")
  const lists = listOperand("inputs of $zip", inputs).map(parse)
  if (lists.length === 0) return reject("$zip needs inputs")
  const others = defaults === undefined ? undefined : listOperand("defaults of $zip", defaults).map(parse)
  if (others !== undefined && others.length !== lists.length) return reject("$zip needs a default for each input")
  return (document) => {
    const values = lists.map((list) => list(document))
    if (values.some(isNothing)) return null
    const given = values.map((value) => listOperand(name, value))
    const lengths = given.map(({ length }) => length)
    const length = useLongestLength ? Math.max(...lengths) : Math.min(...lengths)
    charge(length * (8 + given.length))
    const absent = others?.map((value) => value(document))
    return Array.from({ length }, (_, i) => given.map((list, at) => (i < list.length ? list[i] : absent?.[at]) ?? null))
  }
}

// MongoDB limits the memory of a range, too.
const maxRange = 1_000_000

const $range = variadic(2, 3, ([from, to, by = 1], name) => {
  const [start, end, step] = [wholeOf(name, from), wholeOf(name, to), wholeOf(name, by)]
  if (step === 0) return reject("$range needs whole numbers, and a step other than 0")
  const length = Math.max(0, Math.ceil((end - start) / step))
  if (length > maxRange) return reject(`$range gives ${maxRange} numbers at most`)
  charge(length)
  // Allocates exactly as many slots as needed, unlike an array that grows.
  const numbers = new Array<number>(length)
  for (let i = 0; i < length; i++) numbers[i] = start + i * step
  return numbers
})

const chargeSearch = (list: ReadonlyArray<unknown>, value: unknown): void =>
  charge(list.length + (typeof value === "object" ? sizeOfValue(list) : typeof value === "string" ? list.length : 0))

const $in = collated((collator) => {
  const { equals } = orderOf(collator)
  return binary((value, given, name) => {
    const list = listOperand(name, given)
    chargeSearch(list, value)
    for (let i = 0; i < list.length; i++) if (equals(list[i], value)) return true
    return false
  })
})

const $indexOfArray = collated((collator) => {
  const { equals } = orderOf(collator)
  return variadic(2, 4, ([given, value, from = 0, to = Infinity], name) => {
    if (isNothing(given)) return null
    const list = listOperand(name, given)
    chargeSearch(list, value)
    const [start, end] = [wholeOf(name, from), to === Infinity ? Infinity : wholeOf(name, to)]
    if (start < 0 || end < 0) return reject(`${name} needs places from 0`)
    for (let i = start; i < list.length && i < end; i++) if (equals(list[i], value)) return i
    return -1
  })
})

/** A slice of an array. `Array.prototype.slice` is much slower on a frozen array. */
const part = (items: ReadonlyArray<unknown>, from: number, to: number): ReadonlyArray<unknown> => {
  const [start, end] = [Math.max(0, from), Math.min(items.length, to)]
  const length = Math.max(0, end - start)
  charge(length)
  return Array.from({ length }, (_, i) => items[start + i])
}

/** So many items from a place on; without a number of them, the first ones or, below 0, the last ones. */
export const sliceOf = (items: ReadonlyArray<unknown>, n: number, count?: number): ReadonlyArray<unknown> => {
  if (count === undefined) return n < 0 ? part(items, items.length + n, items.length) : part(items, 0, n)
  const start = n < 0 ? Math.max(0, items.length + n) : n
  return part(items, start, start + count)
}

const $slice = variadic(2, 3, ([list, at, limit], name) => {
  if (isNothing(list) || isNothing(at)) return null
  const [items, n] = [listOperand(name, list), wholeOf(name, at)]
  if (limit === null) return null
  const count = limit === undefined ? undefined : wholeOf(name, limit)
  return count === undefined || count > 0
    ? sliceOf(items, n, count)
    : reject("$slice needs whole numbers, of which the last is 1 at least")
})

const $arrayElemAt = ofBoth((list, at, name) => {
  const items = listOperand(name, list)
  const place = wholeOf(name, at)
  return items[place < 0 ? items.length + place : place]
})

const itemAt = (at: 0 | -1): OperatorParser => ofValue((value, name) => listOperand(name, value).at(at))

const countOf = (name: string, value: unknown): number => {
  const n = wholeOf(`n of ${name}`, value)
  return n >= 1 ? n : reject(`${name} needs a whole number from 1`)
}

type Take = (items: ReadonlyArray<unknown>, n: number, order: Order) => unknown

const some = (take: Take): OperatorParser =>
  collated((collator) => {
    const order = orderOf(collator)
    return named(["input", "n"], [], ({ input, n }, name) => {
      const count = countOf(name, n)
      return take(listOperand(name, input), count, order)
    })
  })

/** Sorts values in MongoDB's order. */
const inOrder = (
  items: ReadonlyArray<unknown>,
  sign: 1 | -1,
  { compare }: Order
): ReadonlyArray<unknown> => {
  chargeSort(items)
  return [...items].toSorted((a, b) => sign * compare(a, b))
}

const chargeSort = (items: ReadonlyArray<unknown>): void =>
  charge((items.length + sizeOfValue(items) / 16) * Math.log2(items.length + 1))

const bestOf = (items: ReadonlyArray<unknown>, best: BestValues<unknown>): ReadonlyArray<unknown> => {
  charge(items.length + sizeOfValue(items) / 16)
  for (const item of items) if (!isNothing(item)) best.add(item)
  return best.toArray()
}

type Sort = (items: ReadonlyArray<unknown>) => ReadonlyArray<unknown>

const sortOf = (given: unknown, collator: Collator | undefined): Sort => {
  const sortBy = plainValue(given)
  return sortBy === 1 || sortBy === -1
    ? (items) => inOrder(items, sortBy, orderOf(collator))
    : sortingBy(sortBy, collator)
}

const $sortArray: OperatorParser = (operand, { collator, parse }, name) => {
  const { input, sortBy } = { ...namesOf(operand, name, ["input", "sortBy"]) }
  const [list, sort] = [parse(input), sortOf(sortBy, collator)]
  return (document) => {
    const value = list(document)
    return isNothing(value) ? null : sort(listOperand(name, value))
  }
}

const sortedEnd = (at: 0 | -1): OperatorParser => (operand, { collator, parse }, name) => {
  const { input, sortBy = 1 } = { ...namesOf(operand, name, ["input"], ["sortBy"]) }
  const [list, sort] = [parse(input), sortOf(sortBy, collator)]
  return (document) => sort(listOperand(name, list(document))).at(at) ?? null
}

const sortedEnds = (isTop: boolean): OperatorParser => (operand, { collator, parse }, name) => {
  const { input, n, sortBy = 1 } = { ...namesOf(operand, name, ["input", "n"], ["sortBy"]) }
  const [list, places, sort] = [parse(input), parse(n), sortOf(sortBy, collator)]
  return (document) => {
    const count = wholeOf(`n of ${name}`, places(document))
    if (count < 0) return reject(`${name} needs a whole number from 0`)
    const items = sort(listOperand(name, list(document)))
    return isTop ? part(items, 0, count) : part(items, items.length - count, items.length)
  }
}

const sortingBy = (sortBy: unknown, collator: Collator | undefined): Sort => {
  const fields = isDocument(sortBy) ? Object.entries(sortBy) : []
  if (fields.length === 0 || fields.some(([, direction]) => direction !== 1 && direction !== -1)) {
    return reject("a list is sorted by 1, -1 or fields")
  }
  const directions = fields.map(([path, direction]): Direction => ({
    path: segmentsOf(path),
    descending: direction === -1,
    collator
  }))
  return (items) => {
    chargeSort(items)
    const keyed = items.map((item) => ({
      item,
      key: Result.getOrElse(sortKeyOf(isDocument(item) ? item : {}, directions), reject)
    }))
    return keyed.toSorted((a, b) => compareKeys(a.key, b.key, directions)).map(({ item }) => item)
  }
}

export const arrayOperators: OperatorParsers = {
  $concatArrays,
  $zip,
  $range,
  $in,
  $indexOfArray,
  $slice,
  $arrayElemAt,
  $size: unary((value, name) => listOperand(name, value).length),
  $reverseArray: ofValue((value, name) => [...listOperand(name, value)].toReversed()),
  $first: itemAt(0),
  $last: itemAt(-1),
  $firstN: some((items, n) => part(items, 0, n)),
  $lastN: some((items, n) => part(items, items.length - n, items.length)),
  $minN: some((items, n, { compare }) => bestOf(items, new BestValues(compare, n, "first"))),
  $maxN: some((items, n, { compare }) => bestOf(items, new BestValues(compare, n, "last")).toReversed()),
  $sortArray,
  $top: sortedEnd(0),
  $bottom: sortedEnd(-1),
  $topN: sortedEnds(true),
  $bottomN: sortedEnds(false)
}

type Lists = ReadonlyArray<ReadonlyArray<unknown>>

/** A set of the values; building it takes time linear in their number and size. */
const setOf = (values: ReadonlyArray<unknown>, collator: Collator | undefined): ValueSet => {
  chargeSet(values, collator)
  return new ValueSet(values, collator)
}

// A collation searches for a text among those before.
const chargeSet = (values: ReadonlyArray<unknown>, collator: Collator | undefined): void =>
  charge((collator === undefined ? 40 : 40 + 40 * Math.log2(values.length + 1)) * values.length + sizeOfValue(values))

/** Each of these values once. */
const unique = (values: ReadonlyArray<unknown>, collator: Collator | undefined): ReadonlyArray<unknown> => {
  chargeSet(values, collator)
  const known = new ValueSet([], collator)
  return values.filter((value) => known.add(value))
}

type Combine<A> = (lists: Lists, collator: Collator | undefined) => A

/** The lists before the first `null` are checked: MongoDB reads one after the other. */
const combining = (combine: Combine<unknown>): OperatorParser =>
  collated((collator) =>
    variadic(0, Infinity, (values, name) => {
      const lists: Array<ReadonlyArray<unknown>> = []
      for (const value of values) {
        if (isNothing(value)) return null
        lists.push(listOperand(name, value))
      }
      return combine(lists, collator)
    })
  )

const $setDifference: OperatorParser = collated((collator) =>
  ofBoth((left, right, name) => {
    const [given, excluded] = [listOperand(name, left), listOperand(name, right)]
    const others = setOf(excluded, collator)
    return unique(given, collator).filter((value) => !others.has(value))
  })
)

const comparing = (most: number, compare: Combine<boolean>): OperatorParser =>
  collated((collator) =>
    variadic(2, most, (values, name) => compare(values.map((value) => listOperand(name, value)), collator))
  )

const isSubset = (
  part: ReadonlyArray<unknown> = [],
  superset: ReadonlyArray<unknown> = [],
  collator: Collator | undefined
): boolean => {
  chargeSet(part, collator)
  const known = setOf(superset, collator)
  return part.every((value) => known.has(value))
}

const allOf = (lists: Lists): ReadonlyArray<unknown> => {
  charge(lists.reduce((sum, { length }) => sum + length, 0))
  return lists.flat()
}

const quantified = (test: (items: ReadonlyArray<unknown>) => boolean): OperatorParser =>
  unary((value, name) => {
    const items = listOperand(name, value)
    charge(items.length)
    return test(items)
  })

export const setOperators: OperatorParsers = {
  $setUnion: combining((lists, collator) => unique(allOf(lists), collator)),
  $setIntersection: combining(([first = [], ...others], collator) => {
    const sets = others.map((other) => setOf(other, collator))
    return unique(first, collator).filter((value) => sets.every((set) => set.has(value)))
  }),
  $setDifference,
  $setEquals: comparing(
    Infinity,
    ([first, ...others], collator) =>
      others.every((other) => isSubset(first, other, collator) && isSubset(other, first, collator))
  ),
  $setIsSubset: comparing(2, ([part, superset], collator) => isSubset(part, superset, collator)),
  $allElementsTrue: quantified((items) => items.every(isTruthy)),
  $anyElementTrue: quantified((items) => items.some(isTruthy))
}
