/**
 * Trigonometry of decimals, with the 34 digits that a `Decimal128` has. A result that is not exact has all of them, even if
 * the last ones are zeros.
 */
import { Decimal128 } from "bson"
import { decimalOf, decimalOfDouble, divide, signOrSpecial } from "./arithmetic.ts"
import {
  angleOf,
  fixedOf,
  integerRoot,
  lnOf,
  ofFixed,
  one,
  powerOfE,
  quarterTurns,
  sineAndCosine
} from "./fixedPoint.ts"
import { align, type BsonNumber, type Exact, exactOf, isZero, powerAbove, toDouble } from "./number.ts"

export type DecimalFunction = (value: Decimal128) => Decimal128

/** π / 180: degrees times this are radians. */
export const decimalRadiansPerDegree = Decimal128.fromString("0.01745329251994329576923690768488613")

/** 180 / π: radians times this are degrees. */
export const degreesPerRadian = Decimal128.fromString("57.29577951308232087679815481410517")

/** An odd function. Of a small number x it is x and a little more or less. */
const odd =
  (ofInfinity: (value: number) => number, side: bigint, compute: (x: Exact) => Exact): DecimalFunction => (value) => {
    const exact = exactOf(value)
    if (exact === undefined) return decimalOfDouble(ofInfinity(toDouble(value)))
    if (exact.digits === 0n) return value
    return decimalOf(isSmall(powerAbove(exact)) ? beside(exact, side) : compute(exact))
  }

/** An even function, which is 1 of 0. */
const even = (ofInfinity: (value: number) => number, compute: (x: Exact) => Exact): DecimalFunction => (value) => {
  const exact = exactOf(value)
  if (exact === undefined) return decimalOfDouble(ofInfinity(toDouble(value)))
  return decimalOf(exact.digits === 0n ? unit : compute(exact))
}

export const sine = odd(Math.sin, -1n, (x) => ofFixed(sineAndCosine(x)[0]))

export const cosine = even(Math.cos, (x) => ofFixed(sineAndCosine(x)[1]))

export const tangent = odd(Math.tan, 1n, (x) => {
  const [height, width] = sineAndCosine(x)
  return ofFixed(height * one / width)
})

/** The angle with a sine from -1 to 1. */
export const arcSine = odd(Math.asin, 1n, (exact) => {
  const x = fixedOf(exact)
  return ofFixed(angleOf(x, legOf(x)))
})

/** The angle with a cosine from -1 to 1. */
export const arcCosine: DecimalFunction = (value) => {
  const exact = exactOf(value)
  if (exact === undefined) return decimalOfDouble(Math.acos(toDouble(value)))
  const x = fixedOf(exact)
  return decimalOf(x === one ? zero : ofFixed(angleOf(legOf(x), x)))
}

export const arcTangent: DecimalFunction = (value) => angle(value, 1)

/** The angle of a point from the first axis. */
export const angle = (y: BsonNumber, x: BsonNumber): Decimal128 => {
  const [height, width] = [exactOf(y), exactOf(x)]
  if (height === undefined || width === undefined || isZero(y) || isZero(x)) {
    const double = Math.atan2(signOrSpecial(y), signOrSpecial(x))
    return double === 0 || Number.isNaN(double)
      ? decimalOfDouble(double)
      : decimalOf(ofFixed(quarterTurns(Math.round(double / (Math.PI / 4)))))
  }
  const [upper, right] = [powerAbove(height), powerAbove(width)]
  // Next to the first axis the angle is as small as the quotient.
  if (isSmall(upper - right) && width.digits > 0n) return beneath(divide(y, x))
  const order = Math.max(upper, right)
  const fixed = ({ digits, exponent }: Exact) => fixedOf({ digits, exponent: exponent - order })
  const turn = angleOf(magnitudeOf(fixed(height)), fixed(width))
  return decimalOf(ofFixed(height.digits < 0n ? -turn : turn))
}

export const hyperbolicSine = odd(Math.sinh, 1n, (x) => halfOf(x, -1n))

export const hyperbolicCosine = even(Math.cosh, (x) => halfOf(x, 1n))

export const hyperbolicTangent = odd(Math.tanh, -1n, (exact) => {
  const sign = signOf(exact.digits)
  // e^-200 is beyond the digits.
  if (powerAbove(exact) > 3) return beside({ digits: sign, exponent: 0 }, -1n)
  const square = fixedOf(powerOfE(2n * magnitudeOf(fixedOf(exact))))
  return ofFixed(sign * (square - one) * one / (square + one))
})

export const areaSine = odd(Math.asinh, -1n, ({ digits, exponent }) => {
  const sign = signOf(digits)
  return ofFixed(sign * areaOf({ digits: sign * digits, exponent }, 1n))
})

/** The number from 0 on with a hyperbolic cosine from 1 on. */
export const areaCosine: DecimalFunction = (value) => {
  const exact = exactOf(value)
  if (exact === undefined) return decimalOfDouble(Math.acosh(toDouble(value)))
  return decimalOf(fixedOf(exact) === one ? zero : ofFixed(areaOf(exact, -1n)))
}

/** The number with a hyperbolic tangent from -1 to 1. */
export const areaTangent: DecimalFunction = (value) =>
  Math.abs(toDouble(value)) === 1 && isUnit(value)
    ? decimalOfDouble(toDouble(value) * Infinity)
    : finiteAreaTangent(value)

// internal

const finiteAreaTangent = odd(Math.atanh, 1n, (exact) => {
  const x = fixedOf(exact)
  return ofFixed(lnOf(ofFixed((one + x) * one / (one - x))) / 2n)
})

const zero: Exact = { digits: 0n, exponent: 0 }

const unit: Exact = { digits: 1n, exponent: 0 }

const isUnit = (value: Decimal128): boolean => {
  const exact = exactOf(value)
  return exact !== undefined && magnitudeOf(fixedOf(exact)) === one
}

const signOf = (digits: bigint): bigint => digits < 0n ? -1n : 1n

const magnitudeOf = (digits: bigint): bigint => digits < 0n ? -digits : digits

/** Whether the cube of a number is beyond its digits. */
const isSmall = (order: number): boolean => order < -25

/** A number that rounds to the given one: its magnitude is a little greater or less. */
const beside = ({ digits, exponent }: Exact, side: bigint): Exact => ({
  digits: digits * 10n ** 60n + side * signOf(digits),
  exponent: exponent - 60
})

const beneath = (value: BsonNumber): Decimal128 => {
  const exact = exactOf(value)
  return decimalOf(exact === undefined || exact.digits === 0n ? zero : beside(exact, -1n))
}

/** The other leg of a triangle with the hypotenuse 1. */
const legOf = (x: bigint): bigint => integerRoot((one - x) * (one + x))

const half = ({ digits, exponent }: Exact): Exact => ({ digits: 5n * digits, exponent: exponent - 1 })

/** Half of e^x and e^-x or of their difference. */
const halfOf = (exact: Exact, sign: bigint): Exact => {
  const order = powerAbove(exact)
  // Beyond the decimals.
  if (order > 5) return { digits: signOf(exact.digits), exponent: 10_000 }
  const x = fixedOf(exact)
  const outward = powerOfE(magnitudeOf(x))
  const factor = sign < 0n ? signOf(x) : 1n
  // e^-200 is beyond the digits.
  if (order > 3) return half({ digits: factor * outward.digits, exponent: outward.exponent })
  const [up, down, exponent] = align(outward, powerOfE(-magnitudeOf(x)))
  return half({ digits: factor * (up + sign * down), exponent })
}

/** ln (x + √(x² ± 1)) */
const areaOf = (exact: Exact, sign: bigint): bigint => {
  if (powerAbove(exact) > 45) return lnOf({ digits: 2n * exact.digits, exponent: exact.exponent })
  const x = fixedOf(exact)
  return lnOf(ofFixed(x + integerRoot(x * x + sign * one * one)))
}
