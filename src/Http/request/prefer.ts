/** The `Prefer` header of writes (RFC 7240), by which a client chooses between the document and a short result. */

/** The content of the response to a write. */
export type Return = "representation" | "minimal"

/** The first `return` of a `Prefer` header (RFC 7240); `undefined` without it or with an unknown value. */
export const returnOf = (prefer: string | undefined): Return | undefined => {
  if (prefer === undefined) return undefined
  for (const [, name = "", quoted, token] of prefer.matchAll(preference)) {
    if (name.toLowerCase() !== "return") continue
    const value = quoted === undefined ? token : quoted.replaceAll(/\\(.)/gu, "$1")
    return value === "representation" || value === "minimal" ? value : undefined
  }
  return undefined
}

/** The headers that confirm the preference. */
export const appliedHeaders = {
  representation: { "preference-applied": "return=representation" },
  minimal: { "preference-applied": "return=minimal" }
} as const

/** One list element: a name, its value as a quoted string or a token, and parameters, up to the next comma. */
const preference =
  /(?:^|,)[ \t]*([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~\w-]*)))?[ \t]*(?=[;,]|$)(?:"(?:[^"\\]|\\.)*"|[^",])*/gu
