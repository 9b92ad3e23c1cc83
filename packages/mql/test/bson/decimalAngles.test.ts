import { assert, describe, it } from "@effect/vitest"
import { Decimal128 } from "bson"
import { Arbitrary, Effect, Schema } from "effect"
import { add, divide, multiply } from "../../src/bson/arithmetic.ts"
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
  hyperbolicCosine,
  hyperbolicSine,
  hyperbolicTangent,
  sine,
  tangent
} from "../../src/bson/decimalAngles.ts"
import { exponential } from "../../src/bson/decimalPowers.ts"
import { type BsonNumber, compareNumbers } from "../../src/bson/number.ts"

const decimal = (text: string) => Decimal128.fromString(text)

describe("trigonometry of decimals", () => {
  it.effect.each<readonly [name: string, argument: string, result: string, DecimalFunction]>([
    ["sine", "1E-30", "1.000000000000000000000000000000000E-30", sine],
    ["sine", "-0", "-0", sine],
    ["sine", "1E-6176", "1E-6176", sine],
    ["cosine", "1.570796326794896619231321691639751", "4.420985846996875529104874722961539E-34", cosine],
    ["tangent", "1.570796326794896619231321691639751", "2261938930836633226244288822199802", tangent],
    ["cosine", "9.999999999999999999999999999999999E+6144", "-0.8296453523350967216289114223081673", cosine],
    ["tangent", "1E+6144", "2.295872813512483383308592971482313", tangent],
    ["sine", "NaN", "NaN", sine],
    ["arcSine", "-1", "-1.570796326794896619231321691639751", arcSine],
    ["arcCosine", "1", "0", arcCosine],
    ["arcCosine", "-1", "3.141592653589793238462643383279503", arcCosine],
    ["arcTangent", "-Infinity", "-1.570796326794896619231321691639751", arcTangent],
    ["hyperbolicSine", "20000", "Infinity", hyperbolicSine],
    ["hyperbolicCosine", "-20000", "Infinity", hyperbolicCosine],
    ["hyperbolicTangent", "-1E+6000", "-1.000000000000000000000000000000000", hyperbolicTangent],
    ["hyperbolicTangent", "Infinity", "1", hyperbolicTangent],
    ["areaSine", "-1E+6144", "-14147.77595853597662791595672970219", areaSine],
    ["areaCosine", "1", "0", areaCosine],
    ["areaTangent", "0.9999999999999999999999999999999999", "39.49052017117874928301447079036328", areaTangent],
    ["areaTangent", "1", "Infinity", areaTangent]
  ])(
    "the %s of %s is %s",
    ([, argument, result, compute]) =>
      Effect.sync(() => assert.strictEqual(compute(decimal(argument)).toString(), decimal(result).toString()))
  )

  it.effect.each<readonly [y: string, x: string, result: string]>([
    ["1E-6000", "1E+6000", "0"],
    ["1E+6000", "-1E-6000", "1.570796326794896619231321691639751"],
    ["-1E-400", "-1", "-3.141592653589793238462643383279503"],
    ["-Infinity", "-Infinity", "-2.356194490192344928846982537459627"],
    ["0", "-1E-400", "3.141592653589793238462643383279503"],
    ["-0", "1", "-0"],
    ["1E-6000", "Infinity", "0"],
    ["1", "NaN", "NaN"]
  ])(
    "the angle of %s and %s is %s",
    ([y, x, result]) =>
      Effect.sync(() => assert.strictEqual(angle(decimal(y), decimal(x)).toString(), decimal(result).toString()))
  )

  it.effect.prop(
    "agrees with itself up to the last digits",
    [number(-40, 3), number(-40, 0)],
    ([x, ratio]) =>
      Effect.sync(() => {
        const [sin, cos] = [sine(x), cosine(x)]
        assertNear(sum(product(sin, sin), product(cos, cos)), one)
        assertNear(tangent(x), divide(sin, cos))
        const [sinh, cosh] = [hyperbolicSine(x), hyperbolicCosine(x)]
        assertNear(hyperbolicTangent(x), divide(sinh, cosh))
        assertNear(sum(cosh, sinh), exponential(x), cosh)
        assertNear(areaSine(sinh), x)
        assertNear(tangent(arcTangent(x)), x, sum(one, product(x, x)))
        assertNear(angle(sine(ratio), cosine(ratio)), ratio)
        assertNear(sine(arcSine(ratio)), ratio)
        assertNear(sum(arcSine(ratio), arcCosine(ratio)), quarter)
        assertNear(hyperbolicTangent(areaTangent(ratio)), ratio)
        assertNear(hyperbolicCosine(areaCosine(cosh)), cosh, product(cosh, decimal("1000")))
      })
  )
})

const one = decimal("1")

const quarter = decimal("1.570796326794896619231321691639751")

const below = (maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maximum - 1 })))

/** A decimal from 10^least up to 10^most, or its negative. */
const number = (least: number, most: number) =>
  Arbitrary.map(
    Arbitrary.all({
      digits: Arbitrary.array(below(10), { maxLength: 33 }),
      first: below(9),
      order: below(most - least),
      isNegative: below(2)
    }),
    ({ digits, first, isNegative, order }) =>
      decimal(`${isNegative === 1 ? "-" : ""}${first + 1}.${digits.join("")}0E${least + order}`.replace(/\.0E/u, "E"))
  )

const sum = (a: BsonNumber, b: BsonNumber): BsonNumber => add(a, b) ?? a

const product = (a: BsonNumber, b: BsonNumber): BsonNumber => multiply(a, b) ?? a

/** Asserts that numbers differ by a few units of the last digit of the scale. */
const assertNear = (actual: BsonNumber, expected: BsonNumber, scale: BsonNumber = expected) => {
  const difference = sum(actual, product(expected, -1))
  const unit = product(scale, decimal("5E-33"))
  const isNear = compareNumbers(product(difference, difference), product(unit, unit)) <= 0
  assert.isTrue(isNear, `${actual.toString()} is not ${expected.toString()}`)
}
