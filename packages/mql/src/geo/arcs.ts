/** Sets of arcs on the sphere, and whether some of them meet. */
import { charge } from "../limits/costBudget.ts"
import { distanceFromArc, doCross, normalOf, tolerance, type Vector } from "./sphere.ts"

/** The cost of a computation with one arc, in the units of `charge`. */
export const arcCost = 6

/** An arc in a box; a single point is an arc that ends where it begins. */
export interface Arc {
  readonly a: Vector
  readonly b: Vector
  readonly low: Vector
  readonly high: Vector
}

/** The arcs from each vertex to the next. */
export const arcsOf = (vertices: ReadonlyArray<Vector>): ReadonlyArray<Arc> =>
  vertices.slice(1).map((vertex, i) => makeArc(vertices[i]!, vertex))

export const makeArc = (a: Vector, b: Vector): Arc => {
  // The middle of an arc is higher than its chord.
  const rise = 1 - Math.hypot(a.x + b.x, a.y + b.y, a.z + b.z) / 2 + tolerance
  return {
    a,
    b,
    low: { x: Math.min(a.x, b.x) - rise, y: Math.min(a.y, b.y) - rise, z: Math.min(a.z, b.z) - rise },
    high: { x: Math.max(a.x, b.x) + rise, y: Math.max(a.y, b.y) + rise, z: Math.max(a.z, b.z) + rise }
  }
}

/** Whether any two of the arcs cross inside both. */
export const haveCrossing = (arcs: ReadonlyArray<Arc>): boolean =>
  somePair(arcs, [], (one, other) => doCross(one.a, one.b, other.a, other.b))

/** Whether an arc of the first set crosses one of the second set inside both. */
export const doSomeCross = (arcs: ReadonlyArray<Arc>, others: ReadonlyArray<Arc>): boolean =>
  somePair(arcs, others, (one, other) => doCross(one.a, one.b, other.a, other.b))

/** Whether an arc of the first set has a point in common with one of the second set. */
export const doSomeMeet = (arcs: ReadonlyArray<Arc>, others: ReadonlyArray<Arc>): boolean =>
  somePair(
    arcs,
    others,
    (one, other) => doCross(one.a, one.b, other.a, other.b) || hasEndAt(one, other) || hasEndAt(other, one)
  )

// internal

const hasEndAt = ({ a, b }: Arc, { a: from, b: to }: Arc): boolean => {
  const normal = normalOf(from, to)
  return distanceFromArc(a, from, to, normal) <= tolerance || distanceFromArc(b, from, to, normal) <= tolerance
}

// Sweeps along one axis, so that only arcs with a common part on it are compared. Without a second set, the pairs are those of
// the first one.
const somePair = (
  first: ReadonlyArray<Arc>,
  second: ReadonlyArray<Arc>,
  test: (one: Arc, other: Arc) => boolean
): boolean => {
  charge(arcCost * (first.length + second.length))
  const isOneSet = second.length === 0
  const seconds = new Set(second)
  let active: Array<Arc> = []
  for (const arc of [...first, ...second].toSorted((one, other) => one.low.x - other.low.x)) {
    charge(active.length)
    active = active.filter(({ high }) => high.x >= arc.low.x)
    const isSecond = seconds.has(arc)
    for (const other of active) {
      if (other.low.y > arc.high.y || other.high.y < arc.low.y) continue
      if (other.low.z > arc.high.z || other.high.z < arc.low.z) continue
      if (!isOneSet && isSecond === seconds.has(other)) continue
      charge(arcCost)
      if (test(arc, other)) return true
    }
    active.push(arc)
  }
  return false
}
