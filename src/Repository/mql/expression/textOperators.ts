/**
 * The expression operators on strings, in place of mingo's or around them: they charge their cost before they do the
 * work.
 */
import * as Result from "effect/Result"
import { isArray } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { checkLength } from "../limits/sizeLimits.ts"
import { compilePattern, compileRegExp, type Pattern } from "../text/regularExpression.ts"
import {
  evaluate,
  isNothing,
  literal,
  mingo,
  namedOf,
  operandsOf,
  type Operator,
  type Operators
} from "./operatorContext.ts"

const textOf = (name: string, value: unknown): string =>
  typeof value === "string" ? value : reject(`${name} needs a text`)

const lengthOf = (value: unknown): number => typeof value === "string" ? value.length : 0

// The number of characters that are processed in the time of one unit.
const perUnit = 4

const $concat: Operator = (document, operand, options) => {
  if (!isArray(operand)) return reject("$concat needs an array")
  const parts = operandsOf(document, operand, options)
  if (parts.some(isNothing)) return null
  const texts = parts.map((part) => textOf("$concat", part))
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  checkLength(length)
  charge(length / perUnit)
  return texts.join("")
}

// In the worst case, V8 compares each character of the text with each of the part.
const chargeSearch = (text: unknown, part: unknown): void =>
  charge(lengthOf(text) / perUnit + lengthOf(text) * Math.min(lengthOf(text), lengthOf(part)) / 40)

/** Counts the occurrences of a part in a text, and charges for each. */
const occurrences = (text: string, part: string): number => {
  chargeSearch(text, part)
  if (part === "") {
    charge(16 * text.length)
    return Math.max(0, text.length - 1)
  }
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    charge(16)
    count += 1
  }
  return count
}

const $split: Operator = (document, operand, options) => {
  const [text, separator, ...others] = operandsOf(document, operand, options)
  if (typeof text === "string" && typeof separator === "string") occurrences(text, separator)
  return mingo.$split(document, [text, separator, ...others].map(literal), options)
}

/** Wraps `$replaceOne` and `$replaceAll`: checks and charges the length of the result first. */
const replacing =
  (original: Operator, count: (text: string, part: string) => number): Operator => (document, operand, options) => {
    const named = namedOf(document, operand, options)
    const { find, input, replacement } = named
    if (typeof input === "string" && typeof find === "string" && typeof replacement === "string") {
      const length = input.length + count(input, find) * Math.max(0, replacement.length - find.length)
      checkLength(length)
      charge(length / perUnit)
    }
    return original(document, literal(named), options)
  }

const $indexOfBytes: Operator = (document, operand, options) => {
  const operands = operandsOf(document, operand, options)
  chargeSearch(operands[0], operands[1])
  return mingo.$indexOfBytes(document, operands.map(literal), options)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** The number of code points, which MongoDB counts, between two string indexes. */
const codePoints = (text: string, from: number, to: number): number => {
  let count = to - from
  for (let at = from; at < to - 1; at++) if (isHighSurrogate(text.charCodeAt(at))) count -= 1
  return count
}

/** The string index after `count` code points. */
const indexAfter = (text: string, from: number, count: number): number => {
  let at = from
  for (let left = count; left > 0 && at < text.length; left--) at += isHighSurrogate(text.charCodeAt(at)) ? 2 : 1
  return at
}

const $strLenCP: Operator = (document, operand, options) => {
  const text = textOf("$strLenCP", operandsOf(document, operand, options)[0])
  charge(text.length / perUnit)
  return codePoints(text, 0, text.length)
}

const $strLenBytes: Operator = (document, operand, options) => {
  const text = textOf("$strLenBytes", operandsOf(document, operand, options)[0])
  charge(text.length / perUnit)
  return Buffer.byteLength(text)
}

const $substrCP: Operator = (document, operand, options) => {
  const [text, index, count] = operandsOf(document, operand, options)
  if (isNothing(text)) return ""
  const whole = textOf("$substrCP", text)
  if (!Number.isInteger(index) || !Number.isInteger(count)) return reject("$substrCP needs whole numbers")
  charge(whole.length / perUnit)
  const [skipped, wanted] = [Number(index), Number(count)]
  if (skipped < 0) return ""
  const start = indexAfter(whole, 0, skipped)
  return wanted < 0 ? whole.slice(start) : whole.slice(start, indexAfter(whole, start, wanted))
}

const $substrBytes: Operator = (document, operand, options) => {
  const operands = operandsOf(document, operand, options)
  const [text, index, count] = operands
  const end = Number(index) + Number(count)
  charge((end >= 0 ? Math.min(lengthOf(text), end) : lengthOf(text)) / 4)
  return mingo.$substrBytes(document, operands.map(literal), options)
}

// MongoDB's white space characters.
const whitespace = "\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

const trimming = (name: string, isLeft: boolean, isRight: boolean): Operator => (document, operand, options) => {
  const { chars, input } = namedOf(document, operand, options)
  if (isNothing(input)) return null
  const text = textOf(name, input)
  const unwanted = isNothing(chars) ? whitespace : textOf(name, chars)
  charge((text.length + unwanted.length) / 2)
  const units = new Set(unwanted.split(""))
  let [start, end] = [0, text.length]
  if (isLeft) { while (start < end && units.has(text.charAt(start))) start += 1 }
  if (isRight) { while (start < end && units.has(text.charAt(end - 1))) end -= 1 }
  return text.slice(start, end)
}

/** Wraps an operator whose operand may be a long string. */
const reading = (original: Operator): Operator => (document, operand, options) => {
  const value = evaluate(document, isArray(operand) && operand.length === 1 ? operand[0] : operand, options)
  if (isArray(value)) charge(value.reduce<number>((sum, part) => sum + lengthOf(part), value.length))
  else charge(lengthOf(value))
  const isList = isArray(operand) && operand.length !== 1 && isArray(value)
  return original(document, isList ? value.map(literal) : literal(value), options)
}

// The last pattern is memoised: it is usually the same for all documents.
let latest: { readonly regex: unknown; readonly options: unknown; readonly pattern: Compiled } = {
  regex: undefined,
  options: undefined,
  pattern: Result.fail("a regular expression is needed")
}

type Compiled = Result.Result<Pattern, string>

const patternOf = (regex: unknown, options: unknown): Compiled => {
  if (regex === latest.regex && options === latest.options) return latest.pattern
  charge(compileCost + 20 * lengthOf(regex))
  latest = { regex, options, pattern: compile(regex, options) }
  return latest.pattern
}

const compileCost = 1000

const compile = (regex: unknown, options: unknown): Compiled => {
  if (regex instanceof RegExp && isNothing(options)) return compileRegExp(regex)
  const pattern = regex instanceof RegExp ? regex.source : regex
  const flags = options ?? ""
  return typeof pattern === "string" && typeof flags === "string"
    ? compilePattern(pattern, flags)
    : Result.fail("a regular expression is needed")
}

interface Match {
  readonly match: string
  readonly idx: number
  readonly captures: ReadonlyArray<string | null>
}

// RE2 visits each character, and for each at most all instructions of the pattern.
const searchCost = (text: string, from: number, { size }: Pattern): number => (text.length - from) * (10 + size)

const searchOf = (...given: Parameters<Operator>): readonly [text: string, pattern: Pattern] | undefined => {
  const { input, options, regex } = namedOf(...given)
  if (isNothing(input)) return undefined
  if (typeof input !== "string") return reject("a regular expression needs a text as its input")
  const pattern = patternOf(regex, options)
  return Result.isFailure(pattern) ? reject(pattern.failure) : [input, pattern.success]
}

const findAll = (limit: number, ...given: Parameters<Operator>): ReadonlyArray<Match> => {
  const [text, pattern] = searchOf(...given) ?? []
  if (text === undefined || pattern === undefined) return []
  if (pattern.isLocal) charge(searchCost(text, 0, pattern))
  const matches: Array<Match> = []
  let [counted, idx] = [0, 0]
  for (let from = 0; from <= text.length && matches.length < limit;) {
    charge(pattern.isLocal ? matchCost : matchCost + searchCost(text, from, pattern))
    const [whole, ...groups] = pattern.find(text, from) ?? []
    if (whole === undefined) break
    const [start, end] = whole
    idx += codePoints(text, counted, start)
    counted = start
    matches.push({
      match: text.slice(start, end),
      idx,
      captures: groups.map(([groupStart, groupEnd]) => groupStart < 0 ? null : text.slice(groupStart, groupEnd))
    })
    from = end > start ? end : end + 1
  }
  return matches
}

const matchCost = 500

const $regexMatch: Operator = (...given) => {
  const [text, pattern] = searchOf(...given) ?? []
  if (text === undefined || pattern === undefined) return false
  charge(text.length * (2 + pattern.size / 16))
  return pattern.test(text)
}

/** @internal */
export const textOperators: Operators = {
  $concat,
  $split,
  $replaceAll: replacing(mingo.$replaceAll, occurrences),
  $replaceOne: replacing(mingo.$replaceOne, (text, part) => {
    chargeSearch(text, part)
    return 1
  }),
  $indexOfBytes,
  $strLenCP,
  $strLenBytes,
  $substrCP,
  $substrBytes,
  $substr: $substrBytes,
  $trim: trimming("$trim", true, true),
  $ltrim: trimming("$ltrim", true, false),
  $rtrim: trimming("$rtrim", false, true),
  $toLower: reading(mingo.$toLower),
  $toUpper: reading(mingo.$toUpper),
  $strcasecmp: reading(mingo.$strcasecmp),
  $toInt: reading(mingo.$toInt),
  $toLong: reading(mingo.$toLong),
  $toDouble: reading(mingo.$toDouble),
  $toDecimal: reading(mingo.$toDecimal),
  $toDate: reading(mingo.$toDate),
  $toString: reading(mingo.$toString),
  $regexMatch,
  $regexFind: (...given) => findAll(1, ...given)[0] ?? null,
  $regexFindAll: (...given) => findAll(Infinity, ...given)
}
