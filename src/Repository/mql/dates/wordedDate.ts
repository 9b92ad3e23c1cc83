/**
 * Dates as texts that name their months, such as `WED jan 31 12:05:28 +03:30 1996`.
 */

/** @internal */
export const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
]

/**
 * The fields of a text that names its month: a month, a day and a year, and perhaps a time of day, a zone and a day of the
 * week, in any order. `undefined` for other texts.
 *
 * @internal
 */
export const wordedFields = (text: string): Fields | undefined => {
  const words = text.length > maxText ? [] : text.split(/[\s,]+/u).filter((word) => word !== "")
  const fields: { [name: string]: string } = {}
  for (const word of words) {
    const groups = patterns.map((pattern) => pattern.exec(word)?.groups).find((found) => found !== undefined)
    const given = Object.entries({ ...groups }).filter(([, value]) => value !== undefined)
    if (given.length === 0 || given.some(([name]) => Object.hasOwn(fields, name))) return undefined
    for (const [name, value] of given) fields[name] = value
  }
  const { day, month, weekday: _, year, ...rest } = fields
  if (day === undefined || month === undefined || year === undefined) return undefined
  return { ...rest, day, month: String(months.findIndex((name) => startsAlike(name, month)) + 1), year }
}

// internal

interface Fields {
  readonly [name: string]: string
}

const maxText = 100

const startsAlike = (name: string, word: string): boolean =>
  name.slice(0, 3).toLowerCase() === word.slice(0, 3).toLowerCase()

const abbreviated = (name: string): string => `${name.slice(0, 3)}(?:${name.slice(3)})?`

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

const patterns = [
  new RegExp(`^(?<month>${months.map(abbreviated).join("|")})$`, "iu"),
  new RegExp(`^(?<weekday>${weekdays.map(abbreviated).join("|")})$`, "iu"),
  /^(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))?)?$/u,
  /^(?<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$/u,
  /^(?<year>\d{4})$/u,
  /^(?<day>\d{1,2})(?:st|nd|rd|th)?$/iu
]
