/**
 * The expression operators that search, split and replace parts of texts: where a text or a regular expression matches.
 */
import * as Result from "effect/Result"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { checkLength } from "../limits/sizeLimits.ts"
import { compilePattern, compileRegExp, hasOptions, type Pattern } from "../text/regularExpression.ts"
import {
  isNothing,
  type Named,
  named,
  ofBoth,
  type OperatorParser,
  type OperatorParsers,
  textOperand
} from "./expression.ts"
import { chargeSearch, codePoints, perUnit } from "./textOperators.ts"

const lengthOf = (value: unknown): number => typeof value === "string" ? value.length : 0

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
  if (regex instanceof RegExp && hasOptions(regex)) {
    return Result.fail("the options of a regular expression are in it or beside it, not both")
  }
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

const searchOf = ({ input, options, regex }: Named): readonly [text: string, pattern: Pattern] | undefined => {
  if (!isNothing(input) && typeof input !== "string") return reject("a regular expression needs a text as its input")
  if (isNothing(regex)) return undefined
  // MongoDB rejects a malformed pattern for nothing, too.
  const pattern = Result.getOrElse(patternOf(regex, options), reject)
  return isNothing(input) ? undefined : [input, pattern]
}

/** The start and the end of a match or of one of its groups; -1 for a group without a match. */
type Span = readonly [start: number, end: number]

/** The spans of a match and of its groups. */
type Spans = readonly [match: Span, ...groups: ReadonlyArray<Span>]

/** The matches of a pattern that are found from `from` up to `last`. */
const spansOf = (text: string, pattern: Pattern, limit: number, last: number): ReadonlyArray<Spans> => {
  if (pattern.isLocal) charge(searchCost(text, 0, pattern))
  const matches: Array<Spans> = []
  for (let from = 0; from <= last && matches.length < limit;) {
    charge(pattern.isLocal ? matchCost : matchCost + searchCost(text, from, pattern))
    const [match, ...groups] = pattern.find(text, from) ?? []
    if (match === undefined) break
    matches.push([match, ...groups])
    const [start, end] = match
    from = end > start ? end : end + 1
  }
  return matches
}

/** Where a regular expression matches, one match after the other, and where its groups do. */
const matchesOf = (text: string, regex: RegExp, limit: number): ReadonlyArray<Spans> =>
  spansOf(text, Result.getOrElse(patternOf(regex, undefined), reject), limit, text.length)

const findAll = (limit: number, given: Named): ReadonlyArray<Match> => {
  const [text, pattern] = searchOf(given) ?? []
  if (text === undefined || pattern === undefined) return []
  let [counted, idx] = [0, 0]
  // As in MongoDB, no search begins at the end of a text, but that of an empty one.
  return spansOf(text, pattern, limit, Math.max(0, text.length - 1)).map(([[start, end], ...groups]) => {
    idx += codePoints(text, counted, start)
    counted = start
    return {
      match: text.slice(start, end),
      idx,
      captures: groups.map(([groupStart, groupEnd]) => groupStart < 0 ? null : text.slice(groupStart, groupEnd))
    }
  })
}

const matchCost = 500

const searching = (result: (given: Named) => unknown): OperatorParser => named(["input", "regex"], ["options"], result)

export const patternOperators: OperatorParsers = {
  $regexMatch: searching((given) => {
    const [text, pattern] = searchOf(given) ?? []
    if (text === undefined || pattern === undefined) return false
    charge(text.length * (2 + pattern.size / 16))
    return pattern.test(text)
  }),
  $regexFind: searching((given) => findAll(1, given)[0] ?? null),
  $regexFindAll: searching((given) => findAll(Infinity, given))
}

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

/** The parts between the matches of a pattern, each followed by what the groups of the match capture. */
const splitBy = (text: string, pattern: RegExp): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let end = 0
  for (const [[start, next], ...groups] of matchesOf(text, pattern, Infinity)) {
    charge(groups.length)
    parts.push(text.slice(end, start), ...groups.map(([from, to]) => from < 0 ? "" : text.slice(from, to)))
    end = next
  }
  return [...parts, text.slice(end)]
}

const $split = ofBoth((text, separator, name) => {
  const whole = textOperand(name, text)
  if (separator instanceof RegExp) return splitBy(whole, separator)
  const part = textOperand(name, separator)
  if (part === "") return reject("$split needs a separator that is not empty")
  occurrences(whole, part)
  return whole.split(part)
})

const replaceMatches = (text: string, pattern: RegExp, replacement: string, limit: number): string => {
  const matches = matchesOf(text, pattern, limit)
  const length = matches.reduce((sum, [[start, end]]) => sum - (end - start) + replacement.length, text.length)
  checkLength(length)
  charge(length / perUnit)
  let [replaced, at] = ["", 0]
  for (const [[start, end]] of matches) {
    replaced += text.slice(at, start) + replacement
    at = end
  }
  return replaced + text.slice(at)
}

const replaceText = (text: string, part: string, replacement: string, isAll: boolean): string => {
  const count = isAll ? occurrences(text, part) : 1
  if (!isAll) chargeSearch(text, part)
  const length = text.length + count * Math.max(0, replacement.length - part.length)
  checkLength(length)
  charge(length / perUnit)
  return isAll ? text.replaceAll(part, () => replacement) : text.replace(part, () => replacement)
}

const replacing = (isAll: boolean): OperatorParser =>
  named(["input", "find", "replacement"], [], ({ find, input, replacement }, name) => {
    const [text, other] = [input, replacement].map((value) => isNothing(value) ? null : textOperand(name, value))
    const part = isNothing(find) || find instanceof RegExp ? find : textOperand(name, find)
    if (isNothing(text) || isNothing(part) || isNothing(other)) return null
    return typeof part === "string"
      ? replaceText(text, part, other, isAll)
      : replaceMatches(text, part, other, isAll ? Infinity : 1)
  })

export const splitOperators: OperatorParsers = {
  $split,
  $replaceAll: replacing(true),
  $replaceOne: replacing(false)
}
