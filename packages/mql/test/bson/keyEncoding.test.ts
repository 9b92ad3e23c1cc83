import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long, ObjectId, Timestamp, UUID } from "bson"
import { Arbitrary, Effect, Schema } from "effect"
import {
  bound,
  documentKey,
  encodeComponent,
  invert,
  limitedRange,
  limitLength,
  numberOfRecord,
  rankBound,
  recordIdOf
} from "../../src/bson/keyEncoding.ts"
import { compare } from "../../src/bson/value.ts"

const key = (value: unknown) => encodeComponent(value, { inexact: false })

const order = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

// In their order; those of one line are equal.
const ascending: ReadonlyArray<ReadonlyArray<unknown>> = [
  [undefined],
  [null],
  [NaN],
  [-Infinity],
  [Long.MIN_VALUE],
  [-1e10],
  [-1, Decimal128.fromString("-1.0")],
  [-5e-324],
  [0, -0, Decimal128.fromString("0E+3")],
  [Decimal128.fromString("1E-6000")],
  [0.1],
  [1, Decimal128.fromString("1")],
  [9007199254740992],
  [Long.fromString("9007199254740993"), Decimal128.fromString("9007199254740993")],
  [Long.MAX_VALUE],
  [Infinity],
  [""],
  ["\0"],
  ["\0a"],
  ["a"],
  ["a\0"],
  ["a\0b"],
  ["aa"],
  ["b"],
  ["é"],
  ["\uffff"],
  ["😀"],
  [{}],
  [{ a: 1 }],
  [{ a: 1, b: 1 }],
  [{ a: 2 }],
  [{ b: 1 }],
  [{ a: "text" }],
  [[]],
  [[1]],
  [[1, 2]],
  [[2]],
  [["a"]],
  [new ObjectId("000000000000000000000000")],
  [new ObjectId("ffffffffffffffffffffffff")],
  [false],
  [true],
  [new Date(-1)],
  [new Date(0)],
  [new Date(1)],
  [new Timestamp({ t: 1, i: 2 })],
  [new Timestamp({ t: 2, i: 1 })],
  [/a/],
  [/a/i],
  [/b/]
]

// Texts are well-formed, as documents and filters are when they reach the keys.
const scalar: Arbitrary.Arbitrary<unknown> = Arbitrary.map(
  Arbitrary.schema(Schema.Union([Schema.String, Schema.Int, Schema.Finite, Schema.Boolean, Schema.Null])),
  (value) => typeof value === "string" ? value.toWellFormed() : value
)

const value: Arbitrary.Arbitrary<unknown> = Arbitrary.flatMap(
  Arbitrary.schema(Schema.Literals(["scalar", "list", "document", "id"])),
  (kind): Arbitrary.Arbitrary<unknown> => {
    if (kind === "list") return Arbitrary.array(scalar, { maxLength: 3 })
    if (kind === "id") return Arbitrary.map(scalar, () => new UUID())
    return kind === "document" ? Arbitrary.all({ a: scalar, b: Arbitrary.array(scalar, { maxLength: 2 }) }) : scalar
  }
)

const recordNumber = Arbitrary.schema(
  Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 })))
)

describe("orderedKey", () => {
  it.effect("orders keys as MongoDB orders values of all classes, ascending and descending", () =>
    Effect.sync(() => {
      const values = ascending.flatMap((equal, place) => equal.map((value) => ({ value, place })))
      for (const a of values) {
        for (const b of values) {
          const expected = Math.sign(a.place - b.place)
          assert.strictEqual(Math.sign(compare(a.value, b.value)), expected)
          assert.strictEqual(order(key(a.value), key(b.value)), expected)
          assert.strictEqual(order(invert(key(a.value)), invert(key(b.value))), 0 - expected)
        }
      }
    }))

  it.effect.prop("orders the keys of any values as the values, in any position of a compound key", {
    a: value,
    b: value,
    before: scalar,
    after: scalar
  }, ({ a, after, b, before }) =>
    Effect.sync(() => {
      const expected = Math.sign(compare(a, b))
      assert.strictEqual(order(key(a), key(b)), expected)
      const compound = (value: unknown) => key(before) + invert(key(value)) + key(after)
      assert.strictEqual(order(compound(a), compound(b)), 0 - expected)
    }), { arbitrary: { runs: 2_000 } })

  it.effect.prop("range bounds include equal values, and only values of the same type class", {
    low: scalar,
    high: scalar,
    value
  }, ({ high, low, value }) =>
    Effect.sync(() => {
      const inside = (text: string, from: string, to: string) => {
        const { end, start } = limitedRange(from, to)
        return text >= start && text < end
      }
      for (const text of [key(value), key(value) + key("after")]) {
        if (compare(value, low) >= 0 && compare(value, high) <= 0) assert.isTrue(inside(text, bound(low), bound(high)))
        if (compare(value, low) === 0) {
          assert.isTrue(inside(text, bound(low), bound(low)))
          assert.isTrue(inside(text, rankBound(0x08), bound(low)))
        }
        // Numbers with the same nearest double share a bound; the filter tells them apart.
        const sharesBound = key(value).startsWith(bound(low))
        if (compare(value, low) < 0 && !sharesBound) assert.isFalse(inside(text, bound(low), rankBound(0xe0)))
      }
      const [from, to] = [invert(bound(high)), invert(bound(low))]
      if (compare(value, low) >= 0 && compare(value, high) <= 0) assert.isTrue(inside(invert(key(value)), from, to))
    }), { arbitrary: { runs: 2_000 } })

  it.effect.prop("orders record ids as their numbers, and decodes them", {
    a: recordNumber,
    b: recordNumber
  }, ({ a, b }) =>
    Effect.sync(() => {
      assert.strictEqual(numberOfRecord(recordIdOf(a)), a)
      assert.strictEqual(order(recordIdOf(a), recordIdOf(b)), Math.sign(a - b))
      assert.strictEqual(recordIdOf(a).length, 6)
    }))

  it.effect("distinguishes long values in keys of bounded length", () =>
    Effect.sync(() => {
      const notes = { inexact: false }
      const [a, b] = ["a", "b"].map((last) => `${"x".repeat(5_000)}${last}`)
      const [keyA, keyB] = [a, b].map((text) => limitLength(encodeComponent(text, notes), notes))
      assert.isTrue(notes.inexact)
      assert.isAtMost(keyA?.length ?? 0, 900)
      assert.notStrictEqual(keyA, keyB)
      const { end, start } = limitedRange(bound(a), bound(a))
      assert.isTrue((keyA ?? "") >= start && (keyA ?? "") < end)
      assert.notStrictEqual(documentKey(a), documentKey(b))
    }))
})
