/**
 * The proleptic Gregorian calendar. A local time is the milliseconds that a clock of a time zone shows, counted from 1970
 * as if the zone had no offset.
 */

export interface DateParts {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

export const millisecondsOf = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000
} as const

const durations: ReadonlyMap<unknown, number> = new Map(Object.entries(millisecondsOf))

/** The milliseconds of a unit of time; `undefined` if it has not always as many, or is none. */
export const unitMillis = (unit: unknown): number | undefined => durations.get(unit)

const floorDiv = (value: number, divisor: number): number => Math.floor(value / divisor)

/** The remainder that is not negative. */
export const modulo = (value: number, divisor: number): number => value - divisor * Math.floor(value / divisor)

/** The days from 1970-01-01 to a day. The month and the day may be out of range: they then count on. */
export const daysTo = (year: number, month: number, day: number): number => {
  // Years begin in March here, so that the leap day is a year's last.
  const months = year * 12 + (month - 1) - 2
  const y = floorDiv(months, 12)
  const era = floorDiv(y, 400)
  const yearOfEra = y - era * 400
  const dayOfYear = floorDiv(153 * modulo(months, 12) + 2, 5)
  return era * 146_097 + yearOfEra * 365 + floorDiv(yearOfEra, 4) - floorDiv(yearOfEra, 100) + dayOfYear - 719_468
    + day - 1
}

/** The year, the month and the day that a number of days after 1970-01-01 is. */
const dayOf = (days: number): readonly [year: number, month: number, day: number] => {
  const z = days + 719_468
  const era = floorDiv(z, 146_097)
  const dayOfEra = z - era * 146_097
  const yearOfEra = floorDiv(
    dayOfEra - floorDiv(dayOfEra, 1460) + floorDiv(dayOfEra, 36_524) - floorDiv(dayOfEra, 146_096),
    365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + floorDiv(yearOfEra, 4) - floorDiv(yearOfEra, 100))
  const monthFromMarch = floorDiv(5 * dayOfYear + 2, 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return [
    yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfYear - floorDiv(153 * monthFromMarch + 2, 5) + 1
  ]
}

export const partsOf = (local: number): DateParts => {
  const [year, month, day] = dayOf(dayNumber(local))
  return {
    year,
    month,
    day,
    hour: floorDiv(modulo(local, millisecondsOf.day), millisecondsOf.hour),
    minute: floorDiv(modulo(local, millisecondsOf.hour), millisecondsOf.minute),
    second: floorDiv(modulo(local, millisecondsOf.minute), millisecondsOf.second),
    millisecond: modulo(local, millisecondsOf.second)
  }
}

/** The local time of parts, which may be out of range: they then count on. */
export const localOf = ({ day, hour, millisecond, minute, month, second, year }: DateParts): number =>
  daysTo(year, month, day) * millisecondsOf.day + hour * millisecondsOf.hour + minute * millisecondsOf.minute
  + second * millisecondsOf.second + millisecond

/** The days from 1970-01-01 to a local time. */
export const dayNumber = (local: number): number => floorDiv(local, millisecondsOf.day)

export const daysInMonth = (year: number, month: number): number => daysTo(year, month + 1, 1) - daysTo(year, month, 1)

/** From 1. */
export const dayOfYear = (local: number): number => dayNumber(local) - daysTo(partsOf(local).year, 1, 1) + 1

/** From 0, Sunday. 1970-01-01 was a Thursday. */
export const dayOfWeek = (local: number): number => modulo(dayNumber(local) + 4, 7)

/** From 1, Monday, to 7. */
export const isoDayOfWeek = (local: number): number => modulo(dayNumber(local) + 3, 7) + 1

/** The week of a year whose weeks begin on Sundays, from 0. */
export const weekOfYear = (local: number): number => floorDiv(dayOfYear(local) + 6 - dayOfWeek(local), 7)

/** The week of ISO 8601 and its year: a week belongs to the year of its Thursday. */
export const isoWeekOf = (local: number): { readonly year: number; readonly week: number } => {
  const thursday = dayNumber(local) + 4 - isoDayOfWeek(local)
  const year = partsOf(thursday * millisecondsOf.day).year
  return { year, week: floorDiv(thursday - daysTo(year, 1, 1), 7) + 1 }
}

export const daysToIsoWeek = (year: number, week: number, isoDay: number): number => {
  const fourth = daysTo(year, 1, 4)
  // The fourth of January is in week 1.
  return fourth - (modulo(fourth + 3, 7) + 1) + (week - 1) * 7 + isoDay
}

/** The local time some months later, on the last day of the month if that has fewer days. */
export const addMonths = (local: number, months: number): number => {
  const { day, month, year } = partsOf(local)
  const first = daysTo(year, month + months, 1)
  const length = daysTo(year, month + months + 1, 1) - first
  return (first + Math.min(day, length) - 1) * millisecondsOf.day + modulo(local, millisecondsOf.day)
}
