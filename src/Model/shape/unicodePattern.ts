/** Adds the flag `u` to patterns where that is safe, since JSON schemas interpret patterns as Unicode. */
import * as Result from "effect/Result"

/**
 * Adds the flag `u` to a pattern if the pattern then matches the same well-formed texts; otherwise returns the pattern
 * unchanged.
 *
 * Without the flag a character beyond U+FFFF counts as two. This makes no difference to a pattern that lists the
 * characters it matches. It makes none to runs of unlisted characters (`[^@]+`, `.*`) either, unless two runs can meet
 * between the two halves. Any other pattern is assumed to differ.
 */
export const asUnicode = (pattern: RegExp): RegExp => {
  const { flags, source } = pattern
  return /^[dg]*y?$/u.test(flags) && isUnicodeAgnostic(source) ? new RegExp(source, `${flags}u`) : pattern
}

const isUnicodeAgnostic = (source: string): boolean => {
  // Rejects surrogates, and escapes that change or lose their meaning with the flag.
  if (/[\ud800-\udfff]|\\(?:[pPkc1-9]|u\{|u[dD][89a-fA-F])/.test(source) || !compiles(source)) return false
  const tokens = [...source.matchAll(tokenPattern)].map(([token]) => token)
  const runs = tokens.flatMap((token, i) => matchesUnlisted(token) ? [i] : [])
  if (runs.length === 0) return true
  // With an optional or repeated part, the neighbours of a run differ from those in the source. A negative lookahead
  // may match between two halves.
  if (
    tokens.some((token, i) =>
      /^(?:\||\\B|\(\?(?:!|<[=!]))$/u.test(token) || token === ")" && isQuantifier(tokens[i + 1])
    )
  ) {
    return false
  }
  return runs.every((run, i) => {
    if (tokens[run + 1] !== "*" && tokens[run + 1] !== "+") return false
    const between = tokens.slice(run + 2, runs[i + 1] ?? run + 2)
    return runs[i + 1] === undefined ||
      between.some((token, j) => matchesOneListed(token) && !isQuantifier(between[j + 1]))
  })
}

const compiles = (source: string): boolean => Result.isSuccess(Result.try(() => new RegExp(source, "u")))

const tokenPattern =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|\{\d+(?:,\d*)?\}|\(\?(?:<[^=!][^>]*>|<?[=!]|:)|[^]/gu

/** Whether the token matches characters that it does not list. */
const matchesUnlisted = (token: string): boolean =>
  token === "." || token.startsWith("[^") || /^\\[DSW]$/u.test(token) ||
  token.startsWith("[") && /\\[DSW]/u.test(token)

/** Whether the token matches exactly one character from a list. */
const matchesOneListed = (token: string): boolean =>
  !matchesUnlisted(token) && !/^(?:[\^$()*+?]|\(\?.*|\\[bB]|\{.*)$/u.test(token)

const isQuantifier = (token: string | undefined): boolean =>
  token !== undefined && (token === "*" || token === "+" || token === "?" || /^\{\d/u.test(token))
