/**
 * The window functions that exist in windows only and follow the order of the documents: ranks, shifts, and values that are
 * filled in.
 */
import * as Result from "effect/Result"
import { decimalOfDouble, divide } from "../bson/arithmetic.ts"
import { type BsonNumber, compareNumbers, doubleOf, isDecimal, toDouble } from "../bson/number.ts"
import { compareKeys, type KeyValues, sortKeyOf } from "../bson/path.ts"
import { equals, isDocument, isNumber } from "../bson/value.ts"
import { minus, plus, times } from "../expression/arithmeticOperators.ts"
import { isNothing, namesOf, timeOf, wholeOf } from "../expression/expression.ts"
import { follow } from "../expression/parseExpression.ts"
import { reject } from "../limits/queryProblem.ts"
import type { WindowParser } from "./accumulatedWindow.ts"
import { following } from "./window.ts"

const withoutWindow = (name: string, window: unknown): void => {
  if (window !== undefined) reject(`${name} has no window`)
}

interface RankBefore {
  readonly rank: number
  readonly isTie: boolean
}

const ranked = (
  name: string,
  next: (before: RankBefore, places: number) => number
): WindowParser =>
(operand, window, { sort }) => {
  withoutWindow(name, window)
  if (!isDocument(operand) || Object.keys(operand).length > 0) return reject(`${name} takes an empty document`)
  if (sort.length !== 1) return reject(`${name} needs a sortBy of exactly one field`)
  return () => {
    let rank = 0
    let last: KeyValues | undefined
    return following((document, at) => {
      const key = Result.getOrElse(sortKeyOf(document, sort), reject)
      rank = next({ rank, isTie: last !== undefined && compareKeys(last, key, sort) === 0 }, at + 1)
      last = key
    }, () => rank)
  }
}

const shifted: WindowParser = (operand, window, { constant, parse, sort }) => {
  withoutWindow("$shift", window)
  const { by, default: otherwise = null, output } = { ...namesOf(operand, "$shift", ["output", "by"], ["default"]) }
  if (sort.length === 0) return reject("$shift needs a sortBy")
  const [read, places, fallback] = [parse(output), wholeOf("by of $shift", constant(by)), constant(otherwise)]
  return ({ documents }) =>
    following(() => {}, (index) => {
      const document = documents[index + places]
      return document === undefined ? fallback : read(document)
    })
}

const carried: WindowParser = (operand, window, { parse }) => {
  withoutWindow("$locf", window)
  const read = parse(operand)
  return () => {
    let last: unknown = null
    return following((document) => {
      const value = read(document)
      if (!isNothing(value)) last = value
    }, () => last)
  }
}

/** A place in the order, a number or the milliseconds of a date, and the value there. */
interface Point {
  readonly place: BsonNumber
  readonly isDate: boolean
  readonly value: BsonNumber | null
}

const interpolated: WindowParser = (operand, window, { parse, sort }) => {
  withoutWindow("$linearFill", window)
  const read = parse(operand)
  const [direction, ...others] = sort
  if (direction === undefined || others.length > 0) return reject("$linearFill needs a sortBy of exactly one field")
  const pointOf = (document: unknown): Point => {
    const value = read(document) ?? null
    if (value !== null && !isNumber(value)) return reject("$linearFill needs numbers to fill between")
    const place = follow(document, direction.path)
    const time = timeOf(place)
    if (time !== undefined) return { place: time, isDate: true, value }
    return isNumber(place)
      ? { place, isDate: false, value }
      : reject("$linearFill needs numbers or dates to sort by")
  }
  return ({ weigh }) => {
    const points: Array<Point> = []
    // The last document before or at the current one that has a value, and the next one that has.
    let before = -1
    let after = -1
    return {
      // The window reaches to the next document that has a value.
      enters: (_, index) => after < index,
      leaves: () => false,
      push: (document, at) => {
        const point = pointOf(document)
        const previous = points.at(-1)
        if (previous !== undefined) {
          if (equals(previous.place, point.place)) reject("$linearFill needs a sortBy without equal values")
          if (previous.isDate !== point.isDate) reject("$linearFill needs a sortBy of numbers or of dates, not of both")
        }
        weigh(pointSize)
        points.push(point)
        if (point.value === null) return
        before = after
        after = at
      },
      shift: () => true,
      result: (index) => {
        const { place, value } = points[index]!
        if (value !== null) return value
        const [start, end] = [points[before], points[after]]
        return after > index && start?.value !== undefined && end?.value !== undefined
          ? between({ ...start, value: start.value ?? 0 }, { ...end, value: end.value ?? 0 }, place)
          : null
      }
    }
  }
}

const pointSize = 96

interface Known {
  readonly place: BsonNumber
  readonly value: BsonNumber
}

const between = (start: Known, end: Known, place: BsonNumber): BsonNumber => {
  const slope = divide(minus(end.value, start.value), minus(end.place, start.place))
  return plus(start.value, times(minus(place, start.place), slope))
}

const smoothed: WindowParser = (operand, window, { constant, parse, sort }) => {
  withoutWindow("$expMovingAvg", window)
  const { N, alpha, input } = { ...namesOf(operand, "$expMovingAvg", ["input"], ["N", "alpha"]) }
  if ((N === undefined) === (alpha === undefined)) return reject("$expMovingAvg needs either N or alpha")
  if (sort.length === 0) return reject("$expMovingAvg needs a sortBy")
  const read = parse(input)
  const weight = N === undefined ? weightOf(constant(alpha)) : weightOfLast(constant(N))
  const others = minus(decimal(1), weight)
  return () => {
    let average: BsonNumber | null = null
    let isExact = false
    return following((document) => {
      const value = read(document)
      if (!isNumber(value)) return
      isExact ||= isDecimal(value)
      const exact = decimal(value)
      average = average === null ? exact : plus(times(exact, weight), times(average, others))
    }, () => average === null || isExact ? average : doubleOf(toDouble(average)))
  }
}

// MongoDB computes with decimals whatever the values are.
const decimal = (value: BsonNumber): BsonNumber =>
  typeof value === "number" ? decimalOfDouble(value) : plus(value, decimalOfDouble(0))

const weightOfLast = (count: unknown): BsonNumber => {
  const documents = wholeOf("N of $expMovingAvg", count)
  return documents > 0 ? divide(decimal(2), documents + 1) : reject("N of $expMovingAvg is from 1")
}

const weightOf = (alpha: unknown): BsonNumber =>
  isNumber(alpha) && compareNumbers(alpha, 0) > 0 && compareNumbers(alpha, 1) < 0
    ? decimal(alpha)
    : reject("alpha of $expMovingAvg is between 0 and 1")

export const orderFunctions: ReadonlyMap<string, WindowParser> = new Map<string, WindowParser>([
  ["$rank", ranked("$rank", (before, places) => before.isTie ? before.rank : places)],
  ["$denseRank", ranked("$denseRank", ({ isTie, rank }) => isTie ? rank : rank + 1)],
  ["$documentNumber", ranked("$documentNumber", (_, places) => places)],
  ["$shift", shifted],
  ["$locf", carried],
  ["$linearFill", interpolated],
  ["$expMovingAvg", smoothed]
])
