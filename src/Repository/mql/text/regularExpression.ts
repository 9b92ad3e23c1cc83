/**
 * Regular expressions from outside, matched in time that grows with the text and never with the pattern's ambiguity.
 */
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/**
 * A compiled pattern.
 *
 * @internal
 */
export interface Pattern {
  /** How many parts it has, which may all have to be looked at for each character. */
  readonly size: number
  /** Whether what comes behind a match has nothing to do with it. */
  readonly isLocal: boolean
  readonly test: (text: string) => boolean
  /** Where it matches first, from a place on: start and end of the match and of each group, -1 for what is not there. */
  readonly find: (text: string, from: number) => ReadonlyArray<readonly [start: number, end: number]> | undefined
}

const flagOf: { readonly [option: string]: number } = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Text is always Unicode.
  u: 0
}

// MongoDB's limit.
const maxLength = 32_764

// What is counted out is so many times as long, and takes so many times as long to match: `(abc){9}`.
const maxRepeated = 20_000

const repeatsOf = (pattern: string): number =>
  Array.from(pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    .reduce((sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)), 0)

/**
 * Compiles a pattern in RE2's syntax with MongoDB's options; fails with what RE2 can't do.
 *
 * @internal
 */
export const compilePattern = (pattern: string, options: string): Result.Result<Pattern, string> => {
  const unknown = Array.from(options).find((option) => !Object.hasOwn(flagOf, option))
  if (unknown !== undefined) return Result.fail(`the regular expression option "${unknown}" can't be used`)
  if (pattern.length > maxLength) return Result.fail(`a regular expression may have ${maxLength} characters at most`)
  if (pattern.length * repeatsOf(pattern) > maxRepeated) {
    return Result.fail("the regular expression repeats too much of itself too often")
  }
  const flags = Array.from(options).reduce((sum, option) => sum | (flagOf[option] ?? 0), 0)
  return Result.map(
    Result.try({
      try: () => RE2JS.compile(pattern, flags),
      catch: (cause) => cause instanceof Error ? cause.message : "the regular expression is malformed"
    }),
    (compiled) => ({
      size: compiled.programSize(),
      isLocal: /^[^|*+?{]*[*+]?\)*$/.test(pattern),
      test: (text) => compiled.test(text),
      find: (text, from) => {
        const matcher = compiled.matcher(text)
        return matcher.find(from)
          ? Array.from({ length: matcher.groupCount() + 1 }, (_, group) => [matcher.start(group), matcher.end(group)])
          : undefined
      }
    })
  )
}

/**
 * Compiles a JavaScript expression. As in BSON, its flag `g` stands for MongoDB's `s`.
 *
 * @internal
 */
export const compileRegExp = (expression: RegExp): Result.Result<Pattern, string> =>
  compilePattern(RE2JS.translateRegExp(expression.source), expression.flags.replace("g", "s"))

/**
 * What every text begins with that an expression matches, as far as it says so plainly; `""` when it doesn't.
 *
 * @internal
 */
export const beginningOf = (expression: unknown, options: unknown): string => {
  const isRegExp = expression instanceof RegExp
  const flags = typeof options === "string" && options !== "" ? options : isRegExp ? expression.flags : ""
  const source = isRegExp ? expression.source : expression
  // Of alternatives, each may begin otherwise; and so does what has other letters, or other beginnings.
  if (typeof source !== "string" || /[imx]/.test(flags) || source.includes("|")) return ""
  const [, plain = "", next = ""] = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*)([^]?)/u.exec(source) ?? []
  // The last character may be missing.
  const sure = /[*?{]/.test(next) ? plain.replace(/\\?[^]$/u, "") : plain
  return sure.replaceAll(/\\([^])/gu, "$1")
}
