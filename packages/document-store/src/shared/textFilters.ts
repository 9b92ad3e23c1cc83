/** Searches for texts in the words of a store: regular expressions, and intervals that an index serves. */
import type { Document } from "../DocumentStore.ts"

/** The regular expression that finds a text. */
export const literalPattern = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll("\0", "\\x00")

/** The regular expression with characters in the place of escapes like `\u00e9`, which stores do not have. */
export const withoutUnicodeEscapes = (source: string): string =>
  source.replace(/\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|[^])/giu, (escape, point?: string, unit?: string) => {
    const code = Number.parseInt(point ?? unit ?? "", 16)
    return Number.isNaN(code) ? escape : literalPattern(String.fromCodePoint(code))
  })

/** The texts with a prefix as an interval, which an index serves. */
export const prefixInterval = (prefix: string): Document => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  // The code points from U+D800 to U+DFFF are surrogates, not characters, so U+E000 follows U+D7FF.
  return last === undefined
    ? { $gte: prefix }
    : { $gte: prefix, $lt: String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) }
}

// internal

const lastCodePoint = 0x10ffff
