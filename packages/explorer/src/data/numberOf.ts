/** Numbers as people write them, by the separators of their language. */
const grouped: { readonly [point: string]: RegExp } = {
  ",": /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/u,
  ".": /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/u
}

/** The number that the reader's language means; what it means in none, or what no double is, stays text. */
export const numberOf = (text: string, point: string): number | string | null => {
  const trimmed = text.trim()
  if (trimmed === "") return null
  const digits = grouped[point]?.test(trimmed) === true ? trimmed.replaceAll(point === "," ? "." : ",", "") : trimmed
  const number = Number(digits.replace(point, "."))
  const isExact = !/^[+-]?\d+$/u.test(digits) || Number.isSafeInteger(number)
  return Number.isFinite(number) && isExact ? number : text
}
