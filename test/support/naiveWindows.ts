/** Windows and window functions as they are defined: each window is computed from all documents of its partition. */
import { Decimal128, Double, Long } from "bson"
import { Effect } from "effect"
import type { Document, Sort } from "../../packages/document-store/src/DocumentStore.ts"

export type Point = readonly [x: number, y: number]

export type Bound = number | "unbounded" | "current"

export interface Window {
  readonly lower: Bound
  readonly upper: Bound
  readonly unit: string | undefined
  readonly isRange: boolean
  readonly sortBy: Sort
}

export const placeOf = (bound: Bound, end: number): number =>
  bound === "unbounded" ? end : bound === "current" ? 0 : bound

/** Runs a pipeline over the documents. */
export type Run<E> = (...stages: ReadonlyArray<Document>) => Effect.Effect<ReadonlyArray<Document>, E>

export const partitionOf = (documents: ReadonlyArray<Document>, { g }: Document, sort: Sort): ReadonlyArray<Document> =>
  documents.filter((other) => other["g"] === g).toSorted((a, b) =>
    Object.entries(sort).reduce((order, [path, sign]) => order || (Number(a[path]) - Number(b[path])) * sign, 0)
  )

/** Each document, and the documents in its window. */
export const windowsIn = Effect.fnUntraced(function*<E>(
  run: Run<E>,
  documents: ReadonlyArray<Document>,
  window: Window
) {
  const { isRange, lower, sortBy, unit, upper } = window
  const field = unit === undefined ? "x" : "t"
  const limit = (bound: Bound, end: number): unknown =>
    unit === undefined || bound === "unbounded"
      ? { $add: ["$x", placeOf(bound, end)] }
      : { $dateAdd: { startDate: "$t", unit, amount: placeOf(bound, end) } }
  const limits = yield* run(
    { $sort: { _id: 1 } },
    { $project: { from: limit(lower, -Infinity), to: limit(upper, Infinity) } }
  )
  return documents.map((current, at) => {
    const partition = partitionOf(documents, current, { ...sortBy, _id: 1 })
    const index = partition.indexOf(current)
    const within = partition.filter((other, place) => {
      const value = Number(other[field])
      const afterStart = lower === "unbounded" ||
        (isRange && lower !== "current" ? value >= Number(limits[at]?.["from"]) : place >= index + placeOf(lower, 0))
      const beforeEnd = upper === "unbounded" ||
        (isRange && upper !== "current" ? value <= Number(limits[at]?.["to"]) : place <= index + placeOf(upper, 0))
      return afterStart && beforeEnd
    })
    return { current, within }
  })
})

export const numberIn = (value: unknown): number | undefined =>
  typeof value === "number" || value instanceof Double || value instanceof Long || value instanceof Decimal128
    ? Number(value.toString())
    : undefined

/** A number of any type without its last digits; other values as they are. */
export const rounded = (value: unknown): unknown => {
  const number = numberIn(value)
  return number === undefined ? value ?? null : Number(number.toFixed(9)) + 0
}

export const derivativeOf = (points: ReadonlyArray<Point>): number | null => {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || last[0] === first[0]) return null
  return (last[1] - first[1]) / (last[0] - first[0])
}

export const integralOf = (points: ReadonlyArray<Point>): number | null =>
  points.length === 0 ? null : points.reduce((area, [x, y], at) => {
    const [x0, y0] = points[at - 1] ?? [x, y]
    return area + (x - x0) * (y + y0) / 2
  }, 0)

export const covarianceOf = (pairs: ReadonlyArray<Point>, divisor: number): number | null => {
  if (pairs.some(([x]) => Number.isNaN(x))) return NaN
  if (divisor < 1) return null
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length
  const [x, y] = [mean(0), mean(1)]
  return pairs.reduce((sum, pair) => sum + (pair[0] - x) * (pair[1] - y), 0) / divisor
}

export const scaled = (value: number, values: ReadonlyArray<number>): number => {
  const [min, max] = [Math.min(...values), Math.max(...values)]
  return min === max ? -1 : (value - min) / (max - min) * 4 - 1
}

/** A number at a place, or that between the nearest ones before and after it. */
export const filledAt = (order: ReadonlyArray<Document>, place: number): number | null => {
  const known = order.flatMap(({ f, u }, at) => typeof f === "number" ? [{ at, f, u: Number(u) }] : [])
  const before = known.findLast(({ at }) => at <= place)
  const after = known.find(({ at }) => at >= place)
  if (before === undefined || after === undefined) return null
  if (before === after) return before.f
  const u = Number(order[place]?.["u"])
  return before.f + (u - before.u) * (after.f - before.f) / (after.u - before.u)
}

export const averageOf = (numbers: ReadonlyArray<number>, weight: number): number | null =>
  numbers.reduce<number | null>(
    (average, number) => average === null ? number : number * weight + average * (1 - weight),
    null
  )
