import * as Result from "effect/Result"

/**
 * The pattern with the flag `u` where it means the same with it, for every well-formed text; else the pattern itself.
 *
 * Without the flag a pattern sees a character beyond U+FFFF as two. That makes no difference to a pattern that names what
 * it matches, nor to one that matches runs of other characters (`[^@]+`, `.*`), as long as two runs can't meet between
 * the two halves. What is not known to mean the same is taken to mean something else.
 *
 * @internal
 */
export const asUnicode = (pattern: RegExp): RegExp => {
  const { flags, source } = pattern
  return /^[dg]*y?$/u.test(flags) && isUnicodeAgnostic(source) ? new RegExp(source, `${flags}u`) : pattern
}

const isUnicodeAgnostic = (source: string): boolean => {
  // Characters that differ by themselves, and escapes that mean something else or nothing with the flag.
  if (/[\ud800-\udfff]|\\(?:[pPkc1-9]|u\{|u[dD][89a-fA-F])/.test(source) || !compiles(source)) return false
  const found = [...source.matchAll(tokens)].map(([token]) => token)
  const runs = found.flatMap((token, i) => isWide(token) ? [i] : [])
  if (runs.length === 0) return true
  // Where a part may be left out or comes again, what stands beside a run is not what stands there in the source. What
  // must not come next may be missing between two halves.
  if (
    found.some((token, i) => /^(?:\||\\B|\(\?(?:!|<[=!]))$/u.test(token) || token === ")" && isQuantifier(found[i + 1]))
  ) {
    return false
  }
  return runs.every((run, i) => {
    if (found[run + 1] !== "*" && found[run + 1] !== "+") return false
    const between = found.slice(run + 2, runs[i + 1] ?? run + 2)
    return runs[i + 1] === undefined || between.some((token, j) => isNarrow(token) && !isQuantifier(between[j + 1]))
  })
}

const compiles = (source: string): boolean => Result.isSuccess(Result.try(() => new RegExp(source, "u")))

const tokens =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|\{\d+(?:,\d*)?\}|\(\?(?:<[^=!][^>]*>|<?[=!]|:)|[^]/gu

/** Whether it matches characters that it does not name. */
const isWide = (token: string): boolean =>
  token === "." || token.startsWith("[^") || /^\\[DSW]$/u.test(token) ||
  token.startsWith("[") && /\\[DSW]/u.test(token)

/** Whether it matches exactly one character, of those that it names. */
const isNarrow = (token: string): boolean => !isWide(token) && !/^(?:[\^$()*+?]|\(\?.*|\\[bB]|\{.*)$/u.test(token)

const isQuantifier = (token: string | undefined): boolean =>
  token !== undefined && (token === "*" || token === "+" || token === "?" || /^\{\d/u.test(token))
