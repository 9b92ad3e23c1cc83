import { numberFormat } from "./formats.ts"
import { textOf } from "./text.ts"

/** A number as the reader's language writes it, with a power of ten where it would be a row of zeros. */
export const numberText = (locale: string, value: unknown, decimals = 0): string => {
  if (typeof value !== "number") return textOf(value)
  const size = Math.abs(value)
  return size >= 1e21 || (size < 1e-6 && size > 0)
    ? numberFormat(locale, { notation: "scientific", maximumFractionDigits: 20 }).format(value)
    : numberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: 20 }).format(value)
}
