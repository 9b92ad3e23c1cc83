/** The window functions of rates and areas, of covariance, and of scaling. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { divide } from "../bson/arithmetic.ts"
import { type BsonNumber, compareNumbers, isZero, toDouble } from "../bson/number.ts"
import { isDocument, isNumber } from "../bson/value.ts"
import { unitMillis } from "../dates/calendar.ts"
import { minus, plus, times } from "../expression/arithmeticOperators.ts"
import { unitOf } from "../expression/dateOperators.ts"
import { namesOf } from "../expression/expression.ts"
import { follow } from "../expression/parseExpression.ts"
import type { Summary } from "../expression/summaryOperators.ts"
import { reject } from "../limits/queryProblem.ts"
import { summarising, type WindowParser } from "./accumulatedWindow.ts"
import { includesCurrent, parseBounds } from "./bounds.ts"
import { summarised } from "./slidingSummary.ts"
import { type WindowContext, withoutState } from "./window.ts"

/** A value and the place where it is: a number, or the milliseconds of a date. */
interface Point {
  readonly place: BsonNumber
  readonly value: BsonNumber
}

/** The operand of a function over the sorted field: how to read a point, and the milliseconds of its unit. */
const pointsOf = (operand: unknown, name: string, { parse, sort }: WindowContext): {
  readonly read: (document: unknown) => Point
  readonly unit: number | undefined
} => {
  const { input, unit } = { ...namesOf(operand, name, ["input"], ["unit"]) }
  const [direction, ...others] = sort
  if (direction === undefined || others.length > 0) return reject(`${name} needs a sortBy of exactly one field`)
  const value = parse(input)
  const milliseconds = unit === undefined
    ? undefined
    : unitMillis(unitOf(name, unit)) ?? reject(`the unit of ${name} is at most a week`)
  const read = (document: unknown): Point => {
    const [place, found] = [follow(document, direction.path), value(document)]
    if (!isNumber(found)) return reject(`${name} needs numbers`)
    if (milliseconds !== undefined) {
      return place instanceof Date
        ? { place: place.getTime(), value: found }
        : reject(`${name} with a unit needs dates to sort by`)
    }
    if (place instanceof Date) return reject(`${name} needs a unit, since it is sorted by dates`)
    return isNumber(place) ? { place, value: found } : reject(`${name} needs numbers to sort by`)
  }
  return { read, unit: milliseconds }
}

const derived: WindowParser = (operand, window, context) => {
  const { read, unit } = pointsOf(operand, "$derivative", context)
  if (window === undefined) return reject("$derivative needs a window")
  const bounds = parseBounds(window, context)
  return ({ documents }) => ({
    ...bounds(documents),
    ...withoutState((_, from, to) => {
      if (from === to) return null
      const [first, last] = [read(documents[from]), read(documents[to - 1])]
      const run = minus(last.place, first.place)
      if (isZero(run)) return null
      const rate = divide(minus(last.value, first.value), run)
      return unit === undefined ? rate : times(rate, unit)
    })
  })
}

/** The area below the line through the points, by the trapezoidal rule. */
class Area implements Summary<Area> {
  first: Point | undefined = undefined
  last: Point | undefined = undefined
  area: BsonNumber = 0

  // The values are points.
  add(value: unknown): void {
    const point = value as Point
    if (this.last !== undefined) this.area = plus(this.area, areaBetween(this.last, point))
    this.first ??= point
    this.last = point
  }

  with(later: Area): Area {
    const both = new Area()
    both.first = this.first ?? later.first
    both.last = later.last ?? this.last
    both.area = plus(this.area, later.area)
    if (this.last !== undefined && later.first !== undefined) {
      both.area = plus(both.area, areaBetween(this.last, later.first))
    }
    return both
  }
}

const areaBetween = (a: Point, b: Point): BsonNumber =>
  divide(times(plus(a.value, b.value), minus(b.place, a.place)), 2)

const integrated: WindowParser = (operand, window, context) => {
  const { read, unit } = pointsOf(operand, "$integral", context)
  return summarised(
    parseBounds(window, context),
    read,
    () => new Area(),
    ({ area, first }) => first === undefined ? null : unit === undefined ? area : divide(area, unit)
  )
}

/** The sum of the products of the differences from the means. */
class Products implements Summary<Products> {
  count = 0
  x: BsonNumber = 0
  y: BsonNumber = 0
  products: BsonNumber = 0
  /** The sum of the pairs that are not finite: any of them is what the covariance is. */
  infinite: BsonNumber = 0

  add(value: unknown): void {
    if (!Array.isArray(value) || value.length !== 2) return
    const [x, y]: ReadonlyArray<unknown> = value
    if (!isNumber(x) || !isNumber(y)) return
    if (!isFinite(x) || !isFinite(y)) {
      this.infinite = plus(this.infinite, plus(x, y))
      return
    }
    this.count += 1
    const difference = minus(x, this.x)
    this.x = plus(this.x, divide(difference, this.count))
    this.y = plus(this.y, divide(minus(y, this.y), this.count))
    this.products = plus(this.products, times(difference, minus(y, this.y)))
  }

  with(later: Products): Products {
    const both = new Products()
    both.infinite = plus(this.infinite, later.infinite)
    both.count = this.count + later.count
    if (both.count === 0) return both
    const share = later.count / both.count
    const [x, y] = [minus(later.x, this.x), minus(later.y, this.y)]
    both.x = plus(this.x, times(x, share))
    both.y = plus(this.y, times(y, share))
    both.products = plus(plus(this.products, later.products), times(times(x, y), this.count * share))
    return both
  }
}

const isFinite = (value: BsonNumber): boolean => Number.isFinite(toDouble(value))

const covariance = (result: (products: BsonNumber, count: number) => unknown): WindowParser => (operand, ...given) =>
  Array.isArray(operand) && operand.length === 2
    ? summarising(
      () => new Products(),
      ({ count, infinite, products }) => isFinite(infinite) ? result(products, count) : infinite
    )(operand, ...given)
    : reject("a covariance takes an array of two expressions")

/** The least and the greatest number. */
class Range implements Summary<Range> {
  least: BsonNumber | undefined = undefined
  most: BsonNumber | undefined = undefined

  add(value: unknown): void {
    if (!isNumber(value)) return
    if (this.least === undefined || compareNumbers(value, this.least) < 0) this.least = value
    if (this.most === undefined || compareNumbers(value, this.most) > 0) this.most = value
  }

  with(later: Range): Range {
    const both = new Range()
    for (const value of [this.least, this.most, later.least, later.most]) both.add(value)
    return both
  }
}

const scaled: WindowParser = (operand, window, context) => {
  const isNamed = isDocument(operand) && !Object.keys(operand).some((key) => key.startsWith("$"))
  const given: Document = isNamed ? namesOf(operand, "$minMaxScaler", ["input"], ["min", "max"]) : { input: operand }
  const { input, max = 1, min = 0 } = { ...given }
  const [low, high] = [context.constant(min), context.constant(max)]
  if (!isNumber(low) || !isNumber(high) || compareNumbers(low, high) >= 0) {
    return reject("$minMaxScaler needs a min below its max")
  }
  if (!includesCurrent(window, context)) return reject("the window of $minMaxScaler includes the current document")
  const value = context.parse(input)
  const read = (document: unknown): BsonNumber => {
    const number = value(document)
    return isNumber(number) ? number : reject("$minMaxScaler needs numbers")
  }
  return scaledBetween(low, high, read, parseBounds(window, context))
}

const scaledBetween = (
  low: BsonNumber,
  high: BsonNumber,
  read: (document: unknown) => BsonNumber,
  bounds: ReturnType<typeof parseBounds>
): ReturnType<WindowParser> => {
  const summary = summarised(bounds, read, () => new Range(), (range) => range)
  return (slide) => {
    const content = summary(slide)
    return {
      ...content,
      result: (index, from, to) => {
        const found = content.result(index, from, to)
        if (!(found instanceof Range) || found.least === undefined || found.most === undefined) return null
        if (compareNumbers(found.least, found.most) === 0) return low
        const part = divide(minus(read(slide.documents[index]), found.least), minus(found.most, found.least))
        return plus(times(part, minus(high, low)), low)
      }
    }
  }
}

export const rateFunctions: ReadonlyMap<string, WindowParser> = new Map<string, WindowParser>([
  ["$derivative", derived],
  ["$integral", integrated],
  [
    "$covariancePop",
    covariance((products, count) => count === 0 ? null : count === 1 ? 0 : divide(products, count))
  ],
  ["$covarianceSamp", covariance((products, count) => count < 2 ? null : divide(products, count - 1))],
  ["$minMaxScaler", scaled]
])
