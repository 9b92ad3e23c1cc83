/**
 * The expression operators that split texts, and replace parts of them: where a text or a regular expression matches.
 */
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { checkLength } from "../limits/sizeLimits.ts"
import { binary, isNothing, named, type OperatorParser, type OperatorParsers, textOf } from "./expression.ts"
import { matchesOf } from "./patternOperators.ts"
import { chargeSearch, perUnit } from "./textOperators.ts"

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

const $split = binary((text, separator, name) => {
  if (isNothing(text) || isNothing(separator)) return null
  const whole = textOf(name, text)
  if (separator instanceof RegExp) return splitBy(whole, separator)
  const part = textOf(name, separator)
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
    const [text, other] = [input, replacement].map((value) => isNothing(value) ? null : textOf(name, value))
    const part = isNothing(find) || find instanceof RegExp ? find : textOf(name, find)
    if (isNothing(text) || isNothing(part) || isNothing(other)) return null
    return typeof part === "string"
      ? replaceText(text, part, other, isAll)
      : replaceMatches(text, part, other, isAll ? Infinity : 1)
  })

/** @internal */
export const splitOperators: OperatorParsers = {
  $split,
  $replaceAll: replacing(true),
  $replaceOne: replacing(false)
}
