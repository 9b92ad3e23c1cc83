/**
 * The expression operators that take arrays for sets. They charge their cost before they do the work.
 */
import { ValueSet } from "../../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  isNothing,
  isTruthy,
  listOf,
  type OperatorParser,
  type OperatorParsers,
  unary,
  variadic
} from "./expression.ts"

type Lists = ReadonlyArray<ReadonlyArray<unknown>>

/** A set of the values; building it takes time linear in their number and size. */
const setOf = (values: ReadonlyArray<unknown>): ValueSet => {
  chargeSet(values)
  return new ValueSet(values)
}

const chargeSet = (values: ReadonlyArray<unknown>): void => charge(40 * values.length + sizeOfValue(values))

/** Each of these values once. */
const unique = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  chargeSet(values)
  const known = new ValueSet()
  return values.filter((value) => known.add(value))
}

const combining = (least: number, most: number, combine: (lists: Lists) => unknown): OperatorParser =>
  variadic(
    least,
    most,
    (values, name) => values.some(isNothing) ? null : combine(values.map((value) => listOf(name, value)))
  )

const comparing = (most: number, compare: (lists: Lists) => boolean): OperatorParser =>
  variadic(2, most, (values, name) => compare(values.map((value) => listOf(name, value))))

const isSubset = (part: ReadonlyArray<unknown> = [], superset: ReadonlyArray<unknown> = []): boolean => {
  chargeSet(part)
  const known = setOf(superset)
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
  $setUnion: combining(0, Infinity, (lists) => unique(allOf(lists))),
  $setIntersection: combining(0, Infinity, ([first = [], ...others]) => {
    const sets = others.map(setOf)
    return unique(first).filter((value) => sets.every((set) => set.has(value)))
  }),
  $setDifference: combining(2, 2, ([first = [], second = []]) => {
    const others = setOf(second)
    return unique(first).filter((value) => !others.has(value))
  }),
  $setEquals: comparing(
    Infinity,
    ([first, ...others]) => others.every((other) => isSubset(first, other) && isSubset(other, first))
  ),
  $setIsSubset: comparing(2, ([part, superset]) => isSubset(part, superset)),
  $allElementsTrue: quantified((items) => items.every(isTruthy)),
  $anyElementTrue: quantified((items) => items.some(isTruthy))
}
