/** The expression operators of powers, logarithms and trigonometry. The results of decimals have 34 digits. */
import { Decimal128 } from "bson"
import { add, asDecimal, divide, integerOf, multiply } from "../bson/arithmetic.ts"
import {
  angle,
  arcCosine,
  arcSine,
  arcTangent,
  areaCosine,
  areaSine,
  areaTangent,
  cosine,
  type DecimalFunction,
  decimalRadiansPerDegree,
  degreesPerRadian,
  hyperbolicCosine,
  hyperbolicSine,
  hyperbolicTangent,
  sine,
  tangent
} from "../bson/decimalAngles.ts"
import {
  exponential,
  logarithm,
  logarithmOf,
  power as powerOf,
  powerOfDoubles,
  squareRoot
} from "../bson/decimalPowers.ts"
import { type BsonNumber, compareNumbers, doubleOf, isDecimal, isDouble, isLong, toDouble } from "../bson/number.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { numberOf, ofNumbers, ofValue, type OperatorParser, type OperatorParsers } from "./expression.ts"

const ofNumber = (
  compute: (value: number) => number,
  ofDecimal: (value: Decimal128) => BsonNumber,
  isDefined: (value: BsonNumber) => boolean = () => true
): OperatorParser =>
  ofValue((value, name) => {
    const number = numberOf(name, value)
    const double = toDouble(number)
    if (!Number.isNaN(double) && !isDefined(number)) return reject(`${name} has no value for ${number.toString()}`)
    if (!isDecimal(number)) return doubleOf(compute(double))
    charge(decimalCost)
    return ofDecimal(number)
  })

// A decimal may be too small for a double.
const signed = (number: BsonNumber, double: number): number =>
  double === 0 && compareNumbers(number, 0) !== 0 ? compareNumbers(number, 0) : double

// What a function of a decimal takes to compute.
const decimalCost = 30_000

/** What the reduction of a great angle takes, as it has thousands of digits. */
const ofAngle = (compute: (value: number) => number, ofDecimal: DecimalFunction): OperatorParser =>
  ofNumber(compute, (value) => {
    if (Math.abs(toDouble(value)) > 1e30) charge(greatAngleCost)
    return ofDecimal(value)
  }, isFinite)

const greatAngleCost = 300_000

const isPositive = (value: BsonNumber): boolean => compareNumbers(value, 0) > 0

const isRatio = (value: BsonNumber): boolean => compareNumbers(value, -1) >= 0 && compareNumbers(value, 1) <= 0

const isFinite = (value: BsonNumber): boolean =>
  compareNumbers(value, -Infinity) > 0 && compareNumbers(value, Infinity) < 0

/** A product with a decimal constant. */
const times = (factor: Decimal128) => (value: Decimal128): BsonNumber => multiply(value, factor) ?? value

/** 1 / (1 + e^-x), each step with the digits of a decimal. */
const sigmoid = (value: Decimal128): BsonNumber => {
  const power = exponential(multiply(value, -1) ?? value)
  return divide(one, add(one, power) ?? power)
}

const one = Decimal128.fromString("1")

const $log = ofNumbers((number, other) => {
  const [argument, root] = [toDouble(number), toDouble(other)]
  if (signed(number, argument) <= 0) return reject("$log needs a positive number")
  if (signed(other, root) <= 0 || compareNumbers(other, 1) === 0) {
    return reject("$log needs a positive base other than 1")
  }
  if (!isDecimal(number) && !isDecimal(other)) return doubleOf(Math.log(argument) / Math.log(root))
  charge(2 * decimalCost)
  return logarithmOf(asDecimal(number), asDecimal(other))
})

const $pow = ofNumbers((number, power) => {
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

const $atan2 = ofNumbers((a, b) => {
  if (!isDecimal(a) && !isDecimal(b)) return doubleOf(Math.atan2(toDouble(a), toDouble(b)))
  charge(decimalCost)
  return angle(asDecimal(a), asDecimal(b))
})

export const mathOperators: OperatorParsers = {
  $sqrt: ofNumber(Math.sqrt, squareRoot, (value) => compareNumbers(value, 0) >= 0),
  $exp: ofNumber(Math.exp, exponential),
  $ln: ofNumber(Math.log, logarithm, isPositive),
  $log10: ofNumber(Math.log10, (value) => logarithmOf(value, 10), isPositive),
  $log,
  $pow,
  $sigmoid: ofNumber((value) => 1 / (1 + Math.exp(-value)), sigmoid),
  $sin: ofAngle(Math.sin, sine),
  $cos: ofAngle(Math.cos, cosine),
  $tan: ofAngle(Math.tan, tangent),
  $asin: ofNumber(Math.asin, arcSine, isRatio),
  $acos: ofNumber(Math.acos, arcCosine, isRatio),
  $atan: ofNumber(Math.atan, arcTangent),
  $atan2,
  $sinh: ofNumber(Math.sinh, hyperbolicSine),
  $cosh: ofNumber(Math.cosh, hyperbolicCosine),
  $tanh: ofNumber(Math.tanh, hyperbolicTangent),
  $asinh: ofNumber(Math.asinh, areaSine),
  $acosh: ofNumber(Math.acosh, areaCosine, (value) => compareNumbers(value, 1) >= 0),
  $atanh: ofNumber(Math.atanh, areaTangent, isRatio),
  $degreesToRadians: ofNumber((value) => value * (Math.PI / 180), times(decimalRadiansPerDegree)),
  $radiansToDegrees: ofNumber((value) => value * (180 / Math.PI), times(degreesPerRadian))
}
