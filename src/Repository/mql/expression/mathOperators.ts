/**
 * The expression operators of powers, logarithms and trigonometry. Powers and logarithms of decimals have 34 digits; angles
 * are computed as doubles, and a decimal's result is the decimal of that double.
 */
import type { Decimal128 } from "bson"
import { decimalOfDouble, integerOf } from "../../bson/arithmetic.ts"
import {
  exponential,
  logarithm,
  logarithmOf,
  power as powerOf,
  powerOfDoubles,
  squareRoot
} from "../../bson/decimalMath.ts"
import { type BsonNumber, compareNumbers, doubleOf, isDecimal, isDouble, isLong, toDouble } from "../../bson/number.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { binary, isNothing, numberOf, type OperatorParser, type OperatorParsers, unary } from "./expression.ts"

const ofDouble = (
  compute: (value: number) => number,
  isDefined: (value: number) => boolean = () => true
): OperatorParser =>
  unary((value, name) => {
    if (isNothing(value)) return null
    const number = numberOf(name, value)
    const double = toDouble(number)
    if (!Number.isNaN(double) && !isDefined(double)) return reject(`${name} has no value for ${double}`)
    return isDecimal(number) ? decimalOfDouble(compute(double)) : doubleOf(compute(double))
  })

/** As {@link ofDouble}, with a computation of its own for decimals. */
const ofNumber = (
  compute: (value: number) => number,
  ofDecimal: (value: BsonNumber) => Decimal128,
  isDefined?: (value: number) => boolean
): OperatorParser => {
  const isAny = isDefined ?? (() => true)
  return unary((value, name) => {
    if (isNothing(value)) return null
    const number = numberOf(name, value)
    const double = toDouble(number)
    if (!Number.isNaN(double) && !isAny(signed(number, double))) return reject(`${name} has no value for ${double}`)
    if (!isDecimal(number)) return doubleOf(compute(double))
    charge(decimalCost)
    return ofDecimal(number)
  })
}

// A decimal may be too small for a double.
const signed = (number: BsonNumber, double: number): number =>
  double === 0 && compareNumbers(number, 0) !== 0 ? compareNumbers(number, 0) : double

// What a function of a decimal takes to compute.
const decimalCost = 30_000

const isPositive = (value: number): boolean => value > 0

const isRatio = (value: number): boolean => value >= -1 && value <= 1

const $log = binary((value, base, name) => {
  if (isNothing(value) || isNothing(base)) return null
  const [number, other] = [numberOf(name, value), numberOf(name, base)]
  const [argument, root] = [toDouble(number), toDouble(other)]
  if (signed(number, argument) <= 0) return reject("$log needs a positive number")
  if (signed(other, root) <= 0 || compareNumbers(other, 1) === 0) {
    return reject("$log needs a positive base other than 1")
  }
  if (!isDecimal(number) && !isDecimal(other)) return doubleOf(Math.log(argument) / Math.log(root))
  charge(2 * decimalCost)
  return logarithmOf(asDecimal(number), asDecimal(other))
})

const $pow = binary((base, exponent, name) => {
  if (isNothing(base) || isNothing(exponent)) return null
  const [number, power] = [numberOf(name, base), numberOf(name, exponent)]
  const [x, n] = [toDouble(number), toDouble(power)]
  if (signed(number, x) === 0 && n < 0) return reject("$pow can't raise 0 to a negative power")
  if (isDecimal(number) || isDecimal(power)) {
    charge(3 * decimalCost)
    return powerOf(asDecimal(number), asDecimal(power))
  }
  const double = powerOfDoubles(x, n)
  if (isDouble(number) || isDouble(power) || n < 0) return doubleOf(double)
  const isWide = isLong(number) || isLong(power)
  // The exponents of greater results are small, but for the bases 0, 1 and -1.
  if (Number.isSafeInteger(double)) return integerOf(BigInt(double), isWide) ?? doubleOf(double)
  return (n <= 64 ? integerOf(BigInt(number.toString()) ** BigInt(n), true) : undefined) ?? doubleOf(double)
})

/** As MongoDB makes a double a decimal, with 15 digits. */
const asDecimal = (value: BsonNumber): BsonNumber =>
  typeof value === "number" && Number.isFinite(value) ? decimalOfDouble(Number(value.toPrecision(15))) : value

const $atan2 = binary((y, x, name) => {
  if (isNothing(y) || isNothing(x)) return null
  const [a, b] = [numberOf(name, y), numberOf(name, x)]
  const double = Math.atan2(toDouble(a), toDouble(b))
  return isDecimal(a) || isDecimal(b) ? decimalOfDouble(double) : doubleOf(double)
})

/** @internal */
export const mathOperators: OperatorParsers = {
  $sqrt: ofNumber(Math.sqrt, squareRoot, (value) => value >= 0),
  $exp: ofNumber(Math.exp, exponential),
  $ln: ofNumber(Math.log, logarithm, isPositive),
  $log10: ofNumber(Math.log10, (value) => logarithmOf(value, 10), isPositive),
  $log,
  $pow,
  $sigmoid: ofDouble((value) => 1 / (1 + Math.exp(-value))),
  $sin: ofDouble(Math.sin, Number.isFinite),
  $cos: ofDouble(Math.cos, Number.isFinite),
  $tan: ofDouble(Math.tan, Number.isFinite),
  $asin: ofDouble(Math.asin, isRatio),
  $acos: ofDouble(Math.acos, isRatio),
  $atan: ofDouble(Math.atan),
  $atan2,
  $sinh: ofDouble(Math.sinh),
  $cosh: ofDouble(Math.cosh),
  $tanh: ofDouble(Math.tanh),
  $asinh: ofDouble(Math.asinh),
  $acosh: ofDouble(Math.acosh, (value) => value >= 1),
  $atanh: ofDouble(Math.atanh, isRatio),
  $degreesToRadians: ofDouble((value) => value * (Math.PI / 180)),
  $radiansToDegrees: ofDouble((value) => value * (180 / Math.PI))
}
