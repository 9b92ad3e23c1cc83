/**
 * The value types that BSON has and JSON lacks, without BSON's own classes. Encoding writes a `Date`, a `bigint`, a
 * `BigDecimal`, a `Uint8Array` or an {@link ObjectIdText}, and the repository converts these into BSON's classes.
 * Decoding accepts both forms.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { storableAnnotation } from "./annotations.ts"

/** An ObjectId in a document that is about to be stored. */
export class ObjectIdText {
  readonly hex: string
  constructor(hex: string) {
    this.hex = hex
  }
  toString(): string {
    return this.hex
  }
  toJSON(): string {
    return this.hex
  }
}

/** Whether the value is an instance of the BSON class. All BSON classes carry their name on the prototype. */
const isOfClass = (value: unknown, name: string): boolean =>
  Predicate.isObject(value) && !Object.hasOwn(value, "_bsontype") && Reflect.get(value, "_bsontype") === name

/** The schema of stored values that `read` accepts. In JSON a stored value has the form of the decoded value. */
const stored = <S extends Schema.Top>(
  bsonType: string,
  expected: string,
  read: (value: unknown) => S["Type"] | undefined,
  json: S,
  fromJson: (value: S["Type"]) => unknown = Function.identity
) =>
  Schema.declare((value: unknown): value is unknown => read(value) !== undefined, {
    bsonType,
    expected,
    toCodecJson: () =>
      Schema.link<unknown>()(json, {
        decode: SchemaGetter.transform(fromJson),
        encode: SchemaGetter.transformEffect((value: unknown) => orInvalid(read(value)))
      })
  })

/** The link between a value and its stored form. */
const link = <A>(to: Schema.Top, read: (value: unknown) => A | undefined, write: (value: A) => unknown) =>
  Schema.link<A>()(to, {
    decode: SchemaGetter.transformEffect((value: unknown) => orInvalid(read(value))),
    encode: SchemaGetter.transformEffect((value: A) => orInvalid(write(value)))
  })

const orInvalid = <A>(value: A | undefined): Effect.Effect<A, SchemaIssue.Issue> =>
  value === undefined
    ? Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a value that can be stored" }))
    : Effect.succeed(value)

// -----------------------------------------------------------------------------
// dates
// -----------------------------------------------------------------------------

const readMoment = (value: unknown): DateTime.Utc | undefined =>
  Predicate.isDate(value) ? Option.getOrUndefined(DateTime.make(value)) : undefined

export const moment: SchemaAST.Link = link(Schema.Date.annotate({ bsonType: "date" }), readMoment, DateTime.toDateUtc)

// -----------------------------------------------------------------------------
// integers of 64 bits
// -----------------------------------------------------------------------------

const [minLong, maxLong] = [-(2n ** 63n), 2n ** 63n - 1n]

const isLong = (value: bigint): boolean => value >= minLong && value <= maxLong

const readLong = (value: unknown): bigint | undefined =>
  typeof value === "bigint"
    ? isLong(value) ? value : undefined
    : Predicate.isNumber(value)
    ? Number.isInteger(value) ? readLong(BigInt(value)) : undefined
    : isOfClass(value, "Long")
    ? BigInt(String(value))
    : undefined

/** Whether the integer fits into 64 bits. */
export const fitsLong = Schema.makeFilter(isLong, {
  expected: `an integer from ${minLong} to ${maxLong}`,
  [storableAnnotation]: true
})

export const long: SchemaAST.Link = link(
  stored("long", "a 64-bit integer", readLong, Schema.BigInt),
  readLong,
  (value: bigint) => isLong(value) ? value : undefined
)

// -----------------------------------------------------------------------------
// decimals
// -----------------------------------------------------------------------------

const maxDigits = 10n ** 34n

/** Decimal128 holds up to 34 digits and an exponent from -6176 to 6111 without rounding. */
const isDecimal = (value: BigDecimal.BigDecimal): boolean => {
  const { scale, value: digits } = BigDecimal.normalize(value)
  return scale <= 6176 && scale >= -6111 && digits < maxDigits && digits > -maxDigits
}

const readDecimal = (value: unknown): BigDecimal.BigDecimal | undefined =>
  BigDecimal.isBigDecimal(value)
    ? isDecimal(value) ? value : undefined
    : Predicate.isNumber(value) || isOfClass(value, "Decimal128") || isOfClass(value, "Long")
    ? Option.getOrUndefined(BigDecimal.fromString(String(value)))
    : undefined

/** Whether the decimal fits into Decimal128. */
export const fitsDecimal = Schema.makeFilter(isDecimal, {
  expected: "a decimal of at most 34 digits, and an exponent from -6176 to 6111",
  [storableAnnotation]: true
})

export const decimal: SchemaAST.Link = link(
  stored("decimal", "a decimal", readDecimal, Schema.BigDecimal),
  readDecimal,
  (value: BigDecimal.BigDecimal) => isDecimal(value) ? BigDecimal.normalize(value) : undefined
)

// -----------------------------------------------------------------------------
// bytes
// -----------------------------------------------------------------------------

const readBytes = (value: unknown): Uint8Array | undefined => {
  if (Predicate.isUint8Array(value)) return value
  if (!isOfClass(value, "Binary")) return undefined
  // BSON's `Binary` has a buffer that may be longer than its content.
  const { buffer, position } = value as { readonly buffer: Uint8Array; readonly position: number }
  return Uint8Array.from(buffer.subarray(0, position))
}

export const bytes: SchemaAST.Link = link(
  stored("binData", "bytes", readBytes, Schema.Uint8Array),
  readBytes,
  (value: Uint8Array) => value
)

// -----------------------------------------------------------------------------
// ObjectIds
// -----------------------------------------------------------------------------

const readObjectId = (value: unknown): string | undefined =>
  value instanceof ObjectIdText || isOfClass(value, "ObjectId") ? String(value) : undefined

export const objectId = stored(
  "objectId",
  "an ObjectId",
  readObjectId,
  Schema.String.check(Schema.isPattern(/^[\da-fA-F]{24}$/u, { expected: "an ObjectId" })),
  (text) => new ObjectIdText(text.toLowerCase())
)
