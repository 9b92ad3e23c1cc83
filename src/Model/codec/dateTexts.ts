/**
 * Parses and formats ISO 8601 dates and date-times by a fixed grammar; `Date.parse` accepts other notations as well.
 */

const millisPerDay = 86_400_000

/** The result for text that is not all digits. It exceeds the range of every part of a date. */
const notANumber = 99_999

const digits = (text: string, from: number, to: number): number => {
  let number = 0
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (!isDigit(code)) return notANumber
    number = number * 10 + code - 48
  }
  return number
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

const [plus, hyphen, dot, colon] = [43, 45, 46, 58]

/** The days from 1 March -400 to 1970. The calendar repeats every 400 years: no intermediate is negative. */
const epoch = 146_097 + 719_468

/** Counts years from March, so that a leap day is the last day of its year. */
const daysSince1970 = (year: number, month: number, day: number): number => {
  const years = year + (month > 2 ? 400 : 399)
  const leapDays = (years >> 2) - ((years / 100) | 0) + ((years / 400) | 0)
  const days = ((153 * ((month + 9) % 12) + 2) / 5) | 0
  return years * 365 + leapDays + days + day - 1 - epoch
}

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const lengthOf = (year: number, month: number): number =>
  month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : lengths[month - 1]!

/** Parses the first ten characters. */
const dayToMillis = (text: string): number | undefined => {
  if (text.charCodeAt(4) !== hyphen || text.charCodeAt(7) !== hyphen) return undefined
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  if (year > 9999 || month < 1 || month > 12 || day < 1 || day > lengthOf(year, month)) return undefined
  return daysSince1970(year, month, day) * millisPerDay
}

/** Parses the characters from the index on. No characters mean UTC. */
const zoneToMinutes = (text: string, at: number): number | undefined => {
  const length = text.length - at
  if (length === 0 || length === 1 && (text[at] === "Z" || text[at] === "z")) return 0
  const sign = text.charCodeAt(at)
  if (sign !== plus && sign !== hyphen) return undefined
  if (length !== 5 && (length !== 6 || text.charCodeAt(at + 3) !== colon)) return undefined
  const hours = digits(text, at + 1, at + 3)
  const minutes = digits(text, text.length - 2, text.length)
  if (hours > 23 || minutes > 59) return undefined
  return (sign === hyphen ? -1 : 1) * (hours * 60 + minutes)
}

/** Whether a text is an ISO 8601 date or date-time; of years beyond four digits, whether it may be one. */
export const isMomentText = (text: string): boolean =>
  (parseDateTime(text) ?? parseDate(text)) !== undefined || farYear.test(text)

const farYear = /^[+-]\d{6}-/u

/**
 * Parses an ISO 8601 date-time into milliseconds since 1970: `YYYY-MM-DD`, `T` or a space, `hh:mm`, optionally `:ss`,
 * optionally a dot with 1 to 9 digits, optionally `Z` or an offset as `+hh:mm` or `+hhmm`. Without a zone it is UTC.
 * Digits past the millisecond are cut off.
 */
export const parseDateTime = (text: string): number | undefined => {
  if (text[10] !== "T" && text[10] !== " " || text.charCodeAt(13) !== colon) return undefined
  const day = dayToMillis(text)
  const hours = digits(text, 11, 13)
  const minutes = digits(text, 14, 16)
  let seconds = 0
  let millis = 0
  let at = 16
  if (text.charCodeAt(at) === colon) {
    seconds = digits(text, 17, 19)
    at = 19
    if (text.charCodeAt(at) === dot) {
      const from = ++at
      while (isDigit(text.charCodeAt(at))) at++
      const count = at - from
      if (count < 1 || count > 9) return undefined
      millis = count < 3 ? digits(text, from, at) * (count === 1 ? 100 : 10) : digits(text, from, from + 3)
    }
  }
  const offset = zoneToMinutes(text, at)
  if (day === undefined || offset === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined
  return day + ((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + millis
}

/** Parses a `YYYY-MM-DD` into milliseconds since 1970, at midnight UTC. */
export const parseDate = (text: string): number | undefined => text.length === 10 ? dayToMillis(text) : undefined

/** The first millisecond of the years with four digits; {@link latest} is the last. */
export const earliest = -62_167_219_200_000

export const latest = 253_402_300_799_999

export const hasFourDigitYear = (millis: number): boolean => millis >= earliest && millis <= latest

export const isDate = (u: unknown): u is Date => u instanceof Date && hasFourDigitYear(u.getTime())

export const toMidnight = (millis: number): number => Math.floor(millis / millisPerDay) * millisPerDay

/** Formats as `2026-01-31T09:30:00.123000`: UTC, without zone, with microseconds. */
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

/** Formats as `2026-01-31`. */
export const formatDate = (date: Date): string => formatDays(Math.floor(date.getTime() / millisPerDay))

const twoDigits = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0"))

// Consecutive dates of a page often fall on the same day.
let lastDays = Number.NaN
let lastText = ""

/** Formats days since 1970, in years of four digits. It inverts {@link daysSince1970}. */
const formatDays = (days: number): string => {
  if (days === lastDays) return lastText
  const since = days + epoch
  const day = since % 146_097
  const years = ((day - ((day / 1460) | 0) + ((day / 36_524) | 0) - ((day / 146_096) | 0)) / 365) | 0
  const dayOfYear = day - (years * 365 + (years >> 2) - ((years / 100) | 0))
  const months = ((5 * dayOfYear + 2) / 153) | 0
  const date = dayOfYear - (((153 * months + 2) / 5) | 0) + 1
  const year = ((since / 146_097) | 0) * 400 - 400 + years + (months < 10 ? 0 : 1)
  const month = months < 10 ? months + 3 : months - 9
  lastDays = days
  lastText = `${twoDigits[(year / 100) | 0]}${twoDigits[year % 100]}-${twoDigits[month]}-${twoDigits[date]}`
  return lastText
}
