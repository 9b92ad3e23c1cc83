/**
 * Geometries on the sphere, made of points, lines and polygons, and how they lie to each other. Borders are part of shapes.
 */
import { charge } from "../limits/costBudget.ts"
import { type Arc, arcCost, arcsOf, doSomeCross, doSomeMeet, makeArc } from "./arcs.ts"
import { normalsOf, type Ring } from "./ring.ts"
import { angleBetween, antipodeOf, distanceFromArc, tolerance, unit, type Vector } from "./sphere.ts"

export interface Line {
  readonly vertices: ReadonlyArray<Vector>
  readonly normals: ReadonlyArray<Vector | undefined>
}

export const makeLine = (vertices: ReadonlyArray<Vector>): Line => ({ vertices, normals: normalsOf(vertices) })

/** The rings of a polygon: the outer one, and its holes. */
export type Polygon = ReadonlyArray<Ring>

export interface Geometry {
  readonly points: ReadonlyArray<Vector>
  readonly lines: ReadonlyArray<Line>
  readonly polygons: ReadonlyArray<Polygon>
}

export const pointAt = (point: Vector): Geometry => ({ points: [point], lines: [], polygons: [] })

/** The distance of a point from a geometry: that of its nearest part. */
export const distanceFrom = ({ lines, points, polygons }: Geometry, point: Vector): number => {
  charge(points.length)
  let least = Math.PI
  for (const other of points) least = Math.min(least, angleBetween(point, other))
  for (const line of lines) least = Math.min(least, distanceFromLine(line, point))
  for (const polygon of polygons) {
    if (covers(polygon, point)) return 0
    for (const ring of polygon) least = Math.min(least, ring.distanceFromBorder(point))
  }
  return least
}

/** Whether two geometries have a point in common. */
export const doIntersect = (one: Geometry, other: Geometry): boolean => {
  const [point, ...more] = one.points
  const isPoint = point !== undefined && more.length + one.lines.length + one.polygons.length === 0
  if (isPoint) return distanceFrom(other, point) <= tolerance
  return doSomeMeet(arcsIn(one), arcsIn(other)) || hasPartInside(one, other) || hasPartInside(other, one)
}

/** Whether each part of a geometry is within one of the polygons. */
export const isGeometryWithin = ({ lines, points, polygons }: Geometry, areas: ReadonlyArray<Polygon>): boolean =>
  points.every((point) => areas.some((area) => covers(area, point)))
  && lines.every(({ vertices }) => areas.some((area) => coversLine(area, vertices)))
  && polygons.every((polygon) => areas.some((area) => coversPolygon(area, polygon)))

export const isWithinCircle = (geometry: Geometry, center: Vector, radius: number): boolean => {
  const { lines, points, polygons } = geometry
  charge(points.length)
  if (!points.every((point) => angleBetween(center, point) <= radius)) return false
  if (lines.length + polygons.length === 0) return true
  // No part of it is nearer to the opposite point than the circle.
  const others = { points: [], lines, polygons }
  return distanceFrom(others, antipodeOf(center)) >= Math.PI - radius - tolerance
}

export const arcCount = ({ lines, points, polygons }: Geometry): number =>
  points.length + lines.reduce((sum, { vertices }) => sum + vertices.length, 0)
  + polygons.reduce((sum, rings) => rings.reduce((sum, { vertices }) => sum + vertices.length, sum), 0)

// internal

const distanceFromLine = ({ normals, vertices }: Line, point: Vector): number => {
  charge(arcCost * vertices.length)
  let least = Math.PI
  for (const [i, normal] of normals.entries()) {
    least = Math.min(least, distanceFromArc(point, vertices[i]!, vertices[i + 1]!, normal))
  }
  return least
}

const covers = ([outer, ...holes]: Polygon, point: Vector): boolean =>
  outer !== undefined && outer.contains(point) && !holes.some((hole) => hole.containsInside(point))

const arcsIn = ({ lines, points, polygons }: Geometry): ReadonlyArray<Arc> => [
  ...points.map((point) => makeArc(point, point)),
  ...lines.flatMap(({ vertices }) => arcsOf(vertices)),
  ...polygons.flatMap(arcsAround)
]

const arcsAround = (polygon: Polygon): ReadonlyArray<Arc> => polygon.flatMap(({ arcs }) => arcs)

// Their borders don't meet, so one vertex of a part is as good as another.
const hasPartInside = ({ lines, points, polygons }: Geometry, { polygons: areas }: Geometry): boolean => {
  const isInside = (point: Vector | undefined) => point !== undefined && areas.some((area) => covers(area, point))
  return points.some(isInside) || lines.some(({ vertices }) => isInside(vertices[0]))
    || polygons.some(([outer]) => isInside(outer?.vertices[0]))
}

const coversLine = (area: Polygon, vertices: ReadonlyArray<Vector>): boolean => {
  const [first] = vertices
  if (first === undefined || !covers(area, first)) return false
  const [arcs, border] = [arcsOf(vertices), arcsAround(area)]
  if (!doSomeMeet(arcs, border)) return true
  // A line that touches the border may go on along it, inside or outside.
  return !doSomeCross(arcs, border) && vertices.every((vertex) => covers(area, vertex))
    && arcs.every(({ a, b }) => {
      const middle = unit({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z })
      return middle === undefined || covers(area, middle)
    })
}

const coversPolygon = (area: Polygon, polygon: Polygon): boolean => {
  const [outer] = polygon
  if (outer === undefined || !coversLine(area, [...outer.vertices, ...outer.vertices.slice(0, 1)])) return false
  return area.slice(1).every((hole) => {
    const point = hole.innerPoint
    return point === undefined || !covers(polygon, point)
  })
}
