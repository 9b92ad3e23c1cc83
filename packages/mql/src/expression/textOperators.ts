/** The expression operators on strings. They charge their cost before they do the work. */
import { compare } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { checkLength } from "../limits/sizeLimits.ts"
import { plainTextOf, shortText } from "./conversionOperators.ts"
import {
  binary,
  isNothing,
  named,
  type OperatorParser,
  type OperatorParsers,
  textOperand,
  unary,
  variadic,
  wholeOf
} from "./expression.ts"

/** The number of characters that are processed in the time of one unit. */
export const perUnit = 4

const $concat = variadic(0, Infinity, (parts, name) => {
  if (parts.some(isNothing)) return null
  const texts = parts.map((part) => textOperand(name, part))
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  checkLength(length)
  charge(length / perUnit)
  return texts.join("")
})

/** Charges for the search of a part in a text: in the worst case, V8 compares each character with each of the part. */
export const chargeSearch = (text: string, part: string): void =>
  charge(text.length / perUnit + text.length * Math.min(text.length, part.length) / 40)

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

// The engine knows at once that a text of Latin letters has none.
const pairs = /[\u{10000}-\u{10ffff}]/u

/** Whether each code unit of a long part of a text is a code point, so that none need be counted. */
const isOfUnits = (text: string, from: number, to: number): boolean =>
  Math.min(to, text.length) - from > 1_000 && !pairs.test(text.slice(from, to))

/** The number of code points, which MongoDB counts, between two string indexes. */
export const codePoints = (text: string, from: number, to: number): number => {
  if (isOfUnits(text, from, to)) return to - from
  let count = to - from
  for (let at = from; at < to - 1; at++) if (isHighSurrogate(text.charCodeAt(at))) count -= 1
  return count
}

/** The string index after `count` code points. */
const indexAfter = (text: string, from: number, count: number): number => {
  // With one more unit, so that no pair is cut at the end.
  if (isOfUnits(text, from, from + count + 1)) return Math.min(from + count, text.length)
  let at = from
  for (let left = count; left > 0 && at < text.length; left--) at += isHighSurrogate(text.charCodeAt(at)) ? 2 : 1
  return at
}

const placeOf = (name: string, value: unknown, otherwise: number): number => {
  const place = value === undefined ? otherwise : wholeOf(name, value)
  return place >= 0 ? place : reject(`${name} needs places from 0`)
}

/** The place of a text in another one, counted in bytes or code points. */
const indexing = (
  lengthOf: (text: string) => number,
  indexAt: (text: string, place: number) => number,
  placeAt: (text: string, index: number) => number
): OperatorParser =>
  variadic(2, 4, ([text, part, from, to], name) => {
    if (isNothing(text)) return null
    const [whole, wanted] = [textOperand(name, text), textOperand(name, part)]
    chargeSearch(whole, wanted)
    const start = placeOf(name, from, 0)
    const end = placeOf(name, to, Infinity)
    if (end < start || start > lengthOf(whole)) return -1
    const at = whole.indexOf(wanted, indexAt(whole, start))
    return at < 0 || at + wanted.length > indexAt(whole, end) ? -1 : placeAt(whole, at)
  })

const length = (lengthIn: (text: string) => number): OperatorParser =>
  unary((value, name) => {
    const text = textOperand(name, value)
    charge(text.length / perUnit)
    return lengthIn(text)
  })

const lengthInCodePoints = (text: string): number => codePoints(text, 0, text.length)

/** A text, a number or a date as a text; nothing is the empty text. */
const readable = (name: string, value: unknown): string => {
  const text = isNothing(value) ? "" : plainTextOf(value, shortText) ?? reject(`${name} needs a text`)
  charge(text.length / perUnit)
  return text
}

const $substrCP = variadic(3, 3, ([value, index, count], name) => {
  const text = readable(name, value)
  const [skipped, wanted] = [placeOf(name, index, 0), placeOf(name, count, 0)]
  const start = indexAfter(text, 0, skipped)
  return text.slice(start, indexAfter(text, start, wanted))
})

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const $substrBytes = variadic(3, 3, ([value, index, count], name) => {
  const text = readable(name, value)
  const [start, wanted] = [wholeOf(name, index), wholeOf(name, count)]
  const bytes = Buffer.from(text)
  charge(bytes.length / perUnit)
  if (start < 0 || start >= bytes.length) return ""
  const end = wanted < 0 ? bytes.length : Math.min(bytes.length, start + wanted)
  return isContinuation(bytes[start]) || isContinuation(bytes[end])
    ? reject(`${name} can't cut a character`)
    : bytes.toString("utf8", start, end)
})

// MongoDB's white space characters.
const whitespace = "\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

const trimming = (isLeft: boolean, isRight: boolean): OperatorParser =>
  named(["input"], ["chars"], (values, name) => {
    const { chars, input } = values
    if (isNothing(input) || (Object.hasOwn(values, "chars") && isNothing(chars))) return null
    const text = textOperand(name, input)
    const unwanted = chars === undefined ? whitespace : textOperand(name, chars)
    charge((text.length + unwanted.length) / 2)
    const units = new Set(unwanted)
    let [start, end] = [0, text.length]
    if (isLeft) { while (start < end && units.has(characterAt(text, start))) start += characterAt(text, start).length }
    if (isRight) { while (start < end && units.has(lastOf(text, end))) end -= lastOf(text, end).length }
    return text.slice(start, end)
  })

const characterAt = (text: string, at: number): string =>
  isHighSurrogate(text.charCodeAt(at)) ? text.slice(at, at + 2) : text.charAt(at)

const lastOf = (text: string, end: number): string =>
  end > 1 && isHighSurrogate(text.charCodeAt(end - 2)) ? text.slice(end - 2, end) : text.charAt(end - 1)

const $strcasecmp = binary((left, right, name) => {
  const [a, b] = [readable(name, left).toUpperCase(), readable(name, right).toUpperCase()]
  return Math.sign(compare(a, b))
})

export const textOperators: OperatorParsers = {
  $concat,
  $indexOfBytes: indexing(
    (text) => Buffer.byteLength(text),
    (text, place) => place === Infinity ? text.length : Buffer.from(text).subarray(0, place).toString().length,
    (text, index) => Buffer.byteLength(text.slice(0, index))
  ),
  $indexOfCP: indexing(
    lengthInCodePoints,
    (text, place) => indexAfter(text, 0, place),
    (text, index) => codePoints(text, 0, index)
  ),
  $strLenCP: length(lengthInCodePoints),
  $strLenBytes: length((text) => Buffer.byteLength(text)),
  $substrCP,
  $substrBytes,
  $substr: $substrBytes,
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true),
  $toLower: unary((value, name) => readable(name, value).toLowerCase()),
  $toUpper: unary((value, name) => readable(name, value).toUpperCase()),
  $strcasecmp
}
