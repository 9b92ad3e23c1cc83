/**
 * The operators on fields that have no conditions in them; `$not`, `$elemMatch` and `$all` are in `filterParser.ts`. The bitwise
 * ones take whole numbers as 64-bit integers in two's complement, and binary data, whose first byte has the lowest bits.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import type { Binary } from "bson"
import type { Collator } from "../bson/collator.ts"
import { type BsonNumber, exactOf } from "../bson/number.ts"
import { binaryBytes, isArray, isNumber, isTruthy, Rank, rankOf } from "../bson/value.ts"
import { reject } from "../limits/queryProblem.ts"
import {
  equalTo,
  equalToOneOf,
  hasSize,
  matchesPattern,
  ordered,
  remainderCondition,
  type ValueCondition
} from "../predicate/comparisonOperators.ts"
import { ofType } from "../predicate/types.ts"
import { type FieldTest, noneOf, onItems, onValue } from "./fieldTest.ts"

/** Parses an operand or rejects it; `siblings` are all operators on the field. */
export type FieldOperator = (operand: unknown, siblings: Document, collator: Collator | undefined) => FieldTest

export const fieldOperators: ReadonlyMap<string, FieldOperator> = new Map<string, FieldOperator>([
  ["$eq", (operand, _, collator) => onItems(equalTo(operand, collator))],
  [
    "$ne",
    (operand, _, collator) =>
      operand instanceof RegExp
        ? reject("$ne takes no regular expression")
        : noneOf(onItems(equalTo(operand, collator)))
  ],
  ["$gt", (operand, _, collator) => onItems(ordered("$gt")(operand, collator))],
  ["$gte", (operand, _, collator) => onItems(ordered("$gte")(operand, collator))],
  ["$lt", (operand, _, collator) => onItems(ordered("$lt")(operand, collator))],
  ["$lte", (operand, _, collator) => onItems(ordered("$lte")(operand, collator))],
  ["$in", (operand, _, collator) => onItems(equalToOneOf(operand, collator))],
  ["$nin", (operand, _, collator) => noneOf(onItems(equalToOneOf(operand, collator)))],
  ["$regex", (operand, siblings) => onItems(matchesPattern(operand, siblings["$options"]))],
  ["$options", (_, siblings) => Object.hasOwn(siblings, "$regex") ? always : reject("$options needs a $regex")],
  ["$exists", (operand) => isTruthy(operand) ? exists : noneOf(exists)],
  ["$size", (operand) => onValue(hasSize(operand))],
  ["$mod", (operand) => onItems(remainderCondition(operand))],
  ["$bitsAllSet", (operand) => onItems(testsBits("$bitsAllSet")(operand))],
  ["$bitsAnySet", (operand) => onItems(testsBits("$bitsAnySet")(operand))],
  ["$bitsAllClear", (operand) => onItems(testsBits("$bitsAllClear")(operand))],
  ["$bitsAnyClear", (operand) => onItems(testsBits("$bitsAnyClear")(operand))],
  ["$type", (operand) => onItems(ofType(operand))],
  ["$comment", () => always]
])

// internal

const exists = onValue((value) => value !== undefined)

const always = onValue(() => true)

type BitOperator = "$bitsAllSet" | "$bitsAnySet" | "$bitsAllClear" | "$bitsAnyClear"

/** Parses positions of bits, a number, or binary data, whose set bits are tested. */
const testsBits = (operator: BitOperator) => (operand: unknown): ValueCondition => {
  const mask = maskOf(operator, operand)
  const isAll = operator === "$bitsAllSet" || operator === "$bitsAllClear"
  const passes = operator === "$bitsAllSet" || operator === "$bitsAnyClear"
    ? (byte: number, tested: number) => (byte & tested) === tested
    : (byte: number, tested: number) => (byte & tested) === 0
  // "Any clear" is the opposite of "all set", and "any set" of "all clear".
  return (value) => {
    const bytes = isNumber(value)
      ? bytesOfNumber(value)
      : rankOf(value) === Rank.binary
      // The cast follows from the rank.
      ? binaryBytes(value as Binary)
      : undefined
    return bytes !== undefined && everyByte(mask, bytes, isNumber(value), passes) === isAll
  }
}

/** The tested bits: bytes by their places, in order, without those that have none. */
type Mask = ReadonlyArray<readonly [place: number, tested: number]>

const everyByte = (
  mask: Mask,
  bytes: Uint8Array,
  isSigned: boolean,
  passes: (byte: number, tested: number) => boolean
): boolean => {
  // The bits beyond a number are those of its sign.
  const beyond = isSigned && (bytes.at(-1) ?? 0) >= 0x80 ? 0xff : 0
  for (const [place, tested] of mask) {
    if (place >= bytes.length) return passes(beyond, tested)
    if (!passes(bytes[place] ?? 0, tested)) return false
  }
  return true
}

const maskOf = (operator: string, operand: unknown): Mask => {
  if (isArray(operand)) return maskOfPositions(operand.map((position) => positionOf(operator, position)))
  if (rankOf(operand) === Rank.binary) return maskOfBytes(binaryBytes(operand as Binary))
  const number = isNumber(operand) ? integerOf(operand) : undefined
  return number === undefined || number < 0n
    ? reject(`${operator} needs a whole number from 0, binary data, or an array of positions`)
    : maskOfBytes(bytesOfInteger(number))
}

const positionOf = (operator: string, position: unknown): number => {
  const number = isNumber(position) ? integerOf(position) : undefined
  return number === undefined || number < 0n || number > maxPosition
    ? reject(`${operator} needs whole numbers from 0 to ${maxPosition} as positions`)
    : Number(number)
}

const maskOfPositions = (positions: ReadonlyArray<number>): Mask => {
  const bytes = new Map<number, number>()
  for (const position of positions) {
    const place = position >>> 3
    bytes.set(place, (bytes.get(place) ?? 0) | (1 << (position & 7)))
  }
  return Array.from(bytes).toSorted(([a], [b]) => a - b)
}

const maskOfBytes = (bytes: Uint8Array): Mask =>
  Array.from(bytes, (tested, place) => [place, tested] as const).filter(([, tested]) => tested !== 0)

const bytesOfNumber = (value: BsonNumber): Uint8Array | undefined => {
  const integer = integerOf(value)
  return integer === undefined ? undefined : bytesOfInteger(integer)
}

const bytesOfInteger = (integer: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, integer, true)
  return bytes
}

/** A number as a 64-bit integer; `undefined` if it is none. */
const integerOf = (value: BsonNumber): bigint | undefined => {
  if (typeof value === "number") return Number.isInteger(value) ? within(BigInt(value)) : undefined
  const exact = exactOf(value)
  // No decimal with so large an exponent is such an integer, except for 0.
  if (exact === undefined || (exact.digits !== 0n && Math.abs(exact.exponent) > maxDigits)) return undefined
  if (exact.digits === 0n) return 0n
  if (exact.exponent >= 0) return within(exact.digits * 10n ** BigInt(exact.exponent))
  const divisor = 10n ** BigInt(-exact.exponent)
  return exact.digits % divisor === 0n ? within(exact.digits / divisor) : undefined
}

const within = (integer: bigint): bigint | undefined => BigInt.asIntN(64, integer) === integer ? integer : undefined

// Of a decimal.
const maxDigits = 34

// MongoDB takes 32-bit integers.
const maxPosition = 2 ** 31 - 1
