/** Numbers as people write them, by the separators of their language. */
import { isKept } from "./isKept.ts"

const grouped: { readonly [point: string]: RegExp } = {
  ",": /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/u,
  ".": /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/u
}

/** Groups apart by what is a point in no language: the apostrophes of Switzerland, and spaces. */
const apart = /^[+-]?\d{1,3}(?:['’\s]\d{3})+(?:[.,]\d+)?$/u

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu

/** What a language writes within its numbers. */
export interface Separators {
  readonly point: string
  readonly group: string
}

export const separatorsOf = (format: Intl.NumberFormat): Separators => {
  const parts = format.formatToParts(1_234_567.5)
  const part = (name: string): string | undefined => parts.find(({ type }) => type === name)?.value
  return { point: part("decimal") ?? ".", group: part("group") ?? "" }
}

/** The number that the reader's language means; what it means in none, or what no double is, stays text. */
export const numberOf = (text: string, { group, point }: Separators): number | string | null => {
  const trimmed = text.trim()
  if (trimmed === "") return null
  const digits = ungrouped(trimmed, { group, point }).replace(point, ".")
  if (!decimal.test(digits)) return text
  const number = Number(digits)
  const isExact = /^[+-]?\d+$/u.test(digits) ? Number.isSafeInteger(number) : isKept(digits, number)
  return isExact ? number : text
}

const ungrouped = (text: string, { group, point }: Separators): string => {
  if (apart.test(text)) return text.replaceAll(/['’\s]/gu, "")
  if (grouped[point]?.test(text) !== true) return text
  if (point === ",") return text.replaceAll(".", "")
  // Who has apostrophes for groups may mean a point by the comma.
  return group === "’" || group === "'" ? text : text.replaceAll(",", "")
}
