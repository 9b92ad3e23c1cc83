import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Effect, Schema } from "effect"
import {
  add,
  addExactly,
  decimalOf,
  divide,
  multiply,
  remainder,
  remainderOf,
  type Rounding,
  roundTo,
  sumOf,
  wholePartOf
} from "../../src/bson/arithmetic.ts"
import {
  align,
  compareNumbers,
  type Exact,
  exactOf,
  isZero,
  lengthOf,
  residue,
  toDouble
} from "../../src/bson/number.ts"

const decimal = (text: string) => Decimal128.fromString(text)

const digits = Schema.Struct({
  // Runs of the same digit are next to ties and carries.
  text: Schema.Literals(["", "0", "1", "5", "9", "49", "50", "51", "1234567890123456789012345678901"]),
  filler: Schema.Literals(["0", "4", "5", "9"]),
  count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 34 })),
  sign: Schema.Literals(["", "-"])
})

const exponent = Schema.Int.check(Schema.isBetween({ minimum: -6176, maximum: 6111 }))
const gap = Schema.Int.check(Schema.isBetween({ minimum: -220, maximum: 220 }))

const numberOf = ({ count, filler, sign, text }: typeof digits.Type, at: number): Decimal128 => {
  const all = `${text}${filler.repeat(count)}`.slice(0, 34)
  return decimal(`${sign}${all === "" ? "0" : all}E${Math.max(-6176, Math.min(6111, at))}`)
}

/** The exact value of a decimal. */
const exact = (value: Decimal128): Exact => exactOf(value) ?? assert.fail("a decimal that is not finite")

describe("arithmetic of decimals", () => {
  it.effect.prop(
    "rounds sums, remainders and orders as with all digits",
    [digits, digits, exponent, gap],
    ([first, second, at, between]) =>
      Effect.sync(() => {
        const [a, b] = [numberOf(first, at), numberOf(second, at + between)]
        const [left, right, least] = align(exact(a), exact(b))
        assert.strictEqual(String(add(a, b)), decimalOf({ digits: left + right, exponent: least }).toString())
        assert.strictEqual(compareNumbers(a, b), left < right ? -1 : left > right ? 1 : 0)
        if (right === 0n) return
        const plain = decimalOf({ digits: left % right, exponent: least })
        assert.strictEqual(String(remainder(a, b)), plain.toString())
      }),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop("reads and makes decimals as their texts say", [digits, exponent], ([parts, at]) =>
    Effect.sync(() => {
      const value = numberOf(parts, at)
      const { digits, exponent } = exact(value)
      assert.strictEqual(
        decimal(`${digits}E${exponent}`).toString(),
        value.toString().replace(/^-(?=[0.]+(?:E|$))/u, "")
      )
      assert.strictEqual(decimalOf({ digits, exponent }).toString(), decimal(`${digits}E${exponent}`).toString())
      assert.strictEqual(toDouble(value), Number(value.toString()))
    }))

  it("reads decimals that are not finite, zeros with signs, and those of other bits", () => {
    for (const text of ["NaN", "Infinity", "-Infinity", "0", "-0", "-0E+100"]) {
      assert.isTrue(Object.is(toDouble(decimal(text)), Number(text)), text)
      assert.strictEqual(exactOf(decimal(text)) === undefined, !Number.isFinite(Number(text)))
    }
    // With more digits than a decimal may have.
    for (const top of [0x6c, 0x31]) {
      const value = new Decimal128(Uint8Array.from({ length: 16 }, (_, i) => i === 15 ? top : 0xff))
      assert.isTrue(Object.is(toDouble(value), Number(value.toString())))
    }
    assert.strictEqual(String(decimalOf({ digits: 1n, exponent: 6144 })), "1.000000000000000000000000000000000E+6144")
  })

  it.effect.each<readonly [a: string, b: string, sum: string, remainder: string, order: number]>([
    ["9E6111", "1E-6176", "9.000000000000000000000000000000000E+6111", "0E-6176", 1],
    ["9E6111", "-7E-6176", "9.000000000000000000000000000000000E+6111", "3E-6176", 1],
    ["-1E6111", "9E-6176", "-1.000000000000000000000000000000000E+6111", "-1E-6176", -1],
    ["1E-6176", "9E6111", "9.000000000000000000000000000000000E+6111", "1E-6176", -1],
    ["0E6111", "1E-6176", "1E-6176", "0E-6176", -1],
    ["9E6111", "0E-6176", "9.000000000000000000000000000000000E+6111", "", 1],
    ["1", "-1E-100", "1.000000000000000000000000000000000", "0E-100", 1],
    ["1.000000000000000000000000000000001", "5E-34", "1.000000000000000000000000000000002", "0E-34", 1],
    ["0E6111", "0E-6176", "0E-6176", "", 0]
  ])("%s and %s", ([a, b, sum, rest, order]) =>
    Effect.sync(() => {
      assert.strictEqual(String(add(decimal(a), decimal(b))), decimal(sum).toString())
      if (rest !== "") assert.strictEqual(String(remainder(decimal(a), decimal(b))), decimal(rest).toString())
      assert.strictEqual(compareNumbers(decimal(a), decimal(b)), order)
      assert.strictEqual(compareNumbers(decimal(b), decimal(a)), 0 - order)
    }))

  it("makes no more digits of far exponents than of near ones", () => {
    const [great, small] = [exact(decimal("9E6111")), exact(decimal("-7E-6176"))]
    for (const result of [sumOf(great, small), sumOf(small, great), remainderOf(great, small)]) {
      assert.isBelow(lengthOf(result.digits), 100)
    }
    assert.isFalse(isZero(decimal("1E-6176")))
    assert.deepStrictEqual(residue(decimal("1E-6176")), { side: 1, text: "1E-6176" })
  })

  it.effect.each<readonly [value: string, places: number, rounding: Rounding, result: string]>([
    ["1E-6176", 2, "halfEven", "0.00"],
    ["1E-6176", 2, "ceil", "0.01"],
    ["-1E-6176", 2, "floor", "-0.01"],
    ["-1E-6176", 0, "truncate", "0"],
    ["0E-6176", 0, "ceil", "0"],
    ["0.05", 1, "halfEven", "0.0"],
    ["0.051", 1, "halfEven", "0.1"],
    ["0.005", 1, "ceil", "0.1"],
    ["0.15", 1, "halfEven", "0.2"]
  ])(
    "%s with %i places, %s",
    ([value, places, rounding, result]) =>
      Effect.sync(() =>
        assert.strictEqual(String(roundTo(decimal(value), places, rounding)), decimal(result).toString())
      )
  )

  it("takes 15 digits of a double beside a decimal, as MongoDB does", () => {
    const [ten, tenth] = [decimal("10"), 0.1]
    assert.strictEqual(String(add(ten, tenth)), "10.1")
    assert.strictEqual(String(multiply(ten, tenth)), "1.0")
    assert.strictEqual(compareNumbers(divide(ten, tenth), 100), 0)
    assert.strictEqual(compareNumbers(remainder(ten, 0.3), decimal("0.1")), 0)
    assert.strictEqual(String(add(decimal("1.1"), 1 / 3)), "1.433333333333333")
    assert.strictEqual(String(multiply(ten, 1e300 / 3)), "3.333333333333330E+300")
    assert.strictEqual(String(add(ten, NaN)), "NaN")
    assert.strictEqual(String(add(ten, -Infinity)), "-Infinity")
    assert.strictEqual(String(add(ten, 2)), "12")
    // The sums of many values have all digits of a double.
    assert.strictEqual(String(addExactly(ten, tenth)), "10.10000000000000000555111512312578")
  })

  it("has 64-bit integers without their fractions", () => {
    assert.strictEqual(wholePartOf(-1.9), -1n)
    assert.strictEqual(wholePartOf(decimal("12.9")), 12n)
    assert.strictEqual(wholePartOf(Long.MAX_VALUE), 2n ** 63n - 1n)
    assert.strictEqual(wholePartOf(-(2 ** 63)), -(2n ** 63n))
    assert.strictEqual(wholePartOf(decimal("1E-6176")), 0n)
    for (const beyond of [2 ** 63, NaN, -Infinity, decimal("9E6111"), decimal("NaN")]) {
      assert.isUndefined(wholePartOf(beyond))
    }
  })

  it("divides far exponents", () => {
    assert.strictEqual(String(divide(decimal("9E6111"), decimal("1E-6176"))), "Infinity")
    assert.strictEqual(String(divide(decimal("1E-6176"), decimal("3E6111"))), "0E-6176")
  })
})
