/** The expression operators that read, make and move dates, and convert them from and to texts. */
import * as Result from "effect/Result"
import { longOf, toDouble } from "../bson/number.ts"
import { isDocument, isNumber } from "../bson/value.ts"
import {
  addMonths,
  type DateParts,
  dayNumber,
  dayOfWeek,
  dayOfYear,
  daysToIsoWeek,
  isoDayOfWeek,
  isoWeekOf,
  localOf,
  millisecondsOf,
  modulo,
  partsOf,
  unitMillis,
  weekOfYear
} from "../dates/calendar.ts"
import { formatDateText, isoFormat, parseDateText, parseFormatted } from "../dates/dateText.ts"
import { fromLocal, toLocal, utc, type Zone, zoneOf } from "../dates/timeZone.ts"
import { charge, failureCost } from "../limits/costBudget.ts"
import { catchRejection, reject } from "../limits/queryProblem.ts"
import { dateAt } from "./arithmeticOperators.ts"
import {
  isNothing,
  missing,
  type Named,
  named,
  namesOf,
  ofValue,
  type OperatorParser,
  type OperatorParsers,
  textOperand,
  timeOf,
  wholeOf
} from "./expression.ts"

/** The time of a date's argument. */
const timeFrom = (name: string, value: unknown): number => timeOf(value) ?? reject(`${name} needs a date`)

/** The zone of an optional argument; `null`, as the result then is, if it is there without a value. */
const zoneFrom = (name: string, values: Named): Zone | null => {
  if (!Object.hasOwn(values, "timezone")) return utc
  const zone = values["timezone"]
  return isNothing(zone) ? null : zoneOf(textOperand(`the time zone of ${name}`, zone))
}

/** A part of a date: of a date alone, or of one in a time zone. */
const partOf = (read: (local: number) => unknown): OperatorParser => {
  const ofDate = ofValue((value, name) => read(timeFrom(name, value)))
  const inZone = named(["date"], ["timezone"], (values, name) => {
    const zone = zoneFrom(name, values)
    return isNothing(values["date"]) || zone === null ? null : read(toLocal(timeFrom(name, values["date"]), zone))
  })
  return (operand, parser, name) => {
    const isNamed = isDocument(operand) && !(Object.keys(operand)[0] ?? "").startsWith("$")
    return isNamed ? inZone(operand, parser, name) : ofDate(operand, parser, name)
  }
}

const $dateToParts = named(["date"], ["timezone", "iso8601"], (values, name) => {
  const zone = zoneFrom(name, values)
  const { date, iso8601 = false } = values
  if (isNothing(date) || zone === null || iso8601 === null) return null
  if (typeof iso8601 !== "boolean") return reject("iso8601 of $dateToParts needs true or false")
  const local = toLocal(timeFrom(name, date), zone)
  const { day, hour, millisecond, minute, month, second, year } = partsOf(local)
  const time = { hour, minute, second, millisecond }
  if (!iso8601) return { year, month, day, ...time }
  const iso = isoWeekOf(local)
  return { isoWeekYear: iso.year, isoWeek: iso.week, isoDayOfWeek: isoDayOfWeek(local), ...time }
})

const timeParts = ["hour", "minute", "second", "millisecond", "timezone"]
const calendarParts = ["month", "day", ...timeParts]
const isoParts = ["isoWeek", "isoDayOfWeek", ...timeParts]

const madeOf =
  (toDays: (part: (key: string, otherwise: number) => number) => Pick<DateParts, "year" | "month" | "day">) =>
  (
    values: Named,
    name: string
  ): unknown => {
    const zone = zoneFrom(name, values)
    if (zone === null || Object.values(values).some(isNothing)) return null
    const whole = (key: string, otherwise: number) => wholeOf(`${key} of ${name}`, values[key] ?? otherwise)
    const part = (key: string, otherwise: number) => {
      const value = whole(key, otherwise)
      return value >= -32_768 && value <= 32_767
        ? value
        : reject(`${key} of ${name} takes numbers from -32768 to 32767`)
    }
    return dateAt(fromLocal(
      localOf({
        ...toDays(part),
        hour: part("hour", 0),
        minute: part("minute", 0),
        // MongoDB takes any number of these two.
        second: whole("second", 0),
        millisecond: whole("millisecond", 0)
      }),
      zone
    ))
  }

const yearIn = (year: number): number =>
  year >= 1 && year <= 9999 ? year : reject("a year of $dateFromParts is from 1 to 9999")

const fromCalendar = named(
  ["year"],
  calendarParts,
  madeOf((part) => ({ year: yearIn(part("year", 1970)), month: part("month", 1), day: part("day", 1) }))
)

const fromIsoWeek = named(
  ["isoWeekYear"],
  isoParts,
  madeOf((part) => {
    const days = daysToIsoWeek(yearIn(part("isoWeekYear", 1970)), part("isoWeek", 1), part("isoDayOfWeek", 1))
    return partsOf(days * millisecondsOf.day)
  })
)

const $dateFromParts: OperatorParser = (...given) =>
  isDocument(given[0]) && Object.hasOwn(given[0], "isoWeekYear") ? fromIsoWeek(...given) : fromCalendar(...given)

const monthsIn: ReadonlyMap<string, number> = new Map([["month", 1], ["quarter", 3], ["year", 12]])

/** The name of a unit of time. */
export const unitOf = (name: string, value: unknown): string => {
  const unit = textOperand(`the unit of ${name}`, value)
  return unitMillis(unit) !== undefined || monthsIn.has(unit) ? unit : reject(`${name} has no unit "${unit}"`)
}

/** The time so many units after another one, by the clock of a zone. */
export const timeAfter = (time: number, count: number, unit: string, zone: Zone): number => {
  const months = monthsIn.get(unit)
  if (months !== undefined) return fromLocal(addMonths(toLocal(time, zone), count * months), zone)
  const passed = count * (unitMillis(unit) ?? 1)
  return unit === "day" || unit === "week" ? fromLocal(toLocal(time, zone) + passed, zone) : time + passed
}

const moved = (sign: 1 | -1): OperatorParser =>
  named(["startDate", "unit", "amount"], ["timezone"], (values, name) => {
    const zone = zoneFrom(name, values)
    const { amount, startDate, unit } = values
    if (isNothing(startDate) || isNothing(unit) || isNothing(amount) || zone === null) return null
    return dateAt(timeAfter(timeFrom(name, startDate), sign * wholeOf(name, amount), unitOf(name, unit), zone))
  })

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

/** The first day of a week, from 0, Sunday. */
const startOfWeekFrom = (name: string, values: Named): number | null => {
  if (!Object.hasOwn(values, "startOfWeek")) return 0
  if (isNothing(values["startOfWeek"])) return null
  const text = textOperand(`startOfWeek of ${name}`, values["startOfWeek"]).toLowerCase()
  const day = weekdays.findIndex((weekday) => weekday === text || weekday.slice(0, 3) === text)
  return day >= 0 ? day : reject(`${name} has no day "${text}"`)
}

/** The number of a week, counted from 1970: weeks begin on `start`. */
const weekNumber = (day: number, start: number): number => Math.floor((day + 4 - start) / 7)

/** The number of a unit's boundaries before a time. */
const boundariesBefore = (unit: string, time: number, zone: Zone, start: number): number => {
  const offset = zone.offsetAt(time)
  const local = time + offset
  const months = monthsIn.get(unit)
  if (months !== undefined) {
    const { month, year } = partsOf(local)
    return Math.floor((year * 12 + month - 1) / months)
  }
  if (unit === "week") return weekNumber(dayNumber(local), start)
  if (unit === "day") return dayNumber(local)
  const perUnit = unitMillis(unit) ?? 1
  // Within a zone hours are counted as they pass, an hour that a clock skips or repeats included.
  return Math.floor((time + modulo(offset, perUnit)) / perUnit)
}

const $dateDiff = named(["startDate", "endDate", "unit"], ["timezone", "startOfWeek"], (values, name) => {
  const zone = zoneFrom(name, values)
  const { endDate, startDate, unit } = values
  if (isNothing(startDate) || isNothing(endDate) || isNothing(unit) || zone === null) return null
  const kind = unitOf(name, unit)
  const start = kind === "week" ? startOfWeekFrom(name, values) : 0
  if (start === null) return null
  const before = (date: unknown) => boundariesBefore(kind, timeFrom(name, date), zone, start)
  return longOf(before(endDate) - before(startDate))
})

// Bins are counted from here, in the time zone.
const reference = localOf({ year: 2000, month: 1, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0 })

const binStart = (value: number, from: number, size: number): number => from + Math.floor((value - from) / size) * size

const $dateTrunc = named(["date", "unit"], ["binSize", "timezone", "startOfWeek"], (values, name) => {
  const zone = zoneFrom(name, values)
  const { date, unit } = values
  const size = Object.hasOwn(values, "binSize") ? values["binSize"] : 1
  if (isNothing(date) || isNothing(unit) || isNothing(size) || zone === null) return null
  const kind = unitOf(name, unit)
  const bin = isNumber(size) && toDouble(size) >= 1 ? wholeOf(name, size) : reject("binSize is a whole number from 1")
  const start = kind === "week" ? startOfWeekFrom(name, values) : 0
  if (start === null) return null
  const time = timeFrom(name, date)
  const local = toLocal(time, zone)
  const months = monthsIn.get(kind)
  if (months !== undefined) {
    const { month, year } = partsOf(local)
    const first = binStart(year * 12 + month - 1, 24_000, bin * months)
    const parts = { year: 0, month: first + 1, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0 }
    return dateAt(fromLocal(localOf(parts), zone))
  }
  if (kind === "day") return dateAt(fromLocal(binStart(local, reference, bin * millisecondsOf.day), zone))
  if (kind === "week") {
    // The first beginning of a week in 2000.
    const first = reference + modulo(start - dayOfWeek(reference), 7) * millisecondsOf.day
    return dateAt(fromLocal(binStart(local, first, bin * millisecondsOf.week), zone))
  }
  // Of a fixed duration, so they pass by daylight saving.
  return dateAt(binStart(time, fromLocal(reference, zone), bin * (unitMillis(kind) ?? 1)))
})

export const dateOperators: OperatorParsers = {
  $year: partOf((local) => partsOf(local).year),
  $month: partOf((local) => partsOf(local).month),
  $dayOfMonth: partOf((local) => partsOf(local).day),
  $hour: partOf((local) => partsOf(local).hour),
  $minute: partOf((local) => partsOf(local).minute),
  $second: partOf((local) => partsOf(local).second),
  $millisecond: partOf((local) => partsOf(local).millisecond),
  $dayOfYear: partOf(dayOfYear),
  $dayOfWeek: partOf((local) => dayOfWeek(local) + 1),
  $isoDayOfWeek: partOf(isoDayOfWeek),
  $week: partOf(weekOfYear),
  $isoWeek: partOf((local) => isoWeekOf(local).week),
  $isoWeekYear: partOf((local) => isoWeekOf(local).year),
  $dateToParts,
  $dateFromParts,
  $dateAdd: moved(1),
  $dateSubtract: moved(-1),
  $dateDiff,
  $dateTrunc
}

const $dateToString = named(["date"], ["format", "timezone", "onNull"], (values, name) => {
  const zone = zoneFrom(name, values)
  const { date, onNull } = values
  if (isNothing(date)) return Object.hasOwn(values, "onNull") ? onNull : null
  if (zone === null) return null
  const hasFormat = Object.hasOwn(values, "format")
  if (hasFormat && isNothing(values["format"])) return null
  const format = hasFormat ? textOperand(`the format of ${name}`, values["format"]) : isoFormat(zone)
  return formatDateText(timeFrom(name, date), zone, format)
})

const dateFrom = (values: Named, name: string): unknown => {
  const zone = zoneFrom(name, values)
  if (zone === null || (Object.hasOwn(values, "format") && isNothing(values["format"]))) return null
  const text = values["dateString"]
  if (typeof text !== "string") return reject(`${name} needs a text`)
  const given = Object.hasOwn(values, "timezone") && zone !== utc ? zone : undefined
  return dateAt(
    Object.hasOwn(values, "format")
      ? parseFormatted(text, textOperand(`the format of ${name}`, values["format"]), given)
      : parseDateText(text, given)
  )
}

const $dateFromString: OperatorParser = (operand, parser, name) => {
  const { onError, onNull, ...others } = namesOf(
    operand,
    name,
    ["dateString"],
    ["format", "timezone", "onError", "onNull"]
  )
  const hasOnError = isGiven(operand, "onError")
  const [failed, none] = [hasOnError ? parser.parse(onError) : missing, parser.parse(onNull ?? null)]
  let empty = false
  const read = named(["dateString"], ["format", "timezone"], (values) => {
    empty = isNothing(values["dateString"])
    return empty ? null : dateFrom(values, name)
  })(others, parser, name)
  return (document) => {
    empty = false
    if (!hasOnError) {
      const value = read(document)
      return empty ? none(document) : value
    }
    const value = catchRejection(() => read(document))
    if (Result.isFailure(value)) {
      charge(failureCost)
      return failed(document)
    }
    return empty ? none(document) : value.success
  }
}

const isGiven = (operand: unknown, key: string): boolean => Object.hasOwn(Object(operand), key)

export const dateTextOperators: OperatorParsers = { $dateToString, $dateFromString }
