/** Limits the nesting of JSON, since recursive functions exceed the stack on a value that is nested too deeply. */

/**
 * Whether JSON text in UTF-8 nests arrays and objects deeper than `limit`. The result has no meaning for text that is
 * not JSON.
 */
export const isDeeper = (json: Uint8Array, limit: number): boolean => {
  // Each level takes two brackets, so most bodies are too short to need a scan.
  if (json.length <= 2 * limit) return false
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case quotationMark:
        i = endOfString(json, i)
        break
      case leftBracket:
      case leftBrace:
        if (++depth > limit) return true
        break
      case rightBracket:
      case rightBrace:
        depth--
    }
  }
  return false
}

/** Whether a JSON value has arrays and objects nested more than `limit` deep. */
export const isDeeperValue = (value: unknown, limit: number): boolean =>
  typeof value === "object" && value !== null &&
  (limit === 0 || Object.values(value).some((part) => isDeeperValue(part, limit - 1)))

const quotationMark = 0x22
const backslash = 0x5c
const leftBracket = 0x5b
const rightBracket = 0x5d
const leftBrace = 0x7b
const rightBrace = 0x7d

const endOfString = (json: Uint8Array, start: number): number => {
  let i = start + 1
  while (i < json.length && json[i] !== quotationMark) i += json[i] === backslash ? 2 : 1
  return i
}
