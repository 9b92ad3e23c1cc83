/** The expression operators of arithmetic: numbers keep their types, and dates take part in sums and differences. */
import { Long } from "bson"
import { add, divide, integerOf, multiply, negate, remainder, type Rounding, roundTo } from "../bson/arithmetic.ts"
import { dateOf } from "../bson/normalise.ts"
import {
  type BsonNumber,
  compareNumbers,
  doubleOf,
  isDecimal,
  isDouble,
  isInt,
  isZero,
  longOf,
  toDouble
} from "../bson/number.ts"
import { reject } from "../limits/queryProblem.ts"
import {
  isNothing,
  numberOf,
  ofBoth,
  ofNumbers,
  ofValue,
  type OperatorParser,
  type OperatorParsers,
  variadic,
  wholeOf
} from "./expression.ts"

/** The sum; a double if it overflows a 64-bit integer. */
export const plus = (a: BsonNumber, b: BsonNumber): BsonNumber => add(a, b) ?? toDouble(a) + toDouble(b)

/** The difference; a double if it overflows a 64-bit integer. */
export const minus = (a: BsonNumber, b: BsonNumber): BsonNumber => {
  if (isInt(a) && isInt(b) && isInt(a - b)) return a - b
  const negative = negate(b)
  return negative === undefined ? plus(add(a, 1) ?? a, Long.MAX_VALUE) : plus(a, negative)
}

/** The product; a double if it overflows a 64-bit integer. */
export const times = (a: BsonNumber, b: BsonNumber): BsonNumber => multiply(a, b) ?? toDouble(a) * toDouble(b)

/** The date of this many milliseconds, which a computation may have made too many. */
export const dateAt = (milliseconds: number): Date =>
  Math.abs(milliseconds) <= 8.64e15 ? dateOf(milliseconds) : reject("a computed date is out of range")

/** The whole milliseconds that a number adds to a date: halves count away from 0. */
const millisecondsOf = (value: BsonNumber): number => {
  const exact = toDouble(value)
  return Math.sign(exact) * Math.round(Math.abs(exact))
}

/** Adds from left to right: before a date, the sum of the numbers is rounded, and after it, each of them. */
const $add = variadic(0, Infinity, (values, name) => {
  let sum: BsonNumber = 0
  let date: number | undefined
  for (const value of values) {
    if (date === undefined && isInt(value) && isInt(sum) && isInt(sum + value)) sum += value
    else if (isNothing(value)) return null
    else if (value instanceof Date) {
      if (date !== undefined) return reject("$add takes one date at most")
      date = value.getTime() + millisecondsOf(sum)
    } else if (date !== undefined) date += millisecondsOf(numberOf(name, value))
    else sum = plus(sum, numberOf(name, value))
  }
  return date === undefined ? sum : dateAt(date)
})

const $subtract = ofBoth((left, right, name) => {
  if (isInt(left) && isInt(right) && isInt(left - right)) return left - right
  if (left instanceof Date) {
    if (right instanceof Date) return longOf(left.getTime() - right.getTime())
    return dateAt(left.getTime() - millisecondsOf(numberOf(name, right)))
  }
  return minus(numberOf(name, left), numberOf(name, right))
})

const $multiply = variadic(0, Infinity, (values, name) => {
  let product: BsonNumber = 1
  for (const value of values) {
    if (isNothing(value)) return null
    product = times(product, numberOf(name, value))
  }
  return product
})

const dividing = (compute: (a: BsonNumber, b: BsonNumber) => BsonNumber): OperatorParser =>
  ofNumbers((a, b, name) => isZero(b) ? reject(`${name} can't divide by 0`) : compute(a, b))

const rounding = (mode: Rounding): OperatorParser =>
  variadic(1, 2, ([value, place = 0], name) => {
    if (isNothing(value) || isNothing(place)) return null
    const number = numberOf(name, value)
    const places = wholeOf(name, place)
    if (places <= -20 || places >= 100) return reject(`${name} takes a place from -19 to 99`)
    return roundTo(number, places, mode) ?? reject(`${name} leaves the 64-bit integers`)
  })

const whole = (mode: Rounding): OperatorParser =>
  ofValue((value, name) => roundTo(numberOf(name, value), 0, mode) ?? null)

const $abs = ofValue((value, name) => {
  const number = numberOf(name, value)
  if (isDouble(number)) return doubleOf(Math.abs(toDouble(number)))
  return compareNumbers(number, 0) >= 0 ? number : negate(number) ?? reject("$abs leaves the 64-bit integers")
})

const integerAs = (name: string, value: unknown): bigint => {
  const number = numberOf(name, value)
  return !isDecimal(number) && !isDouble(number)
    ? BigInt(number.toString())
    : reject(`${name} needs integers`)
}

const bitwise = (
  initial: number,
  ints: (a: number, b: number) => number,
  longs: (a: bigint, b: bigint) => bigint
): OperatorParser =>
  variadic(0, Infinity, (values, name) => {
    let result: number | Long = initial
    for (const value of values) {
      if (isNothing(value)) return null
      if (isInt(value) && isInt(result)) result = ints(result, value)
      else {
        const bits = longs(BigInt(result.toString()), integerAs(name, value))
        result = integerOf(bits, true) ?? 0
      }
    }
    return result
  })

export const arithmeticOperators: OperatorParsers = {
  $add,
  $subtract,
  $multiply,
  $divide: dividing(divide),
  $mod: dividing(remainder),
  $round: rounding("halfEven"),
  $trunc: rounding("truncate"),
  $ceil: whole("ceil"),
  $floor: whole("floor"),
  $abs,
  $bitAnd: bitwise(-1, (a, b) => a & b, (a, b) => a & b),
  $bitOr: bitwise(0, (a, b) => a | b, (a, b) => a | b),
  $bitXor: bitwise(0, (a, b) => a ^ b, (a, b) => a ^ b),
  $bitNot: ofValue((value, name) => isInt(value) ? ~value : integerOf(~integerAs(name, value), true) ?? null)
}
