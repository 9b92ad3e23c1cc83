/** The locations of a document: the values at a path, each of them a location or an array of locations. */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import { type Segments, someAt } from "../bson/path.ts"
import { isArray } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { cellComponent, covering, type IndexKind, keyOnPlane, keyOnSphere } from "./cells.ts"
import { legacyPair, storedGeometry } from "./geoJson.ts"
import { arcCount, distanceFrom, type Geometry } from "./geometry.ts"

/** Calls a function with each value at the path that may be a location, until it returns true. */
export const someLocation = (document: Document, path: Segments, test: (value: unknown) => boolean): boolean =>
  someAt(
    document,
    path,
    0,
    (value) => test(value) || (isArray(value) && value.some((item) => test(item))),
    (array) => charge(array.length)
  )

/** The key components of the locations at a path, none without a value. Rejects other values. */
export const locationKeys = (document: Document, path: Segments, kind: IndexKind): ReadonlySet<string> => {
  const keys = new Set<string>()
  const add = (value: unknown): void => {
    for (const cell of kind === "2d" ? planeCells(value) : sphereCells(storedGeometry(value))) {
      keys.add(cellComponent(cell))
    }
  }
  someAt(document, path, 0, (value) => {
    if (value === undefined || value === null) return false
    const isList = isArray(value) && legacyPair(value) === undefined
    if (isList) { for (const item of value) add(item) }
    else add(value)
    return false
  }, (array) => spend(array.length))
  return keys
}

// internal

// Of one shape in an index.
const maxCells = 8

const planeCells = (value: unknown): ReadonlyArray<string> => {
  const pair = legacyPair(value)
  const key = pair === undefined ? undefined : keyOnPlane(pair)
  return key === undefined ? reject("a 2d index needs a pair of coordinates from -180 to less than 180") : [key]
}

const sphereCells = (geometry: Geometry): ReadonlyArray<string> => {
  const { lines, points, polygons } = geometry
  const keys = points.map(keyOnSphere)
  if (lines.length + polygons.length === 0) return keys
  const shapes = { points: [], lines, polygons }
  const fromSphere = (point: Parameters<typeof distanceFrom>[1]) => distanceFrom(shapes, point)
  return [...keys, ...covering("2dsphere", { fromSphere, size: arcCount(shapes) }, maxCells) ?? []]
}
