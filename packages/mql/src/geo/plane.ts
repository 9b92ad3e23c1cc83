/** Shapes on the plane: boxes, circles and polygons of legacy coordinates. Borders are part of shapes. */
import { orient2d } from "robust-predicates"
import { toDouble } from "../bson/number.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { arcCost } from "./arcs.ts"
import { finitePair, type Pair } from "./geoJson.ts"

export interface Shape {
  readonly contains: (point: Pair) => boolean
  /** The distance from the nearest point of the shape. */
  readonly distanceFrom: (point: Pair) => number
  readonly edges: number
}

export const parseBox = (operand: unknown): Shape => {
  const [a, b] = pairsOf(operand, "$box")
  if (a === undefined || b === undefined) return reject("$box needs two corners")
  const [low, high] = [{ x: Math.min(a.x, b.x), y: Math.min(a.y, b.y) }, {
    x: Math.max(a.x, b.x),
    y: Math.max(a.y, b.y)
  }]
  return {
    contains: ({ x, y }) => x >= low.x && x <= high.x && y >= low.y && y <= high.y,
    distanceFrom: ({ x, y }) => Math.hypot(Math.max(low.x - x, 0, x - high.x), Math.max(low.y - y, 0, y - high.y)),
    edges: 1
  }
}

export const parseCircle = (operand: unknown): Shape => {
  const { center, radius } = centerAndRadius(operand, "$center")
  return {
    contains: (point) => distance(center, point) <= radius,
    distanceFrom: (point) => Math.max(0, distance(center, point) - radius),
    edges: 1
  }
}

/** The operand of `$center` and `$centerSphere`. */
export const centerAndRadius = (
  operand: unknown,
  operator: string
): { readonly center: Pair; readonly radius: number } => {
  const [at, length, ...others] = isArray(operand) ? operand : []
  const center = finitePair(at)
  const radius = isNumber(length) ? toDouble(length) : NaN
  return center !== undefined && others.length === 0 && radius >= 0
    ? { center, radius }
    : reject(`${operator} needs an array of a point and a radius from 0`)
}

export const parsePolygon = (operand: unknown): Shape => {
  const corners = pairsOf(operand, "$polygon")
  if (corners.length < 3) return reject("$polygon needs at least 3 points")
  const someEdge = (test: (a: Pair, b: Pair) => boolean): boolean => {
    charge(arcCost * corners.length)
    return corners.some((b, i) => test(corners.at(i - 1)!, b))
  }
  const contains = (point: Pair): boolean => {
    let isInside = false
    return someEdge((a, b) => {
      const turn = orient2d(a.x, a.y, b.x, b.y, point.x, point.y)
      if (turn === 0 && isBetween(point, a, b)) return true
      if (a.y > point.y !== b.y > point.y && turn > 0 === a.y > b.y) isInside = !isInside
      return false
    }) || isInside
  }
  return {
    contains,
    distanceFrom: (point) => {
      if (contains(point)) return 0
      let least = Infinity
      someEdge((a, b) => {
        least = Math.min(least, distanceFromEdge(point, a, b))
        return false
      })
      return least
    },
    edges: corners.length
  }
}

export const distance = (a: Pair, b: Pair): number => Math.hypot(a.x - b.x, a.y - b.y)

// internal

const pairsOf = (operand: unknown, operator: string): ReadonlyArray<Pair> => {
  const items = isArray(operand) ? operand : isDocument(operand) ? Object.values(operand) : []
  return items.map((item) => finitePair(item) ?? reject(`${operator} needs an array of points`))
}

const isBetween = ({ x, y }: Pair, a: Pair, b: Pair): boolean =>
  x >= Math.min(a.x, b.x) && x <= Math.max(a.x, b.x) && y >= Math.min(a.y, b.y) && y <= Math.max(a.y, b.y)

const distanceFromEdge = (point: Pair, a: Pair, b: Pair): number => {
  const [x, y] = [b.x - a.x, b.y - a.y]
  const square = x * x + y * y
  const part = square === 0 ? 0 : Math.min(1, Math.max(0, ((point.x - a.x) * x + (point.y - a.y) * y) / square))
  return distance(point, { x: a.x + part * x, y: a.y + part * y })
}
