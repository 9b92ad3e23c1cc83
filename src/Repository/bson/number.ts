/**
 * BSON's numbers after reading: `number`, a `Long` beyond the safe integers, and `Decimal128`. Their order is exact
 * across the types.
 */
import { type Decimal128, Long } from "bson"

/** @internal */
export type BsonNumber = number | Long | Decimal128

const tagOf = (value: BsonNumber): string | undefined => typeof value === "number" ? undefined : value._bsontype

/** @internal */
export const isDecimal = (value: BsonNumber): value is Decimal128 => tagOf(value) === "Decimal128"

/**
 * The nearest double.
 *
 * @internal
 */
export const toDouble = (value: BsonNumber): number => typeof value === "number" ? value : Number(value.toString())

/**
 * A number as digits × 10^exponent, exactly.
 *
 * @internal
 */
export interface Exact {
  readonly digits: bigint
  readonly exponent: number
}

/**
 * The exact value of a number; `undefined` for NaN and the infinities.
 *
 * @internal
 */
export const exactOf = (value: BsonNumber): Exact | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? exactDouble(value) : undefined
  if (!isDecimal(value)) return { digits: BigInt(value.toString()), exponent: 0 }
  const match = /^(-?)(\d*)(?:\.(\d*))?(?:E([+-]?\d+))?$/.exec(value.toString())
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length }
}

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

/**
 * The digits of two numbers with the same exponent.
 *
 * @internal
 */
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

/**
 * The exact order of two numbers of any types. NaN is less than all others and equals itself.
 *
 * @internal
 */
export const compareNumbers = (a: BsonNumber, b: BsonNumber): number => {
  if (typeof a === "number" && typeof b === "number") return compareDoubles(a, b)
  // Rounding is monotonic, so different doubles decide.
  const rough = compareDoubles(toDouble(a), toDouble(b))
  if (rough !== 0) return rough
  const [x, y] = [exactOf(a), exactOf(b)]
  if (x === undefined || y === undefined) {
    if (x === y) return 0
    // One is infinite, the other is finite but too large for a double.
    const infinite = toDouble(a) > 0 ? 1 : -1
    return x === undefined ? infinite : -infinite
  }
  const [left, right] = align(x, y)
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * How a number differs from its nearest double: in which direction, and a text that equal numbers share. `undefined` when
 * it is exactly a double.
 *
 * @internal
 */
export const residue = (value: BsonNumber): { readonly side: -1 | 1; readonly text: string } | undefined => {
  if (typeof value === "number") return undefined
  const exact = exactOf(value)
  const side = compareNumbers(value, toDouble(value))
  if (exact === undefined || side === 0) return undefined
  const text = exact.digits.toString()
  const digits = text.replace(/(?<!0)0+$/, "")
  return { side: side < 0 ? -1 : 1, text: `${digits}E${exact.exponent + text.length - digits.length}` }
}

/**
 * A 64-bit integer as it is read: a `number` where that is exact, else the `Long`.
 *
 * @internal
 */
export const fromLong = (value: Long): number | Long => {
  const double = value.toNumber()
  // `bson` reads 2 ** 53 and its negative as numbers, too.
  const isNumber = Number.isSafeInteger(double) ||
    (Math.abs(double) === 2 ** 53 && Long.fromNumber(double).equals(value))
  return isNumber ? double : value
}
