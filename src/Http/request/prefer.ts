/**
 * What a write is to answer.
 *
 * @internal
 */
export type Return = "representation" | "minimal"

/**
 * The preference `return` of a `Prefer` header (RFC 7240); `undefined` without one, and when it is none that there is.
 * Of several only the first counts, and what is not understood is ignored, as the RFC has it.
 *
 * @internal
 */
export const returnOf = (prefer: string | undefined): Return | undefined => {
  if (prefer === undefined) return undefined
  for (const [, name = "", quoted, token] of prefer.matchAll(preference)) {
    if (name.toLowerCase() !== "return") continue
    const value = quoted === undefined ? token : quoted.replaceAll(/\\(.)/gu, "$1")
    return value === "representation" || value === "minimal" ? value : undefined
  }
  return undefined
}

/**
 * The headers that tell the caller that the preference was followed.
 *
 * @internal
 */
export const appliedHeaders = {
  representation: { "preference-applied": "return=representation" },
  minimal: { "preference-applied": "return=minimal" }
} as const

/** One element of the list: a name, its value as a quoted text or as a token, and parameters, all before the next comma. */
const preference =
  /(?:^|,)[ \t]*([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~\w-]*)))?[ \t]*(?=[;,]|$)(?:"(?:[^"\\]|\\.)*"|[^",])*/gu
