/** Bounds of the keys that match the constraints at a path of an index. */
import {
  beginEvaluation,
  bound,
  type BsonNumber,
  catchRejection,
  type Constraint,
  covering,
  type IndexKind,
  invert,
  Rank,
  rankBound,
  rankOf,
  residue,
  spansOf,
  textPrefix
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Index } from "../catalog/collection.ts"

/** The smallest list of values that the constraints allow at a path. */
export const valuesAt = (constraints: ReadonlyArray<Constraint>, path: string): ReadonlyArray<unknown> | undefined => {
  let fewest: ReadonlyArray<unknown> | undefined
  for (const constraint of constraints) {
    if (constraint.kind !== "in" || constraint.path !== path) continue
    if (fewest === undefined || constraint.values.length < fewest.length) fewest = constraint.values
  }
  return fewest
}

export interface Bounds {
  readonly from: string
  readonly to: string
  /** Excludes the keys with the prefix `from`, or `to`. */
  readonly isAfterFrom?: boolean
  readonly isBeforeTo?: boolean
  /** The number of constraints that exactly the values within the bounds meet. */
  readonly met?: number
}

/**
 * The bounds of one or two constraints at a path, if exactly the keys within the bounds match them. `NaN` sorts below all
 * numbers and matches no range, so a range of numbers needs a lower bound.
 */
export const exactBoundsAt = (
  constraints: ReadonlyArray<Constraint>,
  path: string,
  { traits }: Index
): Bounds | undefined => {
  if (traits.multikey || traits.inexact) return undefined
  const [first, second, ...others] = constraints.filter((constraint) => constraint.path === path)
  const least = first?.kind === "least" ? first : second?.kind === "least" ? second : undefined
  const most = first?.kind === "most" ? first : second?.kind === "most" ? second : undefined
  const met = Number(least !== undefined) + Number(most !== undefined)
  const rank = rankOf(least === undefined ? most?.value : least.value)
  if (others.length > 0 || met !== (second === undefined ? 1 : 2)) return undefined
  if (rank !== Rank.number && rank !== Rank.string && rank !== Rank.date) return undefined
  if ((most !== undefined && rankOf(most.value) !== rank) || (least === undefined && rank === Rank.number)) {
    return undefined
  }
  // The key of such a number is the one of its nearest double. The cast follows from the rank.
  if (rank === Rank.number && [least, most].some((end) => end && residue(end.value as BsonNumber) !== undefined)) {
    return undefined
  }
  return {
    from: least === undefined ? rankBound(rank) : bound(least.value),
    to: most === undefined ? rankBound(rank) : bound(most.value),
    isAfterFrom: least?.isStrict === true,
    isBeforeTo: most?.isStrict === true,
    met
  }
}

/** The range of keys at a path. Only values of the bounds' own type match. */
export const boundsAt = (
  constraints: ReadonlyArray<Constraint>,
  path: string,
  { collator, traits }: Index
): Bounds | undefined => {
  const bounds = constraints.flatMap((constraint) => {
    if (constraint.path !== path || (constraint.kind !== "least" && constraint.kind !== "most")) return []
    const rank = rankOf(constraint.value)
    // `MinKey` and `MaxKey` compare with values of all types.
    if (rank === Rank.minKey || rank === Rank.maxKey) return []
    return constraint.kind === "least"
      ? [{ from: bound(constraint.value, collator), to: rankBound(rank) }]
      : [{ from: rankBound(rank), to: bound(constraint.value, collator) }]
  })
  const [first, ...others] = bounds
  // In a multikey index, different items of an array may meet the two bounds, so only one is used.
  if (first === undefined || traits.multikey) return first
  return others.reduce((all, { from, to }) => ({
    from: from > all.from ? from : all.from,
    // An upper bound that is a prefix of another one includes more keys.
    to: all.to.startsWith(to) || (to > all.to && !to.startsWith(all.to)) ? all.to : to
  }), first)
}

/** The texts with a literal prefix, and regular expressions: a pattern matches an equal one. */
export const beginningsAt = (constraints: ReadonlyArray<Constraint>, path: string): ReadonlyArray<Bounds> => {
  const found = constraints.find((constraint) => constraint.kind === "begins" && constraint.path === path)
  if (found?.kind !== "begins") return []
  const from = textPrefix(found.text)
  const expressions = rankBound(Rank.regularExpression)
  return [{ from, to: from }, { from: expressions, to: expressions }]
}

/** The cells of the first area that the constraints have at a path. */
export const spansAt = (
  constraints: ReadonlyArray<Constraint>,
  path: string,
  kind: IndexKind
): ReadonlyArray<Bounds> => {
  for (const constraint of constraints) {
    if (constraint.kind !== "area" || constraint.path !== path) continue
    beginEvaluation()
    const cells = Result.getOrUndefined(
      catchRejection(() => covering(kind, constraint.area, isRing(constraint) ? maxRingCells : maxCells))
    )
    if (cells !== undefined) return spansOf(cells)
  }
  return []
}

const maxCells = 24

// A ring has a long border for its area, so it needs more cells.
const maxRingCells = 96

export const isRing = (constraint: Constraint): boolean => constraint.kind === "area" && constraint.isRing === true

export const inverted = ({ from, isAfterFrom, isBeforeTo, to, ...rest }: Bounds): Bounds => ({
  ...rest,
  from: invert(to),
  to: invert(from),
  isAfterFrom: isBeforeTo === true,
  isBeforeTo: isAfterFrom === true
})
