/** The operators `$near` and `$nearSphere`: the distance of documents from a point, in bounds. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { toDouble } from "../bson/number.ts"
import { type Segments, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { type Area, type IndexKind, planeHalf } from "./cells.ts"
import { finitePair, geometryIn, onSphere, type Pair, pairIn, parseGeoJson } from "./geoJson.ts"
import { distanceFrom } from "./geometry.ts"
import { someLocation } from "./location.ts"
import { distance } from "./plane.ts"
import { angleBetween, earthRadius, type Vector } from "./sphere.ts"

/** A search for the nearest documents: in radians on the sphere, in units of coordinates on the plane. */
export interface Near {
  readonly path: string
  /** The kinds of indexes that can be used. */
  readonly kinds: ReadonlyArray<IndexKind>
  readonly least: number
  readonly most: number
  /** No location is farther away. */
  readonly farthest: number
  /** What one unit of the caller is in the units here. */
  readonly unit: number
  /** The location of a document that is nearest to the point; `undefined` if it has none. */
  readonly nearest: (document: Document) => Nearest | undefined
  /** The area at distances of `least` to `most`. */
  readonly areaBetween: (least: number, most: number) => Area
}

export interface Nearest {
  readonly distance: number
  readonly location: unknown
}

/**
 * Parses the operand of `$near` or `$nearSphere`; `siblings` are all operators of the field, the bounds of a search with
 * legacy coordinates among them. Rejects an invalid one.
 */
export const parseNear = (path: string, operator: string, siblings: Document): Near => {
  beginEvaluation()
  const operand = siblings[operator]
  if (!isDocument(operand) || !Object.hasOwn(operand, "$geometry")) {
    const pair = finitePair(operand) ?? reject(`${operator} needs a $geometry or a pair of coordinates`)
    // A third coordinate is the distance of an old form.
    const third = isArray(operand) ? operand[2] : undefined
    const bounds = { ...boundsIn(siblings, operator), ...third === undefined ? {} : { most: boundOf(third, operator) } }
    return operator === "$near" ? nearOnPlane(path, pair, bounds) : nearOnSphere(path, onSphere(pair), bounds, 1)
  }
  const unknown = Object.keys(operand).find((key) => !["$geometry", "$minDistance", "$maxDistance"].includes(key))
  if (unknown !== undefined) return reject(`${operator} has no option ${unknown}`)
  return nearOnSphere(
    path,
    pointOf(operand["$geometry"]),
    boundsIn({ ...siblings, ...operand }, operator),
    1 / earthRadius
  )
}

/** What a stage `$geoNear` searches for. */
export const makeNear = (
  path: string,
  point: unknown,
  bounds: Bounds,
  isSpherical: boolean
): Near => {
  if (isDocument(point) && typeof point["type"] === "string") {
    return nearOnSphere(path, pointOf(point), bounds, 1 / earthRadius)
  }
  const pair = finitePair(point) ?? reject("near of $geoNear needs a GeoJSON point or a pair of coordinates")
  return isSpherical ? nearOnSphere(path, onSphere(pair), bounds, 1) : nearOnPlane(path, pair, bounds)
}

/** The least and the greatest distance, in the units of the caller. */
interface Bounds {
  readonly least: number
  readonly most: number
}

export const boundOf = (value: unknown, operator: string): number => {
  const bound = isNumber(value) ? toDouble(value) : NaN
  return bound >= 0 ? bound : reject(`a distance of ${operator} must be a number from 0`)
}

export const distanceTest = ({ least, most, nearest }: Near) => (document: Document): boolean => {
  const found = nearest(document)
  return found !== undefined && found.distance >= least && found.distance <= most
}

// internal

const boundsIn = (options: Document, operator: string): Bounds => {
  const { $maxDistance = Infinity, $minDistance = 0 } = options
  return { least: boundOf($minDistance, operator), most: boundOf($maxDistance, operator) }
}

const pointOf = (value: unknown): Vector => {
  const { points: [point, ...more], polygons, lines } = parseGeoJson(value)
  return point === undefined || more.length + polygons.length + lines.length > 0
    ? reject("the $geometry of a search by distance must be a Point")
    : point
}

const nearestBy = (path: string, distanceOf: (location: unknown) => number | undefined): Near["nearest"] => {
  const segments: Segments = segmentsOf(path)
  return (document) => {
    let nearest: Nearest | undefined
    someLocation(document, segments, (location) => {
      const distance = distanceOf(location)
      if (distance !== undefined && (nearest === undefined || distance < nearest.distance)) {
        nearest = { distance, location }
      }
      return false
    })
    return nearest
  }
}

const nearOnSphere = (path: string, point: Vector, { least, most }: Bounds, unit: number): Near => ({
  path,
  kinds: ["2dsphere", "2d"],
  least: least * unit,
  most: most * unit,
  farthest: Math.PI,
  unit,
  nearest: nearestBy(path, (location) => {
    const stored = geometryIn(location)
    return stored === undefined ? undefined : distanceFrom(stored, point)
  }),
  areaBetween: (least, most) => ({ fromSphere: (other) => outside(angleBetween(point, other), least, most), size: 1 })
})

const nearOnPlane = (path: string, point: Pair, { least, most }: Bounds): Near => ({
  path,
  kinds: ["2d"],
  least,
  most,
  farthest: Math.hypot(Math.abs(point.x) + planeHalf, Math.abs(point.y) + planeHalf),
  unit: 1,
  nearest: nearestBy(path, (location) => {
    const stored = pairIn(location)
    return stored === undefined ? undefined : distance(stored, point)
  }),
  areaBetween: (least, most) => ({ fromPlane: (other) => outside(distance(point, other), least, most), size: 1 })
})

const outside = (distance: number, least: number, most: number): number =>
  Math.max(0, least - distance, distance - most)
