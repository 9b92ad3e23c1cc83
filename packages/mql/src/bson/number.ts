/**
 * BSON's numbers and their types. A `number` is a 32-bit integer if it has such a value, else a double, as the driver writes
 * it. A double with the value of a 32-bit integer is a `Double`, and a 64-bit integer is a `Long`. The order of numbers is
 * exact across the types.
 */
import { Decimal128, Double, Long } from "bson"

export type BsonNumber = number | Double | Long | Decimal128

const tagOf = (value: BsonNumber): string | undefined => typeof value === "number" ? undefined : value._bsontype

/** Whether a value is a 32-bit integer. These have no negative zero. */
export const isInt = (value: unknown): value is number =>
  typeof value === "number" && value === (value | 0) && (value !== 0 || !Object.is(value, -0))

export const isLong = (value: BsonNumber): value is Long => tagOf(value) === "Long"

export const isDouble = (value: BsonNumber): value is number | Double =>
  typeof value === "number" ? !isInt(value) : tagOf(value) === "Double"

export const isDecimal = (value: BsonNumber): value is Decimal128 => tagOf(value) === "Decimal128"

/** The nearest double. */
export const toDouble = (value: BsonNumber): number =>
  typeof value === "number"
    ? value
    : isDecimal(value)
    ? doubleOfDecimal(value)
    : isLong(value)
    ? value.toNumber()
    : value.value

/** The double with this value. */
export const doubleOf = (value: number): number | Double => isInt(value) ? made(new Double(value)) : value

/** The 64-bit integer with this value, which is exact as a double. */
export const longOf = (value: number): Long => made(Long.fromNumber(value))

/** How many `Double`s and `Long`s have been made or met; most programs have none, and need not look for them. */
export const wrappedCount = (): number => wrapped

let wrapped = 0

export const made = <A extends Double | Long>(number: A): A => {
  wrapped += 1
  return number
}

/** A number as the driver reads it: a `number` unless it is a decimal, or an integer that is not exact as one. */
export const plainNumber = <A>(value: A): A | number => {
  if (typeof value !== "object" || value === null || !("_bsontype" in value)) return value
  // The casts follow from the tags; a `Long` that is no number is returned as it is.
  if (value._bsontype === "Long") return fromLong(value as unknown as Long) as A | number
  return value._bsontype === "Double" ? (value as unknown as Double).value : value
}

/** A number as digits × 10^exponent, exactly. */
export interface Exact {
  readonly digits: bigint
  readonly exponent: number
}

/** The exact value of a number; `undefined` for NaN and the infinities. */
export const exactOf = (value: BsonNumber): Exact | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? exactDouble(value) : undefined
  if (!isDecimal(value)) return { digits: isLong(value) ? value.toBigInt() : BigInt(value.value), exponent: 0 }
  return exactDecimal(value)
}

const doubleOfDecimal = (value: Decimal128): number => {
  const exact = exactDecimal(value)
  // Zeros have signs.
  return exact === undefined || exact.digits === 0n
    ? Number(value.toString())
    : Number(`${exact.digits}e${exact.exponent}`)
}

/** The value of a decimal, from its bits: its text takes ten times as long. */
const exactDecimal = (value: Decimal128): Exact | undefined => {
  const { buffer, byteOffset } = value.bytes
  const bits = new DataView(buffer, byteOffset)
  const high = bits.getBigUint64(8, true)
  const digits = (high & highDigits) << 64n | bits.getBigUint64(0, true)
  // Not finite, or with more digits than a decimal may have.
  if ((high & otherForm) === otherForm || digits >= digitsLimit) return exactOfText(value.toString())
  return { digits: high >> 63n === 0n ? digits : -digits, exponent: Number(high >> 49n & 0x3fffn) + leastExponent }
}

const exactOfText = (text: string): Exact | undefined => {
  const [, sign = "", whole, fraction = "", exponent = "0"] = /^(-?)(\d*)(?:\.(\d*))?(?:E([+-]?\d+))?$/.exec(text) ?? []
  return whole === undefined
    ? undefined
    : { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length }
}

const highDigits = 0x1_ffff_ffff_ffffn

const otherForm = 0x6000_0000_0000_0000n

/** The decimals with these digits and this exponent, which it can have. */
export const decimalOfBits = ({ digits, exponent }: Exact): Decimal128 => {
  const bytes = new Uint8Array(16)
  const bits = new DataView(bytes.buffer)
  const magnitude = digits < 0n ? -digits : digits
  bits.setBigUint64(0, magnitude & 0xffff_ffff_ffff_ffffn, true)
  bits.setBigUint64(
    8,
    (digits < 0n ? 1n << 63n : 0n) | BigInt(exponent - leastExponent) << 49n | magnitude >> 64n,
    true
  )
  return new Decimal128(bytes)
}

/** The least and the greatest exponent of a decimal, and the power of ten that its digits are below. */
export const leastExponent = -6176
export const greatestExponent = 6111
export const digitsLimit = 10n ** 34n

// A double's denominator is a power of two, so it has finitely many decimal digits: x / 2 = 5x / 10.
const exactDouble = (value: number): Exact => {
  let scaled = value
  let halvings = 0
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    halvings += 1
  }
  return { digits: BigInt(scaled) * 5n ** BigInt(halvings), exponent: -halvings }
}

/** The number of digits. */
export const lengthOf = (digits: bigint): number => digits.toString().length - (digits < 0n ? 1 : 0)

/** The power of ten that a number other than 0 is below. */
export const powerAbove = ({ digits, exponent }: Exact): number => lengthOf(digits) + exponent

/** The digits of two numbers with the same exponent. Those of far exponents are many. */
export const align = (a: Exact, b: Exact): readonly [bigint, bigint, number] => {
  const exponent = Math.min(a.exponent, b.exponent)
  return [
    a.digits * 10n ** BigInt(a.exponent - exponent),
    b.digits * 10n ** BigInt(b.exponent - exponent),
    exponent
  ]
}

const compareDoubles = (a: number, b: number): number =>
  a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(Number.isNaN(b)) - Number(Number.isNaN(a))

/** Whether a number is 0: a decimal may be too small for a double, and is none then. */
export const isZero = (value: BsonNumber): boolean =>
  toDouble(value) === 0 && (typeof value === "number" || compareNumbers(value, 0) === 0)

const isDoubleExactly = (value: BsonNumber): boolean =>
  isDouble(value) || isInt(value) || (isLong(value) && Number.isSafeInteger(value.toNumber()))

/** The exact order of two numbers of any types. NaN is less than all others and equals itself. */
export const compareNumbers = (a: BsonNumber, b: BsonNumber): number => {
  if (typeof a === "number" && typeof b === "number") return compareDoubles(a, b)
  // Rounding is monotonic, so different doubles decide.
  const rough = compareDoubles(toDouble(a), toDouble(b))
  if (rough !== 0) return rough
  if (isDoubleExactly(a) && isDoubleExactly(b)) return 0
  const [x, y] = [exactOf(a), exactOf(b)]
  if (x === undefined || y === undefined) {
    if (x === y) return 0
    // One is infinite, the other is finite but too large for a double.
    const infinite = toDouble(a) > 0 ? 1 : -1
    return x === undefined ? infinite : -infinite
  }
  return compareExact(x, y)
}

const compareExact = (x: Exact, y: Exact): number => {
  const sign = signOf(x)
  if (sign !== signOf(y)) return sign < signOf(y) ? -1 : 1
  const orders = sign === 0 ? 0 : powerAbove(x) - powerAbove(y)
  if (sign === 0 || orders !== 0) return Math.sign(sign * orders)
  // Of the same order, they have as many digits once they are aligned.
  const [left, right] = align(x, y)
  return left < right ? -1 : left > right ? 1 : 0
}

const signOf = ({ digits }: Exact): -1 | 0 | 1 => digits < 0n ? -1 : digits > 0n ? 1 : 0

/** How a number differs from its nearest double: the side, and a text that equal numbers share. */
export const residue = (value: BsonNumber): { readonly side: -1 | 1; readonly text: string } | undefined => {
  if (isDoubleExactly(value)) return undefined
  const exact = exactOf(value)
  const side = compareNumbers(value, toDouble(value))
  if (exact === undefined || side === 0) return undefined
  const text = exact.digits.toString()
  const digits = text.replace(/(?<!0)0+$/, "")
  return { side: side < 0 ? -1 : 1, text: `${digits}E${exact.exponent + text.length - digits.length}` }
}

/** A 64-bit integer as it is read: a `number` where that is exact, else the `Long`. */
const fromLong = (value: Long): number | Long => {
  const double = value.toNumber()
  // `bson` reads 2 ** 53 and its negative as numbers, too.
  const isNumber = Number.isSafeInteger(double)
    || (Math.abs(double) === 2 ** 53 && Long.fromNumber(double).equals(value))
  return isNumber ? double : value
}
