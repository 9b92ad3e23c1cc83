/**
 * Arithmetic on BSON's numbers: exact for integers and decimals, and in the widest type of its operands.
 */
import { Decimal128, Long } from "bson"
import { align, type BsonNumber, type Exact, exactOf, fromLong, isDecimal, toDouble } from "./number.ts"

/**
 * The sum in the wider of the two types; `undefined` when it overflows a 64-bit integer.
 *
 * @internal
 */
export const add = (a: BsonNumber, b: BsonNumber): BsonNumber | undefined =>
  combine(a, b, (x, y) => x + y, (x, y) => {
    const [left, right, exponent] = align(x, y)
    return { digits: left + right, exponent }
  })

/**
 * The product in the wider of the two types; `undefined` when it overflows a 64-bit integer.
 *
 * @internal
 */
export const multiply = (a: BsonNumber, b: BsonNumber): BsonNumber | undefined =>
  combine(
    a,
    b,
    // Integers have no negative zero.
    (x, y) => Number.isInteger(x) && Number.isInteger(y) ? x * y + 0 : x * y,
    (x, y) => ({ digits: x.digits * y.digits, exponent: x.exponent + y.exponent })
  )

/**
 * The quotient: a decimal if one of the numbers is, else a double. The divisor is not 0.
 *
 * @internal
 */
export const divide = (a: BsonNumber, b: BsonNumber): BsonNumber => {
  if (!isDecimal(a) && !isDecimal(b)) return toDouble(a) / toDouble(b)
  const [x, y] = [exactOf(a), exactOf(b)]
  if (x === undefined || y === undefined) return decimalOfDouble(toDouble(a) / toDouble(b))
  const shift = Math.max(0, 40 + y.digits.toString().length - x.digits.toString().length)
  const dividend = x.digits * 10n ** BigInt(shift)
  const exponent = x.exponent - y.exponent - shift
  const digits = dividend / y.digits
  // Beyond the 34 digits of a decimal, one more digit says on which side of a tie an inexact quotient is.
  if (dividend % y.digits !== 0n) {
    return decimalOf({ digits: digits * 10n + (digits < 0n ? -1n : 1n), exponent: exponent - 1 })
  }
  return decimalOf(withoutZeros({ digits, exponent }, x.exponent - y.exponent))
}

/**
 * The remainder of a division that truncates, with the sign of the dividend. The divisor is not 0.
 *
 * @internal
 */
export const remainder = (a: BsonNumber, b: BsonNumber): BsonNumber => {
  if (typeof a === "number" && typeof b === "number") {
    return Number.isInteger(a) && Number.isInteger(b)
      ? a % b + 0
      : a % b
  }
  const decimal = isDecimal(a) || isDecimal(b)
  const [x, y] = [exactOf(a), exactOf(b)]
  if (x === undefined || y === undefined) {
    const double = toDouble(a) % toDouble(b)
    return decimal ? decimalOfDouble(double) : double
  }
  const [left, right, exponent] = align(x, y)
  const exact = { digits: left % right, exponent }
  if (decimal) return decimalOf(exact)
  return Number.isInteger(toDouble(a)) && Number.isInteger(toDouble(b))
    ? integerOf(exact.digits * 10n ** BigInt(exponent)) ?? 0
    : toDouble(a) % toDouble(b)
}

/** @internal */
export type Rounding = "halfEven" | "truncate" | "floor" | "ceil"

/**
 * The number with at most `places` decimal places, or with zeros before the point if `places` is negative. `undefined`
 * when a 64-bit integer overflows.
 *
 * @internal
 */
export const roundTo = (value: BsonNumber, places: number, rounding: Rounding): BsonNumber | undefined => {
  if (typeof value === "number" && places === 0) return roundDouble(value, rounding)
  const exact = exactOf(value)
  if (exact === undefined || -exact.exponent <= places) return value
  const factor = 10n ** BigInt(-exact.exponent - places)
  const digits = quotient(exact.digits, factor, rounding)
  if (isDecimal(value)) return decimalOf({ digits, exponent: -places })
  return typeof value === "number" ? Number(`${digits}e${-places}`) : integerOf(digits * 10n ** BigInt(-places))
}

/** @internal */
export const negate = (value: BsonNumber): BsonNumber | undefined => multiply(value, -1)

/**
 * The 64-bit integer; `undefined` if it has more bits.
 *
 * @internal
 */
export const integerOf = (value: bigint): number | Long | undefined =>
  BigInt.asIntN(64, value) === value ? fromLong(Long.fromBigInt(value)) : undefined

/** @internal */
export const decimalOfDouble = (value: number): Decimal128 =>
  Decimal128.fromString(Number.isNaN(value) ? "NaN" : String(value))

/** @internal */
export const isInt32 = (value: unknown): value is number => typeof value === "number" && value === (value | 0)

// internal

const combine = (
  a: BsonNumber,
  b: BsonNumber,
  doubles: (a: number, b: number) => number,
  exacts: (a: Exact, b: Exact) => Exact
): BsonNumber | undefined => {
  const double = doubles(toDouble(a), toDouble(b))
  const areNumbers = typeof a === "number" && typeof b === "number"
  // A whole number beyond 32 bits that is no `Long` was stored as a double.
  if (areNumbers && (Number.isSafeInteger(double) || !(isInt32(a) && isInt32(b)))) return double
  const decimal = isDecimal(a) || isDecimal(b)
  const [x, y] = [exactOf(a), exactOf(b)]
  if (x === undefined || y === undefined) return decimal ? Decimal128.fromString(String(double)) : double
  if (!decimal && !(Number.isInteger(toDouble(a)) && Number.isInteger(toDouble(b)))) return double
  const exact = exacts(x, y)
  return decimal ? decimalOf(exact) : integerOf(exact.digits * 10n ** BigInt(exact.exponent))
}

const decimalOf = ({ digits, exponent }: Exact): Decimal128 =>
  Decimal128.fromStringWithRounding(`${digits}E${exponent}`)

/** The same number with the exponent, or with the greatest one below it. */
const withoutZeros = ({ digits, exponent }: Exact, wanted: number): Exact => {
  let [left, at] = [digits, exponent]
  while (at < wanted && left % 10n === 0n) {
    left /= 10n
    at += 1
  }
  return { digits: left, exponent: at }
}

const roundDouble = (value: number, rounding: Rounding): number => {
  switch (rounding) {
    case "truncate":
      return Math.trunc(value)
    case "floor":
      return Math.floor(value)
    case "ceil":
      return Math.ceil(value)
    case "halfEven": {
      const rounded = Math.round(value)
      return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
    }
  }
}

const quotient = (digits: bigint, factor: bigint, rounding: Rounding): bigint => {
  const truncated = digits / factor
  const rest = digits % factor
  if (rest === 0n || rounding === "truncate") return truncated
  const sign = digits < 0n ? -1n : 1n
  if (rounding === "floor") return sign < 0n ? truncated - 1n : truncated
  if (rounding === "ceil") return sign > 0n ? truncated + 1n : truncated
  const twice = 2n * rest * sign
  return twice > factor || (twice === factor && truncated % 2n !== 0n) ? truncated + sign : truncated
}
