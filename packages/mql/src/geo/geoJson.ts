/** Parses the locations that documents and queries hold: GeoJSON, and MongoDB's legacy pairs of coordinates. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { toDouble } from "../bson/number.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { catchRejection, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { type Geometry, makeLine, pointAt } from "./geometry.ts"
import { makeRings } from "./ring.ts"
import { antipodeOf, fromDegrees, isSame, type Vector } from "./sphere.ts"

/** A pair of coordinates. */
export interface Pair {
  readonly x: number
  readonly y: number
}

/** Parses a GeoJSON object. Rejects one that is invalid. */
export const parseGeoJson = (value: unknown): Geometry => {
  if (!isDocument(value)) return reject("a geometry must be a GeoJSON object")
  checkSystem(value["crs"])
  const type = value["type"]
  const parser = typeof type === "string" ? parsers.get(type) : undefined
  if (parser !== undefined) return parser(value["coordinates"])
  if (type !== "GeometryCollection") return reject("the type of a geometry must be one of GeoJSON's")
  const { geometries } = value
  if (!isArray(geometries) || geometries.length === 0) return reject("a GeometryCollection needs geometries")
  if (geometries.some((geometry) => isDocument(geometry) && geometry["type"] === type)) {
    return reject("a GeometryCollection can't be in another one")
  }
  return together(geometries.map(parseGeoJson))
}

/** A legacy pair of coordinates: an array or a document that begins with two numbers. */
export const legacyPair = (value: unknown): Pair | undefined => {
  const [x, y] = isArray(value) ? value : isDocument(value) ? firstTwo(value) : []
  return isNumber(x) && isNumber(y) ? { x: toDouble(x), y: toDouble(y) } : undefined
}

/** The location on the sphere that a stored value is: GeoJSON, or a legacy pair. Rejects anything else. */
export const storedGeometry = (value: unknown): Geometry => {
  if (isGeoJson(value)) return parseGeoJson(value)
  const pair = legacyPair(value)
  return pair === undefined ? reject("a location must be GeoJSON or a pair of coordinates") : pointAt(onSphere(pair))
}

/** {@link storedGeometry}, or `undefined` where it is rejected. */
export const geometryIn = (value: unknown): Geometry | undefined => {
  // Most values that are no geometry are neither array nor document.
  if (!isArray(value) && !isDocument(value)) return undefined
  const geometry = catchRejection(() => storedGeometry(value))
  if (Result.isSuccess(geometry)) return geometry.success
  // An exhausted budget still ends the query.
  charge(0)
  return undefined
}

/** {@link legacyPair} of finite numbers. */
export const finitePair = (value: unknown): Pair | undefined => {
  const pair = legacyPair(value)
  return pair !== undefined && Number.isFinite(pair.x) && Number.isFinite(pair.y) ? pair : undefined
}

/** The point on the plane that a stored value is: a legacy pair, or a GeoJSON point. */
export const pairIn = (value: unknown): Pair | undefined =>
  isGeoJson(value) ? (value["type"] === "Point" ? finitePair(value["coordinates"]) : undefined) : finitePair(value)

/** The point of the Earth at a pair of degrees. Rejects a pair out of bounds. */
export const onSphere = ({ x, y }: Pair): Vector =>
  Math.abs(x) <= 180 && Math.abs(y) <= 90
    ? fromDegrees(x, y)
    : reject(`longitude and latitude must be within -180 to 180 and -90 to 90 degrees, not ${x} and ${y}`)

// internal

const firstTwo = (value: Document): ReadonlyArray<unknown> => {
  const values: Array<unknown> = []
  for (const key in value) if (values.push(value[key]) === 2) break
  return values
}

const isGeoJson = (value: unknown): value is Document => isDocument(value) && typeof value["type"] === "string"

const systems = new Set(["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"])

const checkSystem = (system: unknown): void => {
  if (system === undefined) return
  const properties = isDocument(system) && system["type"] === "name" ? system["properties"] : undefined
  const name = isDocument(properties) ? properties["name"] : undefined
  if (typeof name !== "string") reject("crs needs the name of a coordinate system")
  else if (name === "urn:x-mongodb:crs:strictwinding:EPSG:4326") {
    rejectWith(unsupported("a polygon with strict winding"))
  } else if (!systems.has(name)) reject(`"${name}" is no coordinate system that can be used here`)
}

const listOf = (value: unknown, least: number, kind: string): ReadonlyArray<unknown> =>
  isArray(value) && value.length >= least ? value : reject(`the coordinates of a ${kind} need at least ${least} items`)

const position = (value: unknown): Vector => {
  const pair = isArray(value) ? legacyPair(value) : undefined
  return pair === undefined ? reject("a position must be an array of a longitude and a latitude") : onSphere(pair)
}

const lineOf = (value: unknown) => {
  const vertices = listOf(value, 2, "LineString").map(position)
  charge(vertices.length)
  const different = vertices.filter((vertex, i) => i === 0 || !isSame(vertex, vertices[i - 1]!))
  if (different.length < 2) return reject("a LineString needs at least 2 different positions")
  if (different.some((vertex, i) => i > 0 && isSame(vertex, antipodeOf(different[i - 1]!)))) {
    return reject("an edge can't connect opposite points of the Earth")
  }
  return makeLine(different)
}

const polygonOf = (value: unknown) =>
  makeRings(listOf(value, 1, "Polygon").map((ring) => listOf(ring, 4, "ring of a polygon").map(position)))

const parsers: ReadonlyMap<string, (coordinates: unknown) => Geometry> = new Map([
  ["Point", (value) => pointAt(position(value))],
  ["MultiPoint", (value) => ({ points: listOf(value, 1, "MultiPoint").map(position), lines: [], polygons: [] })],
  ["LineString", (value) => ({ points: [], lines: [lineOf(value)], polygons: [] })],
  [
    "MultiLineString",
    (value) => ({ points: [], lines: listOf(value, 1, "MultiLineString").map(lineOf), polygons: [] })
  ],
  ["Polygon", (value) => ({ points: [], lines: [], polygons: [polygonOf(value)] })],
  ["MultiPolygon", (value) => ({ points: [], lines: [], polygons: listOf(value, 1, "MultiPolygon").map(polygonOf) })]
])

const together = (geometries: ReadonlyArray<Geometry>): Geometry => ({
  points: geometries.flatMap(({ points }) => points),
  lines: geometries.flatMap(({ lines }) => lines),
  polygons: geometries.flatMap(({ polygons }) => polygons)
})
