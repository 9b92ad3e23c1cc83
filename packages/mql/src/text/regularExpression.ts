/** Regular expressions from users, matched by RE2 in time linear in the text: no pattern backtracks. */
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** A compiled pattern. */
export interface Pattern {
  /** The number of instructions, which bounds the work for each character. */
  readonly size: number
  /** Whether finding a match never reads the text far beyond it. */
  readonly isLocal: boolean
  readonly test: (text: string) => boolean
  /** The first match from a position on: start and end of the match and of each group, -1 for a group without a match. */
  readonly find: (text: string, from: number) => ReadonlyArray<readonly [start: number, end: number]> | undefined
}

const flagOf: { readonly [option: string]: number } = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // RE2 always matches Unicode.
  u: 0,
  // The pattern is condensed.
  x: 0
}

// MongoDB's limit.
const maxLength = 32_764

// RE2 unrolls a counted repetition such as `(abc){9}`, so the compiled size grows with the count.
const maxRepeated = 20_000

const repeatsOf = (pattern: string): number =>
  Array.from(pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    .reduce((sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)), 0)

const comment = /[^\n]*/uy
const namedClass = /\[:\^?\w+:\]/uy

// Each class of Unicode has hundreds of ranges.
const maxClasses = 100

/** What a sticky expression matches at a position. */
const matchAt = (expression: RegExp, text: string, position: number): string => {
  expression.lastIndex = position
  return expression.exec(text)?.[0] ?? ""
}

/** The pattern that the option `x` stands for: without white space and comments, which stay in classes and escaped. */
const condensed = (pattern: string): string => {
  let result = ""
  // Where the first item of a class is: a bracket does not end the class there.
  let classStart: number | undefined
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern.charAt(i)
    if (character === "\\") result += character + pattern.charAt(++i)
    else if (classStart !== undefined) {
      const item = matchAt(namedClass, pattern, i) || character
      result += item
      if (item === "]" && i > classStart) classStart = undefined
      i += item.length - 1
    } else if (character === "#") i += matchAt(comment, pattern, i).length
    else if (!/\s/u.test(character)) {
      result += character
      if (character === "[") classStart = pattern.charAt(i + 1) === "^" ? i + 2 : i + 1
    }
  }
  return result
}

/** Compiles a pattern in RE2's syntax with MongoDB's options; fails where RE2 does not support it. */
export const compilePattern = (pattern: string, options: string): Result.Result<Pattern, string> => {
  const unknown = Array.from(options).find((option) => !Object.hasOwn(flagOf, option))
  if (unknown !== undefined) return Result.fail(`the regular expression option "${unknown}" can't be used`)
  if (pattern.length > maxLength) return Result.fail(`a regular expression may have ${maxLength} characters at most`)
  if (pattern.length * repeatsOf(pattern) > maxRepeated) {
    return Result.fail("the regular expression repeats too much of itself too often")
  }
  if ((pattern.match(/\\p/giu)?.length ?? 0) > maxClasses) {
    return Result.fail(`a regular expression may name ${maxClasses} classes of Unicode at most`)
  }
  const flags = Array.from(options).reduce((sum, option) => sum | (flagOf[option] ?? 0), 0)
  const source = options.includes("x") ? condensed(pattern) : pattern
  return Result.map(
    Result.try({
      try: () => RE2JS.compile(source, flags),
      catch: (cause) => cause instanceof Error ? cause.message : "the regular expression is malformed"
    }),
    (compiled) => ({
      size: compiled.programSize(),
      isLocal: /^(?:[*+]\)*)?$/.test(pattern.slice(/[|*+?{]|$/.exec(pattern)?.index)),
      test: literalTest(source, flags) ?? ((text) => compiled.test(text)),
      find: (text, from) => {
        const matcher = compiled.matcher(text)
        return matcher.find(from)
          ? Array.from({ length: matcher.groupCount() + 1 }, (_, group) => [matcher.start(group), matcher.end(group)])
          : undefined
      }
    })
  )
}

/** The test of a pattern that is only a text to begin with or to contain; `undefined` for any other. */
const literalTest = (pattern: string, flags: number): Pattern["test"] | undefined => {
  const [, anchor, literal] = /^(\^?)([\w -]+)$/.exec(pattern) ?? []
  // The other options change what such a pattern matches.
  if (literal === undefined || (flags & ~RE2JS.DOTALL) !== 0) return undefined
  return anchor === "" ? (text) => text.includes(literal) : (text) => text.startsWith(literal)
}

/** Whether a JavaScript regular expression has options that MongoDB knows. */
export const hasOptions = ({ flags }: RegExp): boolean => /[gims]/.test(flags)

/** Compiles a JavaScript regular expression. As in `bson`, its flag `g` stands for MongoDB's `s`. */
export const compileRegExp = (expression: RegExp): Result.Result<Pattern, string> =>
  compilePattern(RE2JS.translateRegExp(expression.source), expression.flags.replace("g", "s"))

/** The literal prefix of every text that an anchored expression matches, for an index; `""` when there is none. */
export const literalPrefix = (expression: unknown, options: unknown): string => {
  const isRegExp = expression instanceof RegExp
  const flags = typeof options === "string" && options !== "" ? options : isRegExp ? expression.flags : ""
  const source = isRegExp ? expression.source : expression
  // Alternatives may begin differently, and so may matches that ignore case, spaces or line breaks.
  if (typeof source !== "string" || /[imx]/.test(flags) || source.includes("|")) return ""
  const [, literal = "", next = ""] = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*)([^]?)/u.exec(source) ?? []
  // A quantifier makes the last character optional.
  const required = /[*?{]/.test(next) ? literal.replace(/\\?[^]$/u, "") : literal
  return required.replaceAll(/\\([^])/gu, "$1")
}
