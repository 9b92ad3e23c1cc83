/** Closed lines on the sphere that bound an area: of the two areas, it is the smaller one, as in MongoDB. */
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { type Arc, arcCost, arcsOf, haveCrossing } from "./arcs.ts"
import {
  antipodeOf,
  areaOfTriangle,
  type Circle,
  circleAround,
  distanceFromArc,
  dot,
  isSame,
  normalOf,
  sideOf,
  tolerance,
  unit,
  type Vector
} from "./sphere.ts"

// Any point that is on no ring: its coordinates have no meaning.
const origin: Vector = unit({ x: 0.317481920567, y: -0.628394710543, z: 0.709563118457 }) ?? { x: 1, y: 0, z: 0 }
const antipode = antipodeOf(origin)

export class Ring {
  readonly vertices: ReadonlyArray<Vector>
  readonly #normals: ReadonlyArray<Vector | undefined>
  readonly #circle: Circle
  readonly #isOriginInside: boolean

  /** The last vertex is not the first one again. */
  constructor(vertices: ReadonlyArray<Vector>) {
    this.vertices = vertices
    this.#normals = normalsOf([...vertices, ...vertices.slice(0, 1)])
    this.#circle = circleAround(vertices)
    // The triangles from the origin's antipode cover the area to the left once, or that to the right, turned around, if the
    // origin is to the left.
    let covered = 0
    for (const [i, vertex] of vertices.entries()) covered += areaOfTriangle(antipode, vertex, this.#next(i))
    this.#isOriginInside = Math.abs(covered) > 2 * Math.PI
  }

  #next(i: number): Vector {
    return this.vertices[i + 1] ?? this.vertices[0]!
  }

  get arcs(): ReadonlyArray<Arc> {
    return arcsOf([...this.vertices, ...this.vertices.slice(0, 1)])
  }

  /** A point inside, not on the border. */
  get innerPoint(): Vector | undefined {
    for (const [i, b] of this.vertices.entries()) {
      const [a, c] = [this.vertices.at(i - 1)!, this.#next(i)]
      const middle = unit({ x: a.x + b.x + c.x, y: a.y + b.y + c.y, z: a.z + b.z + c.z })
      if (middle !== undefined && this.containsInside(middle)) return middle
    }
    return undefined
  }

  /** Calls a function with each arc, until it returns true; returns whether it did. */
  someArc(test: (a: Vector, b: Vector, normal: Vector | undefined) => boolean): boolean {
    const { vertices } = this
    charge(arcCost * vertices.length)
    for (let i = 0; i < vertices.length; i++) if (test(vertices[i]!, this.#next(i), this.#normals[i])) return true
    return false
  }

  isOnBorder(point: Vector): boolean {
    return this.someArc((a, b, normal) =>
      (normal === undefined || Math.abs(dot(normal, point)) <= tolerance)
      && distanceFromArc(point, a, b, normal) <= tolerance
    )
  }

  /** Whether the area contains the point, or has it on its border. */
  contains(point: Vector): boolean {
    return this.#mayContain(point) && (this.#hasInside(point) || this.isOnBorder(point))
  }

  /** Whether the area contains the point, which is not on the border. */
  containsInside(point: Vector): boolean {
    return this.#mayContain(point) && this.#hasInside(point) && !this.isOnBorder(point)
  }

  #mayContain(point: Vector): boolean {
    const { center, radius } = this.#circle
    return radius >= Math.PI || dot(center, point) >= Math.cos(radius) - tolerance
  }

  // Counts how often the arc to the origin crosses the ring. A vertex on its great circle counts as left of it.
  #hasInside(point: Vector): boolean {
    const { vertices } = this
    charge(arcCost * vertices.length)
    let isInside = this.#isOriginInside
    let last = vertices.at(-1)!
    let side = sideOf(point, origin, last) < 0 ? -1 : 1
    for (const vertex of vertices) {
      const next = sideOf(point, origin, vertex) < 0 ? -1 : 1
      if (next !== side && sideOf(last, vertex, point) === next && sideOf(last, vertex, origin) === side) {
        isInside = !isInside
      }
      last = vertex
      side = next
    }
    return isInside
  }

  distanceFrom(point: Vector): number {
    return this.contains(point) ? 0 : this.distanceFromBorder(point)
  }

  distanceFromBorder(point: Vector): number {
    let least = Math.PI
    this.someArc((a, b, normal) => {
      least = Math.min(least, distanceFromArc(point, a, b, normal))
      return false
    })
    return least
  }
}

/** The normals of the arcs from each vertex to the next. */
export const normalsOf = (vertices: ReadonlyArray<Vector>): ReadonlyArray<Vector | undefined> =>
  vertices.slice(1).map((vertex, i) => normalOf(vertices[i]!, vertex))

/** Makes a polygon's rings, the outer one first. Rejects crossings, empty areas and holes outside. */
export const makeRings = (lines: ReadonlyArray<ReadonlyArray<Vector>>): ReadonlyArray<Ring> => {
  const rings = lines.map((line) => new Ring(checkedRing(line)))
  if (haveCrossing(rings.flatMap(({ arcs }) => arcs))) reject("the edges of a polygon can't cross")
  const [outer, ...holes] = rings
  for (const { vertices } of holes) {
    if (outer !== undefined && !vertices.every((vertex) => outer.contains(vertex))) {
      reject("the holes of a polygon must be inside its first ring")
    }
  }
  return rings
}

// internal

const checkedRing = (line: ReadonlyArray<Vector>): ReadonlyArray<Vector> => {
  const [first] = line
  const last = line.at(-1)
  if (first === undefined || last === undefined || line.length < 4 || !isSame(first, last)) {
    return reject("a ring of a polygon needs at least 4 positions, the last of which is the first one again")
  }
  const vertices = line.slice(1).filter((vertex, i) => !isSame(vertex, line[i]!))
  charge(arcCost * vertices.length)
  const known = new Set(vertices.map(({ x, y, z }) => `${x} ${y} ${z}`))
  if (known.size < 3) return reject("a ring of a polygon needs at least 3 different positions")
  if (known.size < vertices.length) return reject("a ring of a polygon can't contain a position twice")
  if (vertices.some((vertex, i) => isSame(vertex, antipodeOf(vertices[i + 1] ?? vertices[0]!)))) {
    return reject("an edge can't connect opposite points of the Earth")
  }
  return isFlat(vertices) ? reject("a ring of a polygon must enclose an area, not be a line") : vertices
}

// Whether all vertices are on one great circle.
const isFlat = (vertices: ReadonlyArray<Vector>): boolean => {
  const [first] = vertices
  if (first === undefined) return true
  const farthest = vertices.reduce((a, b) => Math.abs(dot(first, b)) < Math.abs(dot(first, a)) ? b : a)
  const normal = normalOf(first, farthest)
  return normal === undefined || vertices.every((vertex) => Math.abs(dot(normal, vertex)) <= tolerance)
}
