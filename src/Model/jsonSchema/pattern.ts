/**
 * Translates a JavaScript pattern with the flag `u` into MongoDB's PCRE; `undefined` if PCRE can't express it.
 *
 * @internal
 */
export const toPcre = (source: string): string | undefined => translateTokens(source, tokens, translateOutside)

const translateTokens = (
  source: string,
  tokens: RegExp,
  translate: (token: string) => string | undefined
): string | undefined => {
  let output = ""
  for (const [token] of source.matchAll(tokens)) {
    const text = translate(token)
    if (text === undefined) return undefined
    output += text
  }
  return output
}

const escapes = String.raw`\\u\{[\da-f]+\}|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|\\u[\da-f]{4}|\\x[\da-f]{2}` +
  String.raw`|\\p\{[^}]+\}|\\[\s\S]`

const memberTokens = new RegExp(String.raw`${escapes}|[\s\S]`, "giu")

const tokens = new RegExp(
  String.raw`${escapes}|\[(?:\\[\s\S]|[^\\\]])*\]|\(\?(?:<[=!]|<[^>]+>|[\s\S])|[\s\S]`,
  "giu"
)

const translateOutside = (token: string): string | undefined => {
  switch (token) {
    // In JavaScript `$` matches only at the very end.
    case "$":
      return "$(?!\\n)"
    // In JavaScript the dot excludes four line terminators, in PCRE only one.
    case ".":
      return "[^\\n\\r\u2028\u2029]"
    case "\\s":
      return `[${spaces}]`
    case "\\S":
      return `[^${spaces}]`
    case "\\b":
    case "\\B":
    case "(?:":
    case "(?=":
    case "(?!":
      return token
    // PCRE reads the closing bracket of an empty class as its first member.
    case "[]":
    case "[^]":
      return undefined
  }
  // Group names can go, since named references are not translated.
  if (token.startsWith("(?")) return token.endsWith(">") ? "(" : undefined
  return token.startsWith("[") ? translatedClass(token) : escape(token)
}

const translatedClass = (token: string): string | undefined => {
  const output = translateTokens(token.slice(1, -1), memberTokens, translateMember)
  return output === undefined ? undefined : `[${output}]`
}

const translateMember = (token: string): string | undefined => {
  switch (token) {
    // In PCRE it may start the name of a character class.
    case "[":
      return "\\["
    case "\\s":
      return spaces
    case "\\b":
      return "\\x08"
    default:
      return escape(token)
  }
}

const escape = (token: string): string | undefined => {
  const [backslash, kind] = token
  if (backslash !== "\\") return token
  switch (kind) {
    case "u":
    case "x":
      return literal(token.slice(2))
    case "p":
    case "P":
      return property(token)
    case "v":
      return "\\x0b"
    case "0":
      return "\\x00"
    default:
      return /^\\[dDwWnrtf^$\\.*+?()[\]{}|/-]$/u.test(token) ? token : undefined
  }
}

/** The character of the hex digits in `\xHH`, `\uHHHH`, `\u{H}`, or `\uHHHH\uHHHH`. */
const literal = (digits: string): string | undefined => {
  const units = digits.replaceAll(/[{}]/gu, "").split(/\\u/iu).map((unit) => Number.parseInt(unit, 16))
  const character = units.length === 2 ? String.fromCharCode(...units) : String.fromCodePoint(units[0]!)
  if (!character.isWellFormed()) return undefined
  if (units[0]! < 0x20 || units[0] === 0x7f) return `\\x${units[0]!.toString(16).padStart(2, "0")}`
  return /[\^$\\.*+?()[\]{}|/-]/u.test(character) ? `\\${character}` : character
}

/** Both languages use the same short names of general categories and the same long names of scripts. */
const property = (token: string): string | undefined => {
  const [, kind, name] = /^\\([pP])\{(?:Script=|sc=)([A-Z][a-z]{4,})\}$/u.exec(token) ?? []
  if (name !== undefined) return `\\${kind}{${name}}`
  return /^\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?|C[cfnos]?)\}$/u.test(token)
    ? token
    : undefined
}

const spaces = "\\x09-\\x0d\\x20\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
