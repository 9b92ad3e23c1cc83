/** Sums, means and other summaries of values: as expressions over arrays, and for the accumulators. */
import { addExactly, divide, integerOf } from "../bson/arithmetic.ts"
import { type Order, orderOf } from "../bson/collator.ts"
import { type BsonNumber, doubleOf, isDouble, isInt, toDouble } from "../bson/number.ts"
import { isArray, isNumber } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import { plus } from "./arithmeticOperators.ts"
import {
  chargeDecimal,
  collated,
  isNothing,
  listOperand,
  named,
  type OperatorParser,
  type OperatorParsers,
  variadic
} from "./expression.ts"

/** The sum and the mean of numbers; other values are ignored. Doubles are summed in twice their precision. */
class Total {
  #doubles = 0
  // What the sum of the doubles lacks to be exact.
  #rest = 0
  // The sum if a double is not finite.
  #rough = 0
  // The sum of the longs and decimals.
  #exact: BsonNumber | undefined = undefined
  #hasDouble = false
  #count = 0

  add(value: unknown): void {
    if (isInt(value)) this.#addDouble(value)
    else if (!isNumber(value)) return
    else if (isDouble(value)) {
      this.#hasDouble = true
      this.#rough += toDouble(value)
      this.#addDouble(toDouble(value))
    } else this.#exact = this.#exact === undefined ? value : plus(this.#exact, value)
    this.#count += 1
  }

  /** The total of the values of both. */
  with(other: Total): Total {
    const both = new Total()
    both.#doubles = this.#doubles
    both.#rest = this.#rest
    both.#addDouble(other.#doubles)
    both.#addDouble(other.#rest)
    both.#rough = this.#rough + other.#rough
    const [a, b] = [this.#exact, other.#exact]
    both.#exact = a === undefined ? b : b === undefined ? a : plus(a, b)
    both.#hasDouble = this.#hasDouble || other.#hasDouble
    both.#count = this.#count + other.#count
    return both
  }

  sum(): BsonNumber {
    const numbers = this.#hasDouble
      ? doubleOf(Number.isFinite(this.#doubles) ? this.#doubles : this.#rough)
      : this.#whole()
    return this.#exact === undefined ? numbers : addExactly(this.#exact, numbers) ?? plus(this.#exact, numbers)
  }

  #whole(): BsonNumber {
    return isInt(this.#doubles)
      ? this.#doubles
      : integerOf(BigInt(this.#doubles) + BigInt(this.#rest), true) ?? doubleOf(this.#doubles)
  }

  mean(): BsonNumber | null {
    return this.#count === 0 ? null : divide(this.sum(), this.#count)
  }

  /** By Knuth's sum, whose error is exact. */
  #addDouble(value: number): void {
    const sum = this.#doubles + value
    const shown = sum - this.#doubles
    const rest = this.#rest + ((this.#doubles - (sum - shown)) + (value - shown))
    this.#doubles = sum + rest
    this.#rest = rest - (this.#doubles - sum)
  }
}

/** The standard deviation of numbers, by Welford's method; other values are ignored. */
class Deviation {
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

  /** The deviation of the values of both. */
  with(other: Deviation): Deviation {
    const both = new Deviation()
    both.#count = this.#count + other.#count
    if (both.#count === 0) return both
    const difference = other.#mean - this.#mean
    both.#mean = this.#mean + difference * (other.#count / both.#count)
    both.#squares = this.#squares + other.#squares + difference ** 2 * (this.#count * other.#count / both.#count)
    return both
  }

  ofPopulation(): BsonNumber | null {
    return this.#count === 0 ? null : doubleOf(Math.sqrt(this.#squares / this.#count))
  }

  ofSample(): BsonNumber | null {
    return this.#count < 2 ? null : doubleOf(Math.sqrt(this.#squares / (this.#count - 1)))
  }
}

/** A summary of values in order. */
export interface Summary<A> {
  readonly add: (value: unknown) => void
  /** The summary of its values and later ones. */
  readonly with: (later: A) => A
}

/** The operators that are summaries of numbers: expressions, groups and windows have them alike. */
export const numberSummaries = <Operator>(
  of: <A extends Summary<A>>(start: () => A, result: (summary: A) => unknown) => Operator
) => ({
  $sum: of(() => new Total(), (total) => total.sum()),
  $avg: of(() => new Total(), (total) => total.mean()),
  $stdDevPop: of(() => new Deviation(), (deviation) => deviation.ofPopulation()),
  $stdDevSamp: of(() => new Deviation(), (deviation) => deviation.ofSample())
})

/** The percentiles of numbers for fractions from 0 to 1: each is one of the numbers. */
export const percentiles = (values: unknown, parts: ReadonlyArray<number>): ReadonlyArray<BsonNumber | null> => {
  const numbers = Float64Array.from(
    listOperand("a percentile", values).filter(isNumber).map(toDouble).filter((value) => !Number.isNaN(value))
  )
  charge(numbers.length * Math.log2(numbers.length + 1) / 2)
  numbers.sort()
  return parts.map((part) => {
    const number = numbers[percentilePlace(part, numbers.length)]
    return number === undefined ? null : doubleOf(number)
  })
}

/** The place of a percentile in so many sorted numbers. */
export const percentilePlace = (part: number, count: number): number => Math.max(0, Math.ceil(part * count) - 1)

/** The fractions of `$percentile`. */
export const partsOfPercentile = (p: unknown): ReadonlyArray<number> => {
  const parts = listOperand("a percentile's p", p)
  if (parts.length === 0) return reject("a percentile's p needs at least one number")
  return parts.map((part) =>
    isNumber(part) && toDouble(part) >= 0 && toDouble(part) <= 1
      ? toDouble(part)
      : reject("a percentile's p is from 0 to 1")
  )
}

/** Rejects any method of a percentile but the one that MongoDB has. */
export const checkMethod = (method: unknown): void => {
  if (method !== "approximate") reject("the method of a percentile is approximate")
}

/** Whether a value replaces the extreme: nothing never does, an equal one if the last counts. */
export const isExtreme =
  (sign: 1 | -1, { compare }: Order, isLast = false) => (value: unknown, kept: unknown): boolean => {
    if (isNothing(value) || isNothing(kept)) return !isNothing(value)
    const order = compare(value, kept) * sign
    return order > 0 || (isLast && order === 0)
  }

// internal

/** Summarises the items of a single array, or several arguments as they are. */
const ofArguments = (summarise: (values: ReadonlyArray<unknown>) => unknown): OperatorParser =>
  variadic(0, Infinity, (values) => {
    const [only] = values
    const items = values.length === 1 && isArray(only) ? only : values
    charge(items.length * 4)
    return summarise(items)
  })

const extreme = (sign: 1 | -1): OperatorParser =>
  collated((collator) => {
    const isBetter = isExtreme(sign, orderOf(collator))
    return ofArguments((values) => {
      charge(sizeOfValue(values) / 4)
      return values.reduce((best, value) => isBetter(value, best) ? value : best, null)
    })
  })

const summed = <A extends Summary<A>>(start: () => A, result: (summary: A) => unknown): OperatorParser =>
  ofArguments((values) => {
    const summary = start()
    for (const value of values) {
      if (typeof value === "object" && isNumber(value)) chargeDecimal(value)
      summary.add(value)
    }
    return result(summary)
  })

const numbersOf = (input: unknown): ReadonlyArray<unknown> => isArray(input) ? input : [input]

export const summaryOperators: OperatorParsers = {
  ...numberSummaries(summed),
  $min: extreme(-1),
  $max: extreme(1),
  $median: named(["input", "method"], [], ({ input, method }) => {
    checkMethod(method)
    return percentiles(numbersOf(input), [0.5])[0]
  }),
  $percentile: named(["input", "p", "method"], [], ({ input, method, p }) => {
    checkMethod(method)
    return percentiles(numbersOf(input), partsOfPercentile(p))
  })
}
