/**
 * The operators `$geoWithin` and `$geoIntersects` of filters: a test of a stored value, and the area that an index searches.
 */
import { isDocument } from "../bson/value.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import type { Area } from "./cells.ts"
import { geometryIn, onSphere, pairIn, parseGeoJson } from "./geoJson.ts"
import { arcCount, distanceFrom, doIntersect, type Geometry, isGeometryWithin, isWithinCircle } from "./geometry.ts"
import { centerAndRadius, parseBox, parseCircle, parsePolygon, type Shape } from "./plane.ts"
import { angleBetween } from "./sphere.ts"

export interface GeoCondition {
  /** Tests a location. */
  readonly test: (value: unknown) => boolean
  /** Contains at least a part of each location that passes the test. */
  readonly area: Area
}

/** Parses the operand of `$geoWithin`. Rejects an invalid one. */
export const parseGeoWithin = (operand: unknown): GeoCondition => {
  const [kind, shape] = shapeIn(operand, "$geoWithin")
  switch (kind) {
    case "$geometry": {
      const geometry = parseGeoJson(shape)
      const { lines, points, polygons } = geometry
      return points.length + lines.length > 0 || isCollection(shape)
        ? reject("$geoWithin needs a Polygon or a MultiPolygon")
        : onGeometry(geometry, (stored) => isGeometryWithin(stored, polygons))
    }
    case "$box":
      return onPlane(parseBox(shape))
    case "$center":
      return onPlane(parseCircle(shape))
    case "$polygon":
      return onPlane(parsePolygon(shape))
    case "$centerSphere": {
      const { center: pair, radius } = centerAndRadius(shape, kind)
      const center = onSphere(pair)
      return {
        test: (value) => {
          const stored = geometryIn(value)
          return stored !== undefined && isWithinCircle(stored, center, radius)
        },
        area: { fromSphere: (point) => Math.max(0, angleBetween(center, point) - radius), size: 1 }
      }
    }
    default:
      return reject(`$geoWithin has no shape ${kind}`)
  }
}

/** Parses the operand of `$geoIntersects`. Rejects an invalid one. */
export const parseGeoIntersects = (operand: unknown): GeoCondition => {
  const [kind, shape] = shapeIn(operand, "$geoIntersects")
  if (kind !== "$geometry") return reject("$geoIntersects needs a $geometry")
  const geometry = parseGeoJson(shape)
  return onGeometry(geometry, (stored) => doIntersect(stored, geometry))
}

// internal

const shapeIn = (operand: unknown, operator: string): readonly [kind: string, shape: unknown] => {
  // A shape is computed with like a document.
  beginEvaluation()
  const entries = isDocument(operand) ? Object.entries(operand).filter(([key]) => key !== "$uniqueDocs") : []
  const [entry, ...others] = entries
  return entry === undefined || others.length > 0 ? reject(`${operator} needs exactly one shape`) : entry
}

const isCollection = (shape: unknown): boolean => isDocument(shape) && shape["type"] === "GeometryCollection"

const onGeometry = (geometry: Geometry, test: (stored: Geometry) => boolean): GeoCondition => ({
  test: (value) => {
    const stored = geometryIn(value)
    return stored !== undefined && test(stored)
  },
  area: { fromSphere: (point) => distanceFrom(geometry, point), size: arcCount(geometry) }
})

const onPlane = (shape: Shape): GeoCondition => ({
  test: (value) => {
    const pair = pairIn(value)
    return pair !== undefined && shape.contains(pair)
  },
  area: { fromPlane: shape.distanceFrom, size: shape.edges }
})
