/**
 * Powers, roots and logarithms of decimals, with the 34 digits that a `Decimal128` has. They are computed as integers with
 * more digits. Libraries of decimals lack functions or NaN, or take seconds for numbers as great as a `Decimal128` can be,
 * and a query could hold the process with them.
 */
import type { Decimal128 } from "bson"
import { decimalOf, decimalOfDouble, withoutZeros } from "./arithmetic.ts"
import { fixedOf, integerRoot, lnOf, nearest, ofFixed, one, places, powerOfE } from "./fixedPoint.ts"
import { type BsonNumber, type Exact, exactOf, lengthOf, toDouble } from "./number.ts"

/** The square root of a number that is not negative. */
export const squareRoot = (value: BsonNumber): Decimal128 => {
  const exact = exactOf(value)
  if (exact === undefined) return decimalOfDouble(Math.sqrt(toDouble(value)))
  if (exact.digits === 0n) return decimalOf(exact)
  // An even exponent, and digits enough for those of the root.
  const shift = 2 * Math.max(0, extraDigits - (lengthOf(exact.digits) >> 1)) + (Math.abs(exact.exponent) % 2)
  const digits = exact.digits * 10n ** BigInt(shift)
  const root = integerRoot(digits)
  const exponent = (exact.exponent - shift) / 2
  if (root * root === digits) return decimalOf(withoutZeros({ digits: root, exponent }, Math.floor(exact.exponent / 2)))
  // One more digit says that the root is beyond a tie.
  return decimalOf({ digits: root * 10n + 1n, exponent: exponent - 1 })
}

/** e to the power of a number. */
export const exponential = (value: BsonNumber): Decimal128 => {
  const exact = exactOf(value)
  const double = toDouble(value)
  if (exact?.digits === 0n) return decimalOf({ digits: 1n, exponent: 0 })
  if (exact === undefined || Math.abs(double) > maxExponent) {
    return decimalOfDouble(double > 0 ? Infinity : Math.exp(double))
  }
  return decimalOf(powerOfE(fixedOf(exact)))
}

/** The natural logarithm of a positive number. */
export const logarithm = (value: BsonNumber): Decimal128 => {
  const exact = exactOf(value)
  if (exact === undefined) return decimalOfDouble(Math.log(toDouble(value)))
  return decimalOf(isOne(exact) ? { digits: 0n, exponent: 0 } : ofFixed(lnOf(exact)))
}

/** The logarithm of a positive number to a positive base other than 1. */
export const logarithmOf = (value: BsonNumber, base: BsonNumber): Decimal128 => {
  const [x, b] = [exactOf(value), exactOf(base)]
  if (x === undefined || b === undefined) {
    return decimalOfDouble(Math.log(toDouble(value)) / Math.log(toDouble(base)))
  }
  const [numerator, denominator] = [lnOf(x), lnOf(b)]
  const quotient = numerator * one / denominator
  const whole = nearest(quotient, one)
  // A logarithm that is whole is so exactly.
  return decimalOf(isNear(quotient, whole) ? { digits: whole, exponent: 0 } : ofFixed(quotient))
}

/** A number to the power of another one. A negative number has powers with whole exponents only. */
export const power = (base: BsonNumber, exponent: BsonNumber): Decimal128 => {
  const [x, n] = [exactOf(base), exactOf(exponent)]
  const double = toDouble(exponent)
  if (x === undefined || n === undefined || x.digits === 0n) {
    return decimalOfDouble(powerOfDoubles(toDouble(base), double))
  }
  if (double >= 0 && Number.isSafeInteger(double) && double * lengthOf(x.digits) <= maxExactDigits) {
    return decimalOf({ digits: x.digits ** BigInt(double), exponent: x.exponent * double })
  }
  const isNegative = x.digits < 0n
  if (isNegative && !isWhole(n)) return decimalOfDouble(NaN)
  const sign = isNegative && isOdd(n) ? -1n : 1n
  const magnitude = { digits: isNegative ? -x.digits : x.digits, exponent: x.exponent }
  if (isOne(magnitude)) return decimalOf({ digits: sign, exponent: 0 })
  const { digits, exponent: scale } = n
  const product = scale >= 0
    ? lnOf(magnitude) * digits * 10n ** BigInt(Math.min(scale, places))
    : fixedOf({ digits: lnOf(magnitude) * digits, exponent: scale }, 0)
  if (product > BigInt(maxExponent) * one) return decimalOfDouble(Number(sign) * Infinity)
  if (product < -BigInt(maxExponent) * one) return decimalOf({ digits: 0n, exponent: 0 })
  const result = powerOfE(product)
  return decimalOf({ digits: sign * result.digits, exponent: result.exponent })
}

/** A double to the power of another, as in C: all powers of 1 are 1, and infinite ones of -1. */
export const powerOfDoubles = (base: number, exponent: number): number =>
  base === 1 || (base === -1 && Math.abs(exponent) === Infinity) ? 1 : base ** exponent

// internal

const extraDigits = 40

// e to this power is beyond the decimals.
const maxExponent = 14_300

// The digits of a power that is computed exactly.
const maxExactDigits = 2_000

const isNear = (fixed: bigint, whole: bigint): boolean => {
  const rest = fixed - whole * one
  return (rest < 0n ? -rest : rest) < 10n ** BigInt(places - 45)
}

const isOne = ({ digits, exponent }: Exact): boolean =>
  lengthOf(digits) - 1 === -exponent && digits === 10n ** BigInt(-exponent)

// Beyond a decimal's digits, there is a fraction.
const isWhole = ({ digits, exponent }: Exact): boolean =>
  exponent >= 0 || (-exponent <= extraDigits && digits % 10n ** BigInt(-exponent) === 0n)

const isOdd = ({ digits, exponent }: Exact): boolean => exponent <= 0 && (digits / 10n ** BigInt(-exponent)) % 2n !== 0n
