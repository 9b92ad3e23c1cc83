/** Documents as a table (RFC 4180), for services that make none. */
import { isJson, textOf } from "../description/json.ts"

/** The table with a column for each path, and a line with their names. */
export const csvOf = (
  columns: ReadonlyArray<string>,
  documents: ReadonlyArray<{ readonly [field: string]: unknown }>
): string =>
  [columns, ...documents.map((document) => columns.map((path) => valueAt(document, path.split("."))))].map((cells) =>
    cells.map(cellOf).join(",")
  ).join("\r\n")

const valueAt = (value: unknown, [name, ...rest]: ReadonlyArray<string>): unknown => {
  if (name === undefined) return value
  if (Array.isArray(value)) return value.map((one) => valueAt(one, [name, ...rest]))
  return isJson(value) && Object.hasOwn(value, name) ? valueAt(value[name], rest) : undefined
}

const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  const text = textOf(value)
  // Spreadsheets take a text that begins so for a formula; a number is none.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll("\"", "\"\"")}"` : safe
}
