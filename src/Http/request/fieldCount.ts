/** Limits the fields of a query or form by a scan of its text, which is cheaper than to parse too many. */

/**
 * Whether a query, or a form in the same notation, has more than `limit` fields. They are counted before they are parsed:
 * parsing and decoding take their time for each one.
 */
export const hasMoreFields = (text: string, limit: number, from = 0): boolean => {
  let count = 0
  // Each field takes two characters with its separator, so most texts are too short to need a scan.
  for (let start = from; start >= 0 && text.length - start >= 2 * (limit - count); start = next(text, start)) {
    if (start < text.length && text[start] !== "&" && ++count > limit) return true
  }
  return false
}

// internal

/** Where the text after the next separator begins; -1 if there is none. */
const next = (text: string, start: number): number => {
  const separator = text.indexOf("&", start)
  return separator < 0 ? -1 : separator + 1
}
