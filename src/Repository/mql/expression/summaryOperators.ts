/**
 * Sums, means and other summaries of values: as expressions over arrays, and for the accumulators.
 */
import { divide } from "../../bson/arithmetic.ts"
import { type BsonNumber, toDouble } from "../../bson/number.ts"
import { compare, isArray, isNumber } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import { plus } from "./arithmeticOperators.ts"
import { isNothing, listOf, named, type OperatorParser, type OperatorParsers, variadic } from "./expression.ts"

/**
 * The sum and the mean of numbers; other values are ignored.
 *
 * @internal
 */
export class Total {
  #doubles = 0
  // The sum of the longs and decimals.
  #exact: BsonNumber | undefined = undefined
  #count = 0

  add(value: unknown): void {
    if (typeof value === "number") this.#doubles += value
    else if (isNumber(value)) this.#exact = this.#exact === undefined ? value : plus(this.#exact, value)
    else return
    this.#count += 1
  }

  sum(): BsonNumber {
    return this.#exact === undefined ? this.#doubles : plus(this.#exact, this.#doubles)
  }

  mean(): BsonNumber | null {
    return this.#count === 0 ? null : divide(this.sum(), this.#count)
  }
}

/**
 * The standard deviation of numbers, by Welford's method; other values are ignored.
 *
 * @internal
 */
export class Deviation {
  #count = 0
  #mean = 0
  #squares = 0

  add(value: unknown): void {
    if (!isNumber(value)) return
    const double = toDouble(value)
    this.#count += 1
    const difference = double - this.#mean
    this.#mean += difference / this.#count
    this.#squares += difference * (double - this.#mean)
  }

  ofPopulation(): number | null {
    return this.#count === 0 ? null : Math.sqrt(this.#squares / this.#count)
  }

  ofSample(): number | null {
    return this.#count < 2 ? null : Math.sqrt(this.#squares / (this.#count - 1))
  }
}

/**
 * The percentiles of numbers for fractions from 0 to 1. With the method `exact` they are interpolated; otherwise each is
 * one of the numbers.
 *
 * @internal
 */
export const percentiles = (values: unknown, parts: unknown, method: unknown): ReadonlyArray<unknown> => {
  const numbers = Float64Array.from(
    listOf("a percentile", values).filter(isNumber).map(toDouble).filter((value) => !Number.isNaN(value))
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

/**
 * Whether a value replaces the extreme one so far: `null` and missing never do.
 *
 * @internal
 */
export const isExtreme = (sign: 1 | -1) => (value: unknown, kept: unknown): boolean =>
  !isNothing(value) && (isNothing(kept) || compare(value, kept) * sign > 0)

// internal

/** Summarises the items of a single array, or several arguments as they are. */
const ofArguments = (summarise: (values: ReadonlyArray<unknown>) => unknown): OperatorParser =>
  variadic(0, Infinity, (values) => {
    const [only] = values
    const items = values.length === 1 && isArray(only) ? only : values
    charge(items.length * 4)
    return summarise(items)
  })

const extreme = (sign: 1 | -1): OperatorParser => {
  const isBetter = isExtreme(sign)
  return ofArguments((values) => {
    charge(sizeOfValue(values) / 4)
    return values.reduce((best, value) => isBetter(value, best) ? value : best, null)
  })
}

const summed = <A extends { readonly add: (value: unknown) => void }>(
  start: () => A,
  result: (summary: A) => unknown
): OperatorParser =>
  ofArguments((values) => {
    const summary = start()
    for (let i = 0; i < values.length; i++) summary.add(values[i])
    return result(summary)
  })

const numbersOf = (input: unknown): ReadonlyArray<unknown> => isArray(input) ? input : [input]

/** @internal */
export const summaryOperators: OperatorParsers = {
  $sum: summed(() => new Total(), (total) => total.sum()),
  $avg: summed(() => new Total(), (total) => total.mean()),
  $min: extreme(-1),
  $max: extreme(1),
  $stdDevPop: summed(() => new Deviation(), (deviation) => deviation.ofPopulation()),
  $stdDevSamp: summed(() => new Deviation(), (deviation) => deviation.ofSample()),
  $median: named(["input", "method"], [], ({ input }) => percentiles(numbersOf(input), [0.5], "approximate")[0]),
  $percentile: named(
    ["input", "p", "method"],
    [],
    ({ input, method, p }) =>
      isNothing(input) && isArray(p) ? p.map(() => null) : percentiles(numbersOf(input), p, method)
  )
}
