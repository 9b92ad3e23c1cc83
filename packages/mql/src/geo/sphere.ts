/**
 * Points and arcs on the unit sphere. An arc is the shortest way between two points; angles and distances are in radians.
 */
import { orient3d } from "robust-predicates"

/** A point on the unit sphere. */
export interface Vector {
  readonly x: number
  readonly y: number
  readonly z: number
}

/** The radius of the Earth in metres, as MongoDB has it. */
export const earthRadius = 6_378_100

/** Nearer points count as equal: about 6 micrometres on the Earth. Borders are part of shapes. */
export const tolerance = 1e-12

/** The point at degrees. Each pole is one point, and so are both sides of the antimeridian. */
export const fromDegrees = (longitude: number, latitude: number): Vector => {
  const [sinLatitude, cosLatitude] = sinCos(latitude)
  const [sinLongitude, cosLongitude] = sinCos(longitude)
  return { x: cosLatitude * cosLongitude, y: cosLatitude * sinLongitude, z: sinLatitude }
}

// Exact at the multiples of 90 degrees, where the rounding of pi would show.
const sinCos = (degrees: number): readonly [sin: number, cos: number] => {
  const quarter = degrees / 90
  if (!Number.isInteger(quarter)) {
    const angle = degrees * radiansPerDegree
    return [Math.sin(angle), Math.cos(angle)]
  }
  const turn = ((quarter % 4) + 4) % 4
  return turn === 0 ? [0, 1] : turn === 1 ? [1, 0] : turn === 2 ? [0, -1] : [-1, 0]
}

export const radiansPerDegree = Math.PI / 180

export const dot = (a: Vector, b: Vector): number => a.x * b.x + a.y * b.y + a.z * b.z

const cross = (a: Vector, b: Vector): Vector => ({
  x: a.y * b.z - a.z * b.y,
  y: a.z * b.x - a.x * b.z,
  z: a.x * b.y - a.y * b.x
})

export const antipodeOf = ({ x, y, z }: Vector): Vector => ({ x: -x, y: -y, z: -z })

export const isSame = (a: Vector, b: Vector): boolean => a.x === b.x && a.y === b.y && a.z === b.z

/** A vector in this direction, of length 1; `undefined` if it is too short to have a direction. */
export const unit = ({ x, y, z }: Vector): Vector | undefined => {
  const length = Math.hypot(x, y, z)
  return length > minLength ? { x: x / length, y: y / length, z: z / length } : undefined
}

const minLength = 1e-200

/** The normal of the great circle through an arc, left of the way from `a` to `b`, exact for near points. */
export const normalOf = (a: Vector, b: Vector): Vector | undefined => {
  const sum = { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }
  const difference = { x: b.x - a.x, y: b.y - a.y, z: b.z - a.z }
  // Twice the product of `a` and `b`, without the loss of digits of nearly equal factors.
  return unit(cross(sum, difference))
}

export const angleBetween = (a: Vector, b: Vector): number => {
  // The half angle by its sine and cosine is exact for all angles.
  const sine = Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z)
  const cosine = Math.hypot(a.x + b.x, a.y + b.y, a.z + b.z)
  return 2 * Math.atan2(sine, cosine)
}

/** Whether `c` is to the left of the way from `a` to `b` (1), to its right (-1), or on its great circle (0). */
export const sideOf = (a: Vector, b: Vector, c: Vector): -1 | 0 | 1 => {
  const determinant = (a.y * b.z - a.z * b.y) * c.x + (a.z * b.x - a.x * b.z) * c.y + (a.x * b.y - a.y * b.x) * c.z
  if (determinant > maxError) return 1
  if (determinant < -maxError) return -1
  const exact = orient3d(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, 0, 0, 0)
  return exact > 0 ? 1 : exact < 0 ? -1 : 0
}

// The rounding error of the determinant of unit vectors is less.
const maxError = 4e-15

/** Whether two arcs cross at a point that is inside both. */
export const doCross = (a: Vector, b: Vector, c: Vector, d: Vector): boolean => {
  const sideOfC = sideOf(a, b, c)
  if (sideOfC === 0) return false
  const sideOfD = sideOf(a, b, d)
  // The sides of `c` and `d`, and those of `a` and `b`: the circles could also cross on the other side of the sphere.
  return sideOfD === -sideOfC && sideOf(c, d, a) === sideOfD && sideOf(c, d, b) === sideOfC
}

/** The distance of a point from an arc, whose normal is known. */
export const distanceFromArc = (point: Vector, a: Vector, b: Vector, normal: Vector | undefined): number => {
  if (normal !== undefined) {
    const isBesides = dot(cross(normal, a), point) > 0 && dot(cross(b, normal), point) > 0
    if (isBesides) {
      const product = cross(normal, point)
      return Math.atan2(Math.abs(dot(normal, point)), Math.hypot(product.x, product.y, product.z))
    }
  }
  return Math.min(angleBetween(point, a), angleBetween(point, b))
}

/** The signed area of a triangle: positive if it is counter-clockwise. */
export const areaOfTriangle = (a: Vector, b: Vector, c: Vector): number =>
  2 * Math.atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a))

/** A circle around all points, and the arcs between them if its radius is below a quarter turn. */
export const circleAround = (points: ReadonlyArray<Vector>): Circle => {
  const sum = { x: 0, y: 0, z: 0 }
  for (const { x, y, z } of points) {
    sum.x += x
    sum.y += y
    sum.z += z
  }
  const center = unit(sum) ?? { x: 1, y: 0, z: 0 }
  let radius = 0
  for (const point of points) radius = Math.max(radius, angleBetween(center, point))
  return { center, radius: radius < Math.PI / 2 - tolerance ? radius + tolerance : Math.PI }
}

export interface Circle {
  readonly center: Vector
  readonly radius: number
}
