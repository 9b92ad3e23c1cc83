/**
 * Cells of indexes: the sphere, or the plane of a `2d` index, is divided into cells, each into four, and so on. The key of a cell
 * begins with the key of the cell that it is part of, so that all keys within a cell are one range.
 *
 * A point has the key of its smallest cell. A shape has those of a few cells that cover it together. A covering may be larger
 * than what it covers, never smaller.
 */
import { type Pair } from "./geoJson.ts"
import { angleBetween, fromDegrees, radiansPerDegree, tolerance, unit, type Vector } from "./sphere.ts"

/** What cells can cover. Where one of the two is missing, it can't be covered by cells of that kind. */
export interface Area {
  /** The distance of a point on the sphere from the area, or less. */
  readonly fromSphere?: ((point: Vector) => number) | undefined
  /** The distance of a point on the plane from the area, or less. */
  readonly fromPlane?: ((point: Pair) => number) | undefined
  /** The number of arcs or edges, which says how long a distance takes. */
  readonly size: number
}

export type IndexKind = "2dsphere" | "2d"

export const isIndexKind = (kind: unknown): kind is IndexKind => kind === "2dsphere" || kind === "2d"

/** The keys of disjoint cells that cover an area; `undefined` if cells of this kind can't. */
export const covering = (kind: IndexKind, area: Area, maxCells: number): ReadonlyArray<string> | undefined => {
  const { fromPlane, fromSphere } = area
  if (kind === "2dsphere") {
    return fromSphere && coveringBy(faces, (cell) => fromSphere(cell.center) <= cell.radius, area.size, maxCells)
  }
  if (fromPlane !== undefined) {
    return coveringBy([plane], (cell) => fromPlane(cell.center) <= cell.radius, area.size, maxCells)
  }
  // A degree of longitude is never longer than one of latitude.
  return fromSphere && coveringBy(
    [plane],
    ({ center, radius }) => fromSphere(fromDegrees(center.x, center.y)) <= radius * radiansPerDegree + tolerance,
    area.size,
    maxCells
  )
}

/** The key of the smallest cell that contains a point of the sphere. */
export const keyOnSphere = (point: Vector): string => {
  const face = faceOf(point)
  const { depth, u, v } = onFace(face, point)
  return smallest(String.fromCharCode(1 + face), Math.atan2(u, depth), Math.atan2(v, depth), Math.PI / 4)
}

/** The key of the smallest cell that contains a point of the plane; `undefined` if it is out of bounds. */
export const keyOnPlane = ({ x, y }: Pair): string | undefined =>
  x >= -planeHalf && x < planeHalf && y >= -planeHalf && y < planeHalf ? smallest("\x01", x, y, planeHalf) : undefined

/** The keys that an index has for what is in a cell: those of the cells in it, and those of the cells that it is in. */
export const spansOf = (
  cells: ReadonlyArray<string>
): ReadonlyArray<{ readonly from: string; readonly to: string }> => {
  const spans = new Map<string, { readonly from: string; readonly to: string }>()
  for (const cell of cells) {
    spans.set(cell, { from: cell, to: cell })
    for (let length = 1; length < cell.length; length++) {
      const key = cellComponent(cell.slice(0, length))
      if (!spans.has(key)) spans.set(key, { from: key, to: key })
    }
  }
  return Array.from(spans.keys()).toSorted().map((key) => spans.get(key)!)
}

/** The component of an index key for a cell. */
export const cellComponent = (cell: string): string => `${cell}\0`

/** The plane of a `2d` index reaches from -180 to 180. */
export const planeHalf = 180

// internal

// Cells of the last level have sides of about 0.6 metres on the Earth.
const levels = 24

// Longer coverings take too long for shapes with many edges.
const maxWork = 400_000

interface Cell<Point> {
  readonly key: string
  /** A circle around this point with this radius contains the cell. */
  readonly center: Point
  readonly radius: number
  readonly parts: () => ReadonlyArray<Cell<Point>>
}

// Divides the largest cells first, until there are as many as wanted.
const coveringBy = <Point>(
  roots: ReadonlyArray<Cell<Point>>,
  isNear: (cell: Cell<Point>) => boolean,
  size: number,
  maxCells: number
): ReadonlyArray<string> => {
  let work = 0
  let cells = roots.filter(isNear)
  for (;;) {
    const next: Array<Cell<Point>> = []
    for (const cell of cells) {
      if (cell.key.length > levels || work > maxWork) return keysOf(cells)
      work += 4 * (size + 1)
      next.push(...cell.parts().filter(isNear))
      if (next.length > maxCells) return keysOf(cells)
    }
    cells = next
    if (cells.length === 0) return []
  }
}

const keysOf = (cells: ReadonlyArray<Cell<unknown>>): ReadonlyArray<string> => cells.map(({ key }) => key)

const quarters: ReadonlyArray<readonly [digit: string, left: number, low: number]> = [
  ["\x01", 0, 0],
  ["\x02", 1, 0],
  ["\x03", 0, 1],
  ["\x04", 1, 1]
]

const smallest = (root: string, x: number, y: number, half: number): string => {
  let key = root
  let [centerX, centerY, step] = [0, 0, half / 2]
  for (let level = 0; level < levels; level++) {
    const [right, high] = [x >= centerX, y >= centerY]
    key += quarters[(right ? 1 : 0) + (high ? 2 : 0)]![0]
    centerX += right ? step : -step
    centerY += high ? step : -step
    step /= 2
  }
  return key
}

const quartersOf = <Point>(
  key: string,
  { x, y }: Pair,
  half: number,
  make: (key: string, center: Pair, half: number) => Cell<Point>
): ReadonlyArray<Cell<Point>> =>
  quarters.map(([digit, right, high]) =>
    make(key + digit, { x: x + (right - 0.5) * half, y: y + (high - 0.5) * half }, half / 2)
  )

const planeCell = (key: string, center: Pair, half: number): Cell<Pair> => ({
  key,
  center,
  radius: half * Math.SQRT2 * (1 + tolerance),
  parts: () => quartersOf(key, center, half, planeCell)
})

const plane = planeCell("\x01", { x: 0, y: 0 }, planeHalf)

// The six faces of a cube around the sphere, by the largest coordinate and its sign.
const faceOf = ({ x, y, z }: Vector): number => {
  const [absX, absY, absZ] = [Math.abs(x), Math.abs(y), Math.abs(z)]
  return absX >= absY && absX >= absZ ? (x >= 0 ? 0 : 3) : absY >= absZ ? (y >= 0 ? 1 : 4) : z >= 0 ? 2 : 5
}

const onFace = (face: number, { x, y, z }: Vector) => {
  const [depth, u, v] = face % 3 === 0 ? [x, y, z] : face % 3 === 1 ? [y, z, x] : [z, x, y]
  return { depth: Math.abs(depth), u, v }
}

const fromFace = (face: number, x: number, y: number): Vector => {
  const [depth, u, v] = [face < 3 ? 1 : -1, Math.tan(x), Math.tan(y)]
  const [a, b, c] = face % 3 === 0 ? [depth, u, v] : face % 3 === 1 ? [v, depth, u] : [u, v, depth]
  return unit({ x: a, y: b, z: c }) ?? { x: 1, y: 0, z: 0 }
}

// The sides of a cell are parts of great circles, so that the circle around its corners contains it.
const sphereCell = (face: number) => {
  const make = (key: string, { x, y }: Pair, half: number): Cell<Vector> => {
    const center = fromFace(face, x, y)
    const corners = [[-half, -half], [-half, half], [half, -half], [half, half]] as const
    const radius = Math.max(...corners.map(([dx, dy]) => angleBetween(center, fromFace(face, x + dx, y + dy))))
    return { key, center, radius: radius + tolerance, parts: () => quartersOf(key, { x, y }, half, make) }
  }
  return make(String.fromCharCode(1 + face), { x: 0, y: 0 }, Math.PI / 4)
}

const faces = [0, 1, 2, 3, 4, 5].map(sphereCell)
