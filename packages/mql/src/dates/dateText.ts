/**
 * Dates as texts: the formats of `$dateToString` and `$dateFromString`, and texts without a format, which may name their
 * months, such as `WED jan 31 12:05:28 +03:30 1996`.
 */
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import {
  type DateParts,
  dayOfWeek,
  dayOfYear,
  daysInMonth,
  daysTo,
  daysToIsoWeek,
  isoDayOfWeek,
  isoWeekOf,
  localOf,
  millisecondsOf,
  partsOf,
  weekOfYear
} from "./calendar.ts"
import { fromLocal, utc, type Zone, zoneOf } from "./timeZone.ts"

const months = [
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
 */
const wordedFields = (text: string): Fields | undefined => {
  if (text.length > maxText) return undefined
  charge(wordedCost * text.length)
  const words = text.split(/[\s,]+/u).filter((word) => word !== "")
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

interface Fields {
  readonly [name: string]: string
}

const maxText = 100

// Each word, which may have one character, is tried with each pattern.
const wordedCost = 20

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

/** A date in a format. Rejects unknown specifiers. */
export const formatDateText = (time: number, zone: Zone, format: string): string => {
  charge(format.length * 4)
  const offset = zone.offsetAt(time)
  const local = time + offset
  const parts = partsOf(local)
  return format.replace(/%(.?)/gsu, (_, specifier: string) => {
    switch (specifier) {
      case "%":
        return "%"
      case "Y":
        return yearText(parts.year)
      case "G":
        return yearText(isoWeekOf(local).year)
      case "m":
        return digits(parts.month, 2)
      case "d":
        return digits(parts.day, 2)
      case "H":
        return digits(parts.hour, 2)
      case "M":
        return digits(parts.minute, 2)
      case "S":
        return digits(parts.second, 2)
      case "L":
        return digits(parts.millisecond, 3)
      case "j":
        return digits(dayOfYear(local), 3)
      case "u":
        return String(isoDayOfWeek(local))
      case "w":
        return String(dayOfWeek(local) + 1)
      case "U":
        return digits(weekOfYear(local), 2)
      case "V":
        return digits(isoWeekOf(local).week, 2)
      case "b":
        return (months[parts.month - 1] ?? "").slice(0, 3)
      case "B":
        return months[parts.month - 1] ?? ""
      case "z":
        return offsetText(offset)
      case "Z":
        return String(Math.trunc(offset / 60_000))
      default:
        return reject(`%${specifier} is no part of a date's format`)
    }
  })
}

export const isoFormat = (zone: Zone): string => `%Y-%m-%dT%H:%M:%S.%L${zone.isUtc ? "Z" : ""}`

/**
 * The time of a text without a format: ISO 8601's calendar dates, with slashes too, and a time of day and a zone after
 * them, or a date that names its month. Rejects other texts.
 */
export const parseDateText = (text: string, zone: Zone | undefined): number => {
  charge(text.length)
  const found = isoText.exec(text)?.groups ?? wordedFields(text)
  if (found === undefined) return unreadable(text)
  const { day, fraction = "", hour = 0, minute = 0, month, second = 0, year, zone: given } = found
  return timeOfFields(
    text,
    {
      year: Number(year),
      month: Number(month),
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
      millisecond: Number(fraction.slice(0, 3).padEnd(3, "0"))
    },
    given,
    zone
  )
}

/** The time of a text in a format. Rejects a text in another one. */
export const parseFormatted = (text: string, format: string, zone: Zone | undefined): number => {
  charge(text.length + 20 * format.length)
  const found = new Map<string, string>()
  let at = 0
  for (let i = 0; i < format.length; i++) {
    const specifier = format[i] === "%" ? format[++i] ?? "" : undefined
    if (specifier === undefined || specifier === "%") {
      if (text[at] !== format[i]) return unreadable(text)
      at += 1
      continue
    }
    const pattern = readable.get(specifier)
    if (pattern === undefined) return reject(`%${specifier} is no part of the format of a date to read`)
    const [part] = pattern.exec(text.slice(at, at + maxPart)) ?? []
    if (part === undefined) return unreadable(text)
    found.set(specifier, part)
    at += part.length
  }
  return at === text.length ? timeOfParts(text, found, zone) : unreadable(text)
}

// internal

const digits = (value: number, length: number): string => String(Math.floor(value)).padStart(length, "0")

const yearText = (year: number): string =>
  year >= 0 && year <= 9999 ? digits(year, 4) : reject("a date's text needs a year from 0 to 9999")

const offsetText = (offset: number): string => {
  const minutes = Math.floor(Math.abs(offset) / 60_000)
  return `${offset < 0 ? "-" : "+"}${digits(minutes / 60, 2)}${digits(minutes % 60, 2)}`
}

const unreadable = (text: string): never => reject(`"${text.slice(0, 100)}" can't be read as a date`)

const isoText =
  /^(?<year>\d{4})[-/]?(?<month>\d{1,2})[-/]?(?<day>\d{1,2})(?:[T ]+(?<hour>\d{1,2}):?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,:](?<fraction>\d{1,9}))?)?\s*|\s+(?=[Z+-]))?(?<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?|[A-Z][A-Za-z_]+\/[A-Za-z_/+-]+)?$/u

const maxPart = 64

const readable: ReadonlyMap<string, RegExp> = new Map([
  ["Y", /^\d{4}/u],
  ["G", /^\d{4}/u],
  ["m", /^\d{1,2}/u],
  ["d", /^\d{1,2}/u],
  ["H", /^\d{1,2}/u],
  ["M", /^\d{1,2}/u],
  ["S", /^\d{1,2}/u],
  ["L", /^\d{1,3}/u],
  ["j", /^\d{3}/u],
  ["u", /^[1-7]/u],
  ["V", /^\d{2}/u],
  ["z", /^(?:Z|[+-]\d{2}(?::?\d{2})?)/u],
  ["Z", /^[+-]?\d{1,3}/u],
  ["b", new RegExp(`^(?:${months.map((month) => month.slice(0, 3)).join("|")})`, "iu")],
  ["B", new RegExp(`^(?:${months.join("|")})`, "iu")]
])

const timeOfParts = (text: string, found: ReadonlyMap<string, string>, zone: Zone | undefined): number => {
  const number = (specifier: string, otherwise: number): number => Number(found.get(specifier) ?? otherwise)
  const named = found.get("B") ?? found.get("b")
  const month = named === undefined
    ? number("m", 1)
    : months.findIndex((name) => name.slice(0, 3).toLowerCase() === named.slice(0, 3).toLowerCase()) + 1
  const time = {
    hour: number("H", 0),
    minute: number("M", 0),
    second: number("S", 0),
    millisecond: Number((found.get("L") ?? "").padEnd(3, "0"))
  }
  const minutes = found.get("Z")
  const given = minutes === undefined ? found.get("z") : offsetText(Number(minutes) * 60_000)
  if (found.has("G") || found.has("V")) {
    if (found.has("Y") || !found.has("G")) return unreadable(text)
    const day = daysToIsoWeek(number("G", 1970), number("V", 1), number("u", 1))
    return timeOfFields(text, { ...partsOf(day * millisecondsOf.day), ...time }, given, zone)
  }
  if (!found.has("Y")) return unreadable(text)
  const year = number("Y", 1970)
  if (found.has("j")) {
    const day = daysTo(year, 1, number("j", 1))
    return timeOfFields(text, { ...partsOf(day * millisecondsOf.day), ...time }, given, zone)
  }
  return timeOfFields(text, { year, month, day: number("d", 1), ...time }, given, zone)
}

const timeOfFields = (text: string, parts: DateParts, given: string | undefined, zone: Zone | undefined): number => {
  const { day, hour, minute, month, second, year } = parts
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  if (!isDate || hour > 23 || minute > 59 || second > 59) return unreadable(text)
  if (given !== undefined && zone !== undefined) {
    return reject("a date's text that has a time zone can't take a second one")
  }
  return fromLocal(localOf(parts), given === undefined ? zone ?? utc : zoneOf(given))
}
