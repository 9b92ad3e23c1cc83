/**
 * The expression operators that convert values from one BSON type to another. As a text, a very large or small double has an
 * exponent of two digits or more.
 */
import { Binary, Decimal128, type Long, ObjectId, type Timestamp } from "bson"
import * as Result from "effect/Result"
import { decimalOfDouble, integerOf, wholePartOf } from "../bson/arithmetic.ts"
import { type BsonNumber, doubleOf, exactOf, isDecimal, isDouble, isInt, longOf, toDouble } from "../bson/number.ts"
import { isDocument, isNumber, isTruthy, Rank, rankOf } from "../bson/value.ts"
import { formatDateText, isoFormat, parseDateText } from "../dates/dateText.ts"
import { utc } from "../dates/timeZone.ts"
import { charge, failureCost } from "../limits/costBudget.ts"
import { catchRejection, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { typeNameOf } from "../predicate/types.ts"
import { dateAt } from "./arithmeticOperators.ts"
import { isBinary, subtypeOf, textOfBinary, toBinary } from "./binaryOperators.ts"
import { isNothing, namesOf, ofValue, type OperatorParser, type OperatorParsers, timeOf } from "./expression.ts"

/** A number or a date as a text, or a text as it is; `undefined` for other values. */
export const plainTextOf = (value: unknown, numberText: (value: BsonNumber) => string): string | undefined => {
  if (typeof value === "string") return value
  if (isNumber(value)) return numberText(value)
  return value instanceof Date ? formatDateText(value.getTime(), utc, isoFormat(utc)) : undefined
}

// internal

const inconvertible = (value: unknown, type: string): never =>
  reject(`a value of the type ${typeNameOf(value)} can't be converted to ${type}`)

const unreadable = (text: string, type: string): never =>
  reject(`"${text.slice(0, 100)}" can't be read as a value of the type ${type}`)

const toText = (value: unknown): string => {
  if (typeof value === "boolean") return String(value)
  // The casts follow from the ranks.
  switch (rankOf(value)) {
    case Rank.objectId:
      return (value as ObjectId).toHexString()
    case Rank.timestamp:
      return formatDateText(timeOf(value) ?? 0, utc, isoFormat(utc))
    default:
      return plainTextOf(value, exactText) ?? inconvertible(value, "string")
  }
}

const decimalText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu
const nonFiniteText = /^(?:(?<sign>[+-]?)inf(?:inity)?|nan)$/iu

const readDouble = (text: string): number => {
  charge(text.length)
  if (decimalText.test(text)) return Number(text)
  const found = nonFiniteText.exec(text)
  if (found === null) return unreadable(text, "double")
  return /nan/iu.test(text) ? NaN : found.groups?.["sign"] === "-" ? -Infinity : Infinity
}

const readDecimal = (text: string): Decimal128 => {
  charge(text.length)
  if (!decimalText.test(text)) return decimalOfDouble(readDouble(text))
  return Result.getOrElse(Result.try(() => Decimal128.fromStringWithRounding(text)), () => unreadable(text, "decimal"))
}

/** A number without its fraction, as an integer with so many bits. */
const truncated = (value: BsonNumber, bits: 32 | 64, type: string): number | Long => {
  const digits = wholePartOf(value)
  if (digits === undefined) return reject(`${value.toString()} is beyond a value of the type ${type}`)
  return bits === 32 && BigInt.asIntN(32, digits) !== digits
    ? reject(`${value.toString()} is beyond a value of the type ${type}`)
    : integerOf(digits, bits === 64) ?? reject(`${value.toString()} is beyond a value of the type ${type}`)
}

const toInteger = (value: unknown, bits: 32 | 64, type: string): number | Long => {
  if (typeof value === "boolean") return bits === 64 ? longOf(Number(value)) : Number(value)
  if (isNumber(value)) return truncated(value, bits, type)
  if (value instanceof Date && bits === 64) return longOf(value.getTime())
  if (typeof value !== "string") return inconvertible(value, type)
  charge(value.length)
  if (!/^[+-]?\d{1,40}$/u.test(value)) return unreadable(value, type)
  const digits = BigInt(value.replace("+", ""))
  if (BigInt.asIntN(bits, digits) !== digits) return unreadable(value, type)
  return integerOf(digits, bits === 64) ?? unreadable(value, type)
}

const toDoubleValue = (value: unknown): number => {
  if (typeof value === "boolean") return Number(value)
  if (value instanceof Date) return value.getTime()
  if (typeof value === "string") return readDouble(value)
  if (!isNumber(value)) return inconvertible(value, "double")
  const double = toDouble(value)
  return Number.isFinite(double) || exactOf(value) === undefined
    ? double
    : reject(`${value.toString()} is beyond a value of the type double`)
}

const toTypedDouble = (value: unknown): unknown => doubleOf(toDoubleValue(value))

/** A double as MongoDB makes it a decimal: with 15 digits, zeros among them. */
const decimalOf15Digits = (value: number): Decimal128 =>
  Number.isFinite(value) && value !== 0 ? Decimal128.fromString(value.toPrecision(15)) : decimalOfDouble(value)

const toDecimal = (value: unknown): Decimal128 => {
  if (typeof value === "boolean") return decimalOfDouble(Number(value))
  if (value instanceof Date) return decimalOfDouble(value.getTime())
  if (typeof value === "string") return readDecimal(value)
  if (!isNumber(value)) return inconvertible(value, "decimal")
  if (isDouble(value)) return decimalOf15Digits(toDouble(value))
  return isDecimal(value) ? value : Decimal128.fromString(value.toString())
}

const toDate = (value: unknown): Date => {
  if (typeof value === "string") return dateAt(parseDateText(value, undefined))
  // MongoDB converts all numbers but an int.
  if (isNumber(value) && !isInt(value)) {
    const time = truncated(value, 64, "date")
    return dateAt(typeof time === "number" ? time : time.toNumber())
  }
  return dateAt(timeOf(value) ?? inconvertible(value, "date"))
}

const toObjectId = (value: unknown): unknown => {
  if (rankOf(value) === Rank.objectId) return value
  if (typeof value !== "string") return inconvertible(value, "objectId")
  return /^[0-9a-f]{24}$/iu.test(value) ? ObjectId.createFromHexString(value) : unreadable(value, "objectId")
}

const toAnyText = (value: unknown, format: unknown): string =>
  isBinary(value) ? textOfBinary(value, format) : toText(value)

/** How binary data is converted. */
interface BinaryForm {
  readonly format: unknown
  readonly subtype: number
}

type Conversion = (value: unknown, form: BinaryForm) => unknown

// MongoDB's name and number of each type that values can be converted to.
const conversions: ReadonlyArray<readonly [name: string, code: number, convert: Conversion]> = [
  ["double", 1, toTypedDouble],
  ["string", 2, (value, { format }) => toAnyText(value, format)],
  [
    "binData",
    5,
    (value, { format, subtype }) => toBinary(value, subtype, format) ?? inconvertible(value, "binData")
  ],
  ["objectId", 7, toObjectId],
  ["bool", 8, isTruthy],
  ["date", 9, toDate],
  ["int", 16, (value) => toInteger(value, 32, "int")],
  ["long", 18, (value) => toInteger(value, 64, "long")],
  ["decimal", 19, toDecimal]
]

const conversionTo = (type: unknown): Conversion =>
  conversions.find(([name, code]) => type === name || (isNumber(type) && toDouble(type) === code))?.[2]
    ?? reject("$convert needs the name or the number of a type that it converts to")

const $convert: OperatorParser = (operand, { parse }, name) => {
  if (isDocument(operand) && Object.hasOwn(operand, "byteOrder")) {
    return rejectWith(unsupported("$convert with a byteOrder"))
  }
  const { format, input, onError, onNull = null, to } = {
    ...namesOf(operand, name, ["input", "to"], ["format", "onError", "onNull"])
  }
  const target = isDocument(to) && Object.hasOwn(to, "type")
    ? namesOf(to, `the target of ${name}`, ["type"], ["subtype"])
    : { type: to, subtype: 0 }
  const [read, none] = [parse(input), parse(onNull)]
  const [type, subtype, readFormat] = [parse(target["type"]), parse(target["subtype"] ?? 0), parse(format)]
  const failed = isDocument(operand) && Object.hasOwn(operand, "onError") ? parse(onError) : undefined
  return (document) => {
    const value = read(document)
    if (isNothing(value)) return none(document)
    const wanted = type(document)
    if (isNothing(wanted)) return null
    const convert = conversionTo(wanted)
    const form = { format: readFormat(document), subtype: subtypeOf(name, subtype(document)) }
    if (failed === undefined) return convert(value, form)
    const converted = catchRejection(() => convert(value, form))
    if (Result.isSuccess(converted)) return converted.success
    charge(failureCost)
    return failed(document)
  }
}

const ofTimestamp = (part: (timestamp: Timestamp) => Long): OperatorParser =>
  ofValue((value, name) =>
    // The cast follows from the rank.
    rankOf(value) === Rank.timestamp ? part(value as Timestamp) : reject(`${name} needs a timestamp`)
  )

export const conversionOperators: OperatorParsers = {
  $convert,
  $toBool: ofValue(isTruthy),
  $toDate: ofValue(toDate),
  $toDecimal: ofValue(toDecimal),
  $toDouble: ofValue(toTypedDouble),
  $toInt: ofValue((value) => toInteger(value, 32, "int")),
  $toLong: ofValue((value) => toInteger(value, 64, "long")),
  $toObjectId: ofValue(toObjectId),
  $toString: ofValue((value) => toAnyText(value, "auto")),
  $toUUID: ofValue((value) => toBinary(value, Binary.SUBTYPE_UUID, "uuid") ?? inconvertible(value, "binData")),
  $tsSecond: ofTimestamp((timestamp) => longOf(timestamp.t)),
  $tsIncrement: ofTimestamp((timestamp) => longOf(timestamp.i))
}

/** A number with all its digits, as conversions write it. */
const exactText = (value: BsonNumber): string => {
  if (!isDouble(value)) return value.toString()
  const double = toDouble(value)
  if (Object.is(double, -0)) return "-0"
  return Number.isFinite(double) ? withExponent(double.toExponential(), 16, String(double)) : String(double)
}

/** A number as the operators on texts write it: a double has 6 digits. */
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

/** A double by its scientific form if its exponent is below -4 or reaches the limit, else by its plain form. */
const withExponent = (scientific: string, limit: number, plain: string): string => {
  const [digits = "", exponent = ""] = scientific.split("e")
  const power = Number(exponent)
  return power < -4 || power >= limit
    ? `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
    : plain
}
