/**
 * Numbers as texts, as MongoDB writes them: a very large or small double has an exponent of two digits or more.
 */
import { type BsonNumber, isDouble, toDouble } from "../../bson/number.ts"

/**
 * A number with all its digits, as conversions write it.
 *
 * @internal
 */
export const exactText = (value: BsonNumber): string => {
  if (!isDouble(value)) return value.toString()
  const double = toDouble(value)
  if (Object.is(double, -0)) return "-0"
  return Number.isFinite(double) ? withExponent(double.toExponential(), 16, String(double)) : String(double)
}

/**
 * A number as the operators on texts write it: a double has 6 digits.
 *
 * @internal
 */
export const shortText = (value: BsonNumber): string => {
  if (!isDouble(value)) return value.toString()
  const double = toDouble(value)
  if (Object.is(double, -0)) return "-0"
  if (Number.isNaN(double)) return "nan"
  if (!Number.isFinite(double)) return double > 0 ? "inf" : "-inf"
  // Of two numbers that are as near, the even one.
  const [, digits = "", tie, power] = /^(-?\d\.\d{5})(50*(?=e))?\d*e(.+)$/.exec(double.toExponential(20)) ?? []
  const isEven = tie !== undefined && Number(digits.at(-1)) % 2 === 0
  const rounded = Number(isEven ? `${digits}e${power}` : double.toPrecision(6))
  return withExponent(rounded.toExponential(), 6, String(rounded))
}

// internal

/** A double by its scientific form if its exponent is below -4 or reaches the limit, else by its plain form. */
const withExponent = (scientific: string, limit: number, plain: string): string => {
  const [digits = "", exponent = ""] = scientific.split("e")
  const power = Number(exponent)
  return power < -4 || power >= limit
    ? `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
    : plain
}
