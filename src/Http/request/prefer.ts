/** The `Prefer` header of writes (RFC 7240), by which a client chooses between the document and a short result. */

/** The content of the response to a write. */
export type Return = "representation" | "minimal"

/** The first `return` of a `Prefer` header (RFC 7240); `undefined` without it or with an unknown value. */
export const returnOf = (prefer: string | undefined): Return | undefined => {
  const value = valueOf(prefer, "return")
  return value === "representation" || value === "minimal" ? value : undefined
}

/** Whether the first `handling` of a `Prefer` header is `lenient` (RFC 7240, section 4.4): one failure leaves the others as they are. */
export const isLenient = (prefer: string | undefined): boolean => valueOf(prefer, "handling") === "lenient"

/** The headers that confirm the preference. */
export const appliedHeaders = {
  representation: { "preference-applied": "return=representation" },
  minimal: { "preference-applied": "return=minimal" },
  lenient: { "preference-applied": "handling=lenient" }
} as const

/** The header that confirms several preferences; none without any. */
export const appliedTo = (
  preferences: ReadonlyArray<keyof typeof appliedHeaders>
): { readonly [name: string]: string } =>
  preferences.length === 0
    ? {}
    : { "preference-applied": preferences.map((name) => appliedHeaders[name]["preference-applied"]).join(", ") }

// internal

/** The first value of a preference, empty if it has none; `undefined` without the preference. */
const valueOf = (prefer: string | undefined, wanted: string): string | undefined => {
  if (prefer === undefined) return undefined
  for (const [, name = "", quoted, token = ""] of prefer.matchAll(preference)) {
    if (name.toLowerCase() === wanted) return quoted === undefined ? token : quoted.replaceAll(/\\(.)/gu, "$1")
  }
  return undefined
}

/** One list element: a name, its value as a quoted string or a token, and parameters, up to the next comma. */
const preference =
  /(?:^|,)[ \t]*([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~\w-]*)))?[ \t]*(?=[;,]|$)(?:"(?:[^"\\]|\\.)*"|[^",])*/gu
