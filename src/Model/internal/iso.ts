import * as DateTime from "effect/DateTime"

const millisPerDay = 86_400_000

const dateTimePattern = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})?$/u
const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/u

/** Years before 100 mean others to `Date.UTC`, but the calendar repeats itself after 400. */
const startOfMonth = (year: number, month: number): number => Date.UTC(year + 400, month) - 146_097 * millisPerDay

const dayToMillis = (text: string): number | undefined => {
  const match = datePattern.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]) - 1, Number(match[3])]
  const start = startOfMonth(year, month)
  const days = (startOfMonth(year, month + 1) - start) / millisPerDay
  return month < 0 || month > 11 || day < 1 || day > days ? undefined : start + (day - 1) * millisPerDay
}

const zoneToMinutes = (zone: string): number | undefined => {
  if (zone === "Z" || zone === "z") return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes)
}

/**
 * Milliseconds since 1970 of an ISO 8601 date-time; without a zone it is UTC; digits past the millisecond are cut off.
 *
 * @internal
 */
export const parseDateTime = (text: string): number | undefined => {
  const match = dateTimePattern.exec(text)
  if (match === null) return undefined
  const day = dayToMillis(match[1]!)
  const hours = Number(match[2])
  const minutes = Number(match[3])
  const seconds = Number(match[4] ?? 0)
  const offset = zoneToMinutes(match[6] ?? "Z")
  if (day === undefined || offset === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const fraction = match[5] === undefined ? 0 : Number(match[5].slice(0, 3).padEnd(3, "0"))
  return day + ((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + fraction
}

/**
 * Milliseconds since 1970 of midnight UTC of a `YYYY-MM-DD`.
 *
 * @internal
 */
export const parseDate = (text: string): number | undefined => dayToMillis(text)

/**
 * The first millisecond of the years that are written with four digits; {@link latest} is the last.
 *
 * @internal
 */
export const earliest = -62_167_219_200_000

/** @internal */
export const latest = 253_402_300_799_999

/** @internal */
export const hasFourDigitYear = (millis: number): boolean => millis >= earliest && millis <= latest

/** @internal */
export const isDate = (u: unknown): u is Date => u instanceof Date && hasFourDigitYear(u.getTime())

/** @internal */
export const toMidnight = (millis: number): number => Math.floor(millis / millisPerDay) * millisPerDay

/**
 * `2026-01-31T09:30:00.123000`: UTC, without zone, with microseconds.
 *
 * @internal
 */
export const formatDateTime = (date: Date): string => {
  const time = date.getTime()
  const days = Math.floor(time / millisPerDay)
  const millis = time - days * millisPerDay
  const seconds = (millis / 1000) | 0
  const hours = twoDigits[(seconds / 3600) | 0]
  const minutes = twoDigits[((seconds / 60) | 0) % 60]
  const fraction = String(millis - seconds * 1000).padStart(3, "0")
  return `${formatDays(days)}T${hours}:${minutes}:${twoDigits[seconds % 60]}.${fraction}000`
}

/**
 * `2026-01-31`.
 *
 * @internal
 */
export const formatDate = (date: Date): string => formatDays(Math.floor(date.getTime() / millisPerDay))

const twoDigits = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0"))

// A page has many dates, most of them of a few days; writing the day is three times as slow as all the rest of one.
let lastDays = Number.NaN
let lastText = ""

const formatDays = (days: number): string => {
  if (days !== lastDays) {
    lastText = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(days * millisPerDay))
    lastDays = days
  }
  return lastText
}
