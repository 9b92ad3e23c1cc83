/** The bounds of windows: counted in documents, or a range of the values that the partition is sorted by. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { decimalOfDouble } from "../bson/arithmetic.ts"
import { type BsonNumber, toDouble } from "../bson/number.ts"
import { compare, isArray, isDocument, isNumber } from "../bson/value.ts"
import { utc } from "../dates/timeZone.ts"
import { dateAt, plus } from "../expression/arithmeticOperators.ts"
import { timeAfter, unitOf } from "../expression/dateOperators.ts"
import { wholeOf } from "../expression/expression.ts"
import { follow } from "../expression/parseExpression.ts"
import { reject } from "../limits/queryProblem.ts"
import type { Bounds, Window, WindowContext } from "./window.ts"

/** The bounds of a window that has no end. */
const unbounded: Bounds = () => ({ enters: () => true, leaves: () => false })

/** Parses a `window`; one that is not given has no end. May throw. */
export const parseBounds = (window: unknown, context: WindowContext): Bounds => {
  if (window === undefined) return unbounded
  if (!isDocument(window)) return reject("a window must be a document")
  const { documents, range, unit, ...others } = { ...window }
  if (Object.keys(others).length > 0) return reject("a window has documents, or a range with a unit")
  if (documents !== undefined) {
    return range === undefined && unit === undefined
      ? documentBounds(boundsIn(documents), context)
      : reject("a window has documents or a range, not both")
  }
  if (range !== undefined) return rangeBounds(boundsIn(range), unit, context)
  return unit === undefined ? unbounded : reject("a window has a unit with a range only")
}

/** Whether a window holds the current document for sure. */
export const includesCurrent = (window: unknown, { constant }: WindowContext): boolean => {
  const { documents, range } = isDocument(window) ? { ...window } : {}
  const given = documents ?? range
  if (given === undefined) return true
  const [lower, upper] = boundsIn(given)
  const isAt = (bound: unknown, sign: 1 | -1) => typeof bound === "string" || compare(constant(bound), 0) * sign >= 0
  return isAt(lower, -1) && isAt(upper, 1)
}

/** Whether documents leave a window: it begins with a document or a value, and not with the partition. */
export const isLeft = (window: unknown): boolean => {
  const { documents, range } = isDocument(window) ? { ...window } : {}
  const given = documents ?? range
  return given !== undefined && boundsIn(given)[0] !== "unbounded"
}

// internal

const boundsIn = (bounds: unknown): readonly [lower: unknown, upper: unknown] =>
  isArray(bounds) && bounds.length === 2
    ? [bounds[0], bounds[1]]
    : reject("the bounds of a window are an array of two")

/** A bound by its name, or its number. */
const boundOf = <A>(
  bound: unknown,
  { constant }: WindowContext,
  numberOf: (value: unknown) => A
): "unbounded" | "current" | A =>
  bound === "unbounded" || bound === "current"
    ? bound
    : typeof bound === "string"
    ? reject("a bound of a window is unbounded, current, or a number")
    : numberOf(constant(bound))

const checkOrder = (lower: unknown, upper: unknown): void => {
  const [a, b] = [lower, upper].map((bound) => bound === "current" ? 0 : bound)
  if (isNumber(a) && isNumber(b) && compare(a, b) > 0) reject("the lower bound of a window is above the upper one")
}

const documentBounds = (given: readonly [unknown, unknown], context: WindowContext): Bounds => {
  const [lower, upper] = [
    boundOf(given[0], context, (value) => wholeOf("a window", value)),
    boundOf(given[1], context, (value) => wholeOf("a window", value))
  ]
  checkOrder(lower, upper)
  if (lower === "unbounded" && upper === "unbounded") return unbounded
  if (context.sort.length === 0) return reject("a window that has an end needs a sortBy")
  const first = lower === "unbounded" ? -Infinity : lower === "current" ? 0 : lower
  const last = upper === "unbounded" ? Infinity : upper === "current" ? 0 : upper
  return () => ({ enters: (at, index) => at <= index + last, leaves: (at, index) => at < index + first })
}

const numberOf = (value: unknown): BsonNumber =>
  isNumber(value) ? value : reject("a bound of a range is unbounded, current, or a number")

const amountOf = (value: unknown): number => wholeOf("a range with a unit", value)

const rangeBounds = (given: readonly [unknown, unknown], unit: unknown, context: WindowContext): Bounds => {
  const kind = unit === undefined ? undefined : unitOf("a window", unit)
  const [lower, upper] = [
    boundOf(given[0], context, kind === undefined ? numberOf : amountOf),
    boundOf(given[1], context, kind === undefined ? numberOf : amountOf)
  ]
  checkOrder(lower, upper)
  const [direction, ...others] = context.sort
  if (direction === undefined || others.length > 0) return reject("a range needs a sortBy of exactly one field")
  if (direction.descending) return reject("a range needs an ascending sortBy")
  const read = (document: Document | undefined): BsonNumber | Date => {
    const value = follow(document, direction.path)
    if (kind !== undefined) return value instanceof Date ? value : reject("a range with a unit needs dates to sort by")
    if (value instanceof Date) return reject("a range of dates needs a unit")
    return isNumber(value) ? value : reject("a range needs numbers to sort by")
  }
  const moved = (value: BsonNumber | Date, by: BsonNumber): BsonNumber | Date =>
    value instanceof Date
      ? dateAt(timeAfter(value.getTime(), toDouble(by), kind ?? "", utc))
      : Number.isSafeInteger(value) && Number.isSafeInteger(by)
      ? plus(value, by)
      : plus(asDecimal(value), asDecimal(by))
  return (documents) => windowOf(documents, lower, upper, read, moved)
}

/** The window of one partition: its values are read once, and each end is computed once for each document. */
const windowOf = (
  documents: ReadonlyArray<Document>,
  lower: "unbounded" | "current" | BsonNumber,
  upper: "unbounded" | "current" | BsonNumber,
  read: (document: Document | undefined) => BsonNumber | Date,
  moved: (value: BsonNumber | Date, by: BsonNumber) => BsonNumber | Date
): Window => {
  const limitOf = (by: "unbounded" | "current" | BsonNumber) => {
    let known = -1
    let limit: BsonNumber | Date = 0
    return (index: number) => {
      if (known !== index) {
        const value = read(documents[index])
        limit = typeof by === "string" ? value : moved(value, by)
        known = index
      }
      return limit
    }
  }
  const [least, most] = [limitOf(lower), limitOf(upper)]
  return {
    // The limits are read first: a current value of another type has no window.
    enters: (at, index) => {
      const limit = most(index)
      if (typeof upper === "string") return upper === "unbounded" || at <= index
      return compare(read(documents[at]), limit) <= 0
    },
    leaves: (at, index) => {
      const limit = least(index)
      if (typeof lower === "string") return lower === "current" && at < index
      return compare(read(documents[at]), limit) < 0
    }
  }
}

/** As MongoDB adds to the value of a range: a double counts with 15 digits. */
const asDecimal = (value: BsonNumber): BsonNumber =>
  typeof value === "number" && Number.isFinite(value) && !Number.isInteger(value)
    ? decimalOfDouble(Number(value.toPrecision(15)))
    : value
