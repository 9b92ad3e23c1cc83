/** Arithmetic on BSON's numbers: exact for integers and decimals, and in the widest type of its operands. */
import { Decimal128, Long } from "bson"
import { fixedOf } from "./fixedPoint.ts"
import {
  align,
  type BsonNumber,
  decimalOfBits,
  digitsLimit,
  doubleOf,
  type Exact,
  exactOf,
  greatestExponent,
  isDecimal,
  isDouble,
  isInt,
  isLong,
  isZero,
  leastExponent,
  lengthOf,
  longOf,
  made,
  powerAbove,
  toDouble
} from "./number.ts"

/** The sum in the wider of the two types; `undefined` when it overflows a 64-bit integer. */
export const add = (a: BsonNumber, b: BsonNumber): BsonNumber | undefined => combine(a, b, (x, y) => x + y, sumOf)

/** As {@link add}, with all digits of a double beside a decimal: MongoDB so adds the sums of many values. */
export const addExactly = (a: BsonNumber, b: BsonNumber): BsonNumber | undefined =>
  combine(a, b, (x, y) => x + y, sumOf, exactOf)

/** The product in the wider of the two types; `undefined` when it overflows a 64-bit integer. */
export const multiply = (a: BsonNumber, b: BsonNumber): BsonNumber | undefined =>
  combine(
    a,
    b,
    (x, y) => x * y,
    (x, y) => ({ digits: x.digits * y.digits, exponent: x.exponent + y.exponent })
  )

/** The quotient: a decimal if one of the numbers is, else a double. The divisor is not 0. */
export const divide = (a: BsonNumber, b: BsonNumber): BsonNumber => {
  if (!isDecimal(a) && !isDecimal(b)) return doubleOf(toDouble(a) / toDouble(b))
  const [x, y] = [besideDecimal(a), besideDecimal(b)]
  if (x === undefined || y === undefined) {
    const double = signOrSpecial(a) / signOrSpecial(b)
    return double === 0
      ? Decimal128.fromString(Object.is(double, -0) ? "-0E-6176" : "0E-6176")
      : decimalOfDouble(double)
  }
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

/** The remainder of a division that truncates, with the sign of the dividend. The divisor is not 0. */
export const remainder = (a: BsonNumber, b: BsonNumber): BsonNumber => {
  const decimal = isDecimal(a) || isDecimal(b)
  const read = decimal ? besideDecimal : exactOf
  if (!decimal) {
    if (isDouble(a) || isDouble(b)) return doubleOf(toDouble(a) % toDouble(b))
    // Integers have no negative zero.
    if (isInt(a) && isInt(b)) return a % b + 0
  }
  const [x, y] = [read(a), read(b)]
  if (x === undefined || y === undefined) {
    // A finite dividend remains.
    return Math.abs(signOrSpecial(b)) === Infinity && x !== undefined ? decimalOf(x) : decimalOfDouble(NaN)
  }
  const exact = remainderOf(x, y)
  // Integers have no exponent.
  return decimal ? decimalOf(exact) : made(Long.fromBigInt(exact.digits))
}

export type Rounding = "halfEven" | "truncate" | "floor" | "ceil"

/** The number with at most `places` decimals, or zeros before the point; `undefined` if a 64-bit one overflows. */
export const roundTo = (value: BsonNumber, places: number, rounding: Rounding): BsonNumber | undefined => {
  if (isDouble(value) && places === 0) return doubleOf(roundDouble(toDouble(value), rounding))
  const exact = exactOf(value)
  if (exact === undefined || -exact.exponent <= places) return value
  const surplus = -exact.exponent - places
  // Far below the last place, only the side counts.
  const digits = surplus > lengthOf(exact.digits) + 1
    ? quotient(exact.digits < 0n ? -1n : exact.digits > 0n ? 1n : 0n, 100n, rounding)
    : quotient(exact.digits, 10n ** BigInt(surplus), rounding)
  if (isDecimal(value)) return decimalOf({ digits, exponent: -places })
  if (isDouble(value)) return doubleOf(Number(`${digits}e${-places}`))
  return integerOf(digits * 10n ** BigInt(-places), isLong(value))
}

export const negate = (value: BsonNumber): BsonNumber | undefined => multiply(value, -1)

/** The integer with 32 bits, or with 64 if it has so many or is to be a `long`; `undefined` if it has more. */
export const integerOf = (value: bigint, isLong: boolean): number | Long | undefined =>
  !isLong && BigInt.asIntN(32, value) === value
    ? Number(value)
    : BigInt.asIntN(64, value) === value
    ? made(Long.fromBigInt(value))
    : undefined

export const decimalOfDouble = (value: number): Decimal128 =>
  Decimal128.fromString(Object.is(value, -0) ? "-0" : String(value))

/** A double of the number's value if that is 0, infinite or NaN, else of its sign: decimals may be beyond doubles. */
export const signOrSpecial = (value: BsonNumber): number => {
  const double = toDouble(value)
  if (isZero(value) || exactOf(value) === undefined) return double
  return double < 0 || Object.is(double, -0) ? -1 : 1
}

/** What a number counts as beside a decimal: MongoDB makes a double a decimal of 15 digits there. */
export const asDecimal = (value: BsonNumber): BsonNumber => {
  const double = isDouble(value) ? toDouble(value) : NaN
  return Number.isFinite(double) ? decimalOfDouble(Number(double.toPrecision(15))) : value
}

/** The number without its fraction; `undefined` if that is no 64-bit integer. */
export const wholePartOf = (value: BsonNumber): bigint | undefined => {
  const exact = Math.abs(toDouble(value)) > 2 ** 63 ? undefined : exactOf(value)
  const whole = exact === undefined ? undefined : fixedOf(exact, 0)
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? whole : undefined
}

/**
 * A sum that rounds to as many digits as a decimal has like the exact one. It has few more digits: of a number that is far
 * below the other, only the side counts.
 */
export const sumOf = (a: Exact, b: Exact): Exact => {
  const [high, low] = a.exponent < b.exponent ? [b, a] : [a, b]
  if (high.exponent - low.exponent <= near) return exactSumOf(a, b)
  if (high.digits === 0n) return low
  const least = Math.min(high.exponent, powerAbove(high) - far)
  if (low.digits === 0n) return exactSumOf(high, { digits: 0n, exponent: Math.max(low.exponent, least) })
  // Below this, it reaches neither a tie nor a number with fewer digits.
  return powerAbove(low) < least
    ? exactSumOf(high, { digits: low.digits < 0n ? -1n : 1n, exponent: least - 1 })
    : exactSumOf(a, b)
}

/** The remainder of an exact division that truncates. The divisor is not 0. */
export const remainderOf = (a: Exact, b: Exact): Exact => {
  const shift = a.exponent - b.exponent
  if (shift >= 0) return { digits: a.digits * powerModulo(shift, b.digits) % b.digits, exponent: b.exponent }
  // A dividend below the divisor remains, and another one has nearly as many digits more than the exponents differ.
  return a.digits === 0n || powerAbove(a) < powerAbove(b) ? a : {
    digits: a.digits % (b.digits * 10n ** BigInt(-shift)),
    exponent: a.exponent
  }
}

// internal

// Exponents that differ by less are aligned, as nearly all are.
const near = 80

// Twice the digits of a decimal, and some more.
const far = 72

const exactSumOf = (a: Exact, b: Exact): Exact => {
  const [left, right, exponent] = align(a, b)
  return { digits: left + right, exponent }
}

/** The remainder of a power of ten. */
const powerModulo = (exponent: number, divisor: bigint): bigint => {
  let [result, square] = [1n, 10n % divisor]
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = result * square % divisor
    square = square * square % divisor
  }
  return result
}

const besideDecimal = (value: BsonNumber): Exact | undefined => exactOf(asDecimal(value))

const combine = (
  a: BsonNumber,
  b: BsonNumber,
  doubles: (a: number, b: number) => number,
  exacts: (a: Exact, b: Exact) => Exact,
  read: (value: BsonNumber) => Exact | undefined = besideDecimal
): BsonNumber | undefined => {
  if (!isDecimal(a) && !isDecimal(b)) {
    if (isDouble(a) || isDouble(b)) return doubleOf(doubles(toDouble(a), toDouble(b)))
    if (isInt(a) && isInt(b)) {
      // Integers have no negative zero.
      const result = doubles(a, b) + 0
      return isInt(result) ? result : Number.isSafeInteger(result) ? longOf(result) : exactInteger(a, b, exacts)
    }
    return exactInteger(a, b, exacts)
  }
  const [x, y] = [read(a), read(b)]
  return x === undefined || y === undefined
    ? decimalOfDouble(doubles(signOrSpecial(a), signOrSpecial(b)))
    : decimalOf(exacts(x, y))
}

const exactInteger = (a: BsonNumber, b: BsonNumber, exacts: (a: Exact, b: Exact) => Exact): BsonNumber | undefined => {
  const [x, y] = [exactOf(a), exactOf(b)]
  return x === undefined || y === undefined ? undefined : integerOf(exacts(x, y).digits, true)
}

/** The nearest decimal: of two that are as near, the even one. It is infinite or 0 beyond the decimals. */
export const decimalOf = ({ digits, exponent }: Exact): Decimal128 => {
  const isWithin = exponent >= leastExponent && exponent <= greatestExponent
  if (isWithin && digits < digitsLimit && -digits < digitsLimit) return decimalOfBits({ digits, exponent })
  const text = digits.toString()
  const length = text.length - (digits < 0n ? 1 : 0)
  const surplus = Math.max(length - maxDigits, leastExponent - exponent)
  if (surplus > 0) {
    const rounded = surplus > length ? 0n : quotient(digits, 10n ** BigInt(surplus), "halfEven")
    return decimalOf({ digits: rounded, exponent: exponent + surplus })
  }
  return digits !== 0n && length + exponent > maxWholeDigits
    ? decimalOfDouble(digits < 0n ? -Infinity : Infinity)
    : Decimal128.fromString(`${text}E${exponent}`)
}

const maxDigits = 34

// Of the greatest decimal.
const maxWholeDigits = 6145

/** The same number with the exponent, or with the greatest one below it. */
export const withoutZeros = ({ digits, exponent }: Exact, wanted: number): Exact => {
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
