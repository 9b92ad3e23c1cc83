/**
 * The expression operators that take arrays for sets. They charge their cost before they do the work.
 */
import type { Collator } from "../../bson/collator.ts"
import { isTruthy } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  binary,
  collated,
  isNothing,
  listOf,
  type OperatorParser,
  type OperatorParsers,
  unary,
  variadic
} from "./expression.ts"

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
        lists.push(listOf(name, value))
      }
      return combine(lists, collator)
    })
  )

const $setDifference: OperatorParser = collated((collator) =>
  binary((left, right, name) => {
    if (isNothing(left) || isNothing(right)) return null
    const [given, excluded] = [listOf(name, left), listOf(name, right)]
    const others = setOf(excluded, collator)
    return unique(given, collator).filter((value) => !others.has(value))
  })
)

const comparing = (most: number, compare: Combine<boolean>): OperatorParser =>
  collated((collator) =>
    variadic(2, most, (values, name) => compare(values.map((value) => listOf(name, value)), collator))
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
    const items = listOf(name, value)
    charge(items.length)
    return test(items)
  })

/** @internal */
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
