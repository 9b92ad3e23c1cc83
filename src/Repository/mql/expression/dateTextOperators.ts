/**
 * The expression operators between dates and texts.
 */
import * as Result from "effect/Result"
import { formatDate, isoFormat, parseDate, parseFormatted } from "../dates/dateText.ts"
import { utc } from "../dates/timeZone.ts"
import { catchRejection, reject } from "../limits/queryProblem.ts"
import { dateAt } from "./arithmeticOperators.ts"
import { timeFrom, zoneFrom } from "./dateOperators.ts"
import {
  isNothing,
  missing,
  type Named,
  named,
  namesOf,
  type OperatorParser,
  type OperatorParsers,
  textOf
} from "./expression.ts"

const $dateToString = named(["date"], ["format", "timezone", "onNull"], (values, name) => {
  const zone = zoneFrom(name, values)
  const { date, onNull } = values
  if (isNothing(date)) return Object.hasOwn(values, "onNull") ? onNull : null
  if (zone === null) return null
  const hasFormat = Object.hasOwn(values, "format")
  if (hasFormat && isNothing(values["format"])) return null
  const format = hasFormat ? textOf(`the format of ${name}`, values["format"]) : isoFormat(zone)
  return formatDate(timeFrom(name, date), zone, format)
})

const dateFrom = (values: Named, name: string): unknown => {
  const zone = zoneFrom(name, values)
  if (zone === null || (Object.hasOwn(values, "format") && isNothing(values["format"]))) return null
  const text = values["dateString"]
  if (typeof text !== "string") return reject(`${name} needs a text`)
  const given = Object.hasOwn(values, "timezone") && zone !== utc ? zone : undefined
  return dateAt(
    Object.hasOwn(values, "format")
      ? parseFormatted(text, textOf(`the format of ${name}`, values["format"]), given)
      : parseDate(text, given)
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
    return Result.isFailure(value) ? failed(document) : empty ? none(document) : value.success
  }
}

const isGiven = (operand: unknown, key: string): boolean => Object.hasOwn(Object(operand), key)

/** @internal */
export const dateTextOperators: OperatorParsers = { $dateToString, $dateFromString }
