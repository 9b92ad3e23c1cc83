/**
 * Functions of numbers that are written as integers: as many units of 10^-{@link places}. They compute what a decimal's 34
 * digits need.
 */
import { type Exact, lengthOf } from "./number.ts"

/** The digits after the point: logarithms next to 1 begin with 34 zeros, and exponents multiply their errors. */
export const places = 90

export const one = 10n ** BigInt(places)

export const fixedOf = ({ digits, exponent }: Exact, at: number = places): bigint =>
  exponent >= -at
    ? digits * 10n ** BigInt(exponent + at)
    : lengthOf(digits) <= -exponent - at
    ? 0n
    : digits / 10n ** BigInt(-exponent - at)

export const ofFixed = (digits: bigint): Exact => ({ digits, exponent: -places })

/** The nearest whole number of a quotient with a positive divisor. */
export const nearest = (dividend: bigint, divisor: bigint): bigint =>
  (dividend + (dividend < 0n ? -divisor : divisor) / 2n) / divisor

/** The root without its fraction, by Newton's method. */
export const integerRoot = (value: bigint): bigint => {
  if (value === 0n) return 0n
  let root = 10n ** BigInt((lengthOf(value) >> 1) + 1)
  for (let next = (root + value / root) / 2n; next < root; next = (root + value / root) / 2n) root = next
  return root
}

/** The natural logarithm of a positive number. */
export const lnOf = ({ digits, exponent }: Exact): bigint => {
  const length = lengthOf(digits)
  const scaled = length <= places ? digits * 10n ** BigInt(places - length) : digits / 10n ** BigInt(length - places)
  // 0.1 <= m < 1, so that a few roots bring it near 1.
  let m = scaled
  let factor = 2n
  for (let i = 0; i < rootings; i++) {
    m = integerRoot(m * one)
    factor *= 2n
  }
  return factor * areaTangent((m - one) * one / (m + one)) + BigInt(exponent + length) * ln10()
}

/** e^x = 10^k × e^r, where r is below ln 10, and its series converges after halvings. */
export const powerOfE = (x: bigint): Exact => {
  const k = x / ln10() - (x < 0n ? 1n : 0n)
  const r = (x - k * ln10()) / 2n ** BigInt(halvings)
  let sum = one
  let term = one
  for (let n = 1n; term !== 0n; n++) {
    term = term * r / one / n
    sum += term
  }
  for (let i = 0; i < halvings; i++) sum = sum * sum / one
  return { digits: sum, exponent: Number(k) - places }
}

/** The sine and the cosine of a number, which may have thousands of digits before the point. */
export const sineAndCosine = (x: Exact): readonly [sine: bigint, cosine: bigint] => {
  // π has the places for the digits of x before its point.
  const isNear = lengthOf(x.digits) + x.exponent <= 34
  const [at, pi] = isNear ? [nearPlaces, nearPi()] : [farPlaces, farPi()]
  const wide = 2n * fixedOf(x, at)
  const quarters = nearest(wide, pi)
  const r = (wide - quarters * pi) / (2n * 10n ** BigInt(at - places))
  const [sine, cosine] = [evenPowers(r, 2n, r), evenPowers(one, 1n, r)]
  switch (BigInt.asUintN(2, quarters)) {
    case 0n:
      return [sine, cosine]
    case 1n:
      return [cosine, -sine]
    case 2n:
      return [-sine, -cosine]
    default:
      return [-cosine, sine]
  }
}

/** The angle of a point from the first axis, in (-π, π]. Not both coordinates are 0. */
export const angleOf = (y: bigint, x: bigint): bigint => {
  const [height, width] = [y < 0n ? -y : y, x < 0n ? -x : x]
  const first = height <= width
    ? arcTangent(height * one / width)
    : nearPi() / (2n * 10n ** BigInt(nearPlaces - places)) - arcTangent(width * one / height)
  const upper = x < 0n ? quarterTurns(4) - first : first
  return y < 0n ? -upper : upper
}

/** As many times π / 4. */
export const quarterTurns = (count: number): bigint =>
  BigInt(count) * nearPi() / (4n * 10n ** BigInt(nearPlaces - places))

// internal

const rootings = 6

const halvings = 8

/** The inverse hyperbolic tangent of a small number, by its series. */
const areaTangent = (x: bigint): bigint => oddPowers(x, x * x / one)

/** The inverse tangent of a number from 0 to 1, whose angle is halved until its series converges. */
const arcTangent = (x: bigint): bigint => {
  let t = x
  for (let i = 0; i < angleHalvings; i++) t = t * one / (one + integerRoot(one * one + t * t))
  return oddPowers(t, -t * t / one) * 2n ** BigInt(angleHalvings)
}

const angleHalvings = 4

/** x + x × factor / 3 + x × factor² / 5 + … */
const oddPowers = (x: bigint, factor: bigint): bigint => {
  let sum = x
  let term = x
  for (let n = 3n; term !== 0n; n += 2n) {
    term = term * factor / one
    sum += term / n
  }
  return sum
}

/** The series of the sine of r, from r and 2 on, and of its cosine, from 1 and 1 on. */
const evenPowers = (start: bigint, from: bigint, r: bigint): bigint => {
  const square = r * r / one
  let sum = start
  let term = start
  for (let n = from; term !== 0n; n += 2n) {
    term = -term * square / one / (n * (n + 1n))
    sum += term
  }
  return sum
}

const lazily = (compute: () => bigint): () => bigint => {
  let known: bigint | undefined
  return () => known ??= compute()
}

/** ln 10 = 2 artanh(9/11). */
const ln10 = lazily(() => 2n * areaTangent(9n * one / 11n))

const nearPlaces = places + 40

// The greatest decimal has 6145 digits before its point.
const farPlaces = places + 6_150

/** π by the series of the Chudnovsky brothers, which has 14 digits more with each term. */
const piOf = (at: number) => () => {
  const wide = at + 10
  const [, q, t] = seriesOf(0n, BigInt(Math.ceil(wide / 14) + 1))
  return q * 426_880n * integerRoot(10_005n * 10n ** BigInt(2 * wide)) / t / 10n ** 10n
}

/** The terms of the series with numbers from one to another one, with common factors. */
const seriesOf = (from: bigint, to: bigint): readonly [p: bigint, q: bigint, t: bigint] => {
  if (to - from > 1n) {
    const middle = (from + to) / 2n
    const [p1, q1, t1] = seriesOf(from, middle)
    const [p2, q2, t2] = seriesOf(middle, to)
    return [p1 * p2, q1 * q2, q2 * t1 + p1 * t2]
  }
  if (from === 0n) return [1n, 1n, 13_591_409n]
  const p = (6n * from - 5n) * (2n * from - 1n) * (6n * from - 1n)
  const t = p * (13_591_409n + 545_140_134n * from)
  return [p, from ** 3n * 10_939_058_860_032_000n, from % 2n === 0n ? t : -t]
}

const nearPi = lazily(piOf(nearPlaces))

const farPi = lazily(piOf(farPlaces))
