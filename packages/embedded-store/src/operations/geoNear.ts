/** The stage `$geoNear`, the first one of a pipeline. It reads documents in the order of their distance. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import {
  type BatchIterator,
  boundOf,
  ended,
  type Filter,
  type IndexKind,
  isDocument,
  isNumber,
  makeNear,
  mapEach,
  type Memory,
  type Near,
  type Problem,
  reject,
  rejectWith,
  segmentsOf,
  toDouble,
  withValue
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Collection } from "../catalog/collection.ts"
import { nearbyDocuments, nearProblem, type ReadMatches } from "./nearDocuments.ts"

export interface GeoNearContext {
  readonly collection: Collection | undefined
  readonly memory: Memory
  readonly parseFilter: (filter: unknown) => Result.Result<Filter, Problem>
  readonly read: ReadMatches
}

/** The operand of a leading `$geoNear`. */
export const leadingGeoNear = ([stage]: ReadonlyArray<unknown>): unknown =>
  isDocument(stage) && Object.keys(stage).length === 1 ? stage["$geoNear"] : undefined

/** Parses the stage. The result starts the read. May throw. */
export const geoNear = (operand: unknown, context: GeoNearContext): () => BatchIterator =>
  documentsBy(optionsIn(operand), context)

// internal

interface Options {
  readonly near: unknown
  readonly distanceField: string
  readonly includeLocs: string | undefined
  readonly key: string | undefined
  readonly query: unknown
  readonly isSpherical: boolean
  readonly least: number
  readonly most: number
  readonly multiplier: number
}

const known = new Set([
  "near",
  "distanceField",
  "includeLocs",
  "key",
  "query",
  "spherical",
  "minDistance",
  "maxDistance",
  "distanceMultiplier"
])

const optionsIn = (operand: unknown): Options => {
  if (!isDocument(operand)) return reject("$geoNear needs options")
  const unknown = Object.keys(operand).find((key) => !known.has(key))
  if (unknown !== undefined) reject(`$geoNear has no option "${unknown}"`)
  const { distanceMultiplier = 1, maxDistance = Infinity, minDistance = 0, near, query = {} } = operand
  const { spherical = false } = operand
  if (typeof spherical !== "boolean" && !isNumber(spherical)) reject("spherical of $geoNear is either true or false")
  if (!isNumber(distanceMultiplier) || !(toDouble(distanceMultiplier) >= 0)) {
    return reject("distanceMultiplier of $geoNear must be a number from 0")
  }
  return {
    near,
    query,
    distanceField: pathIn(operand, "distanceField") ?? reject("$geoNear needs a distanceField"),
    includeLocs: pathIn(operand, "includeLocs"),
    key: pathIn(operand, "key"),
    isSpherical: isNumber(spherical) ? toDouble(spherical) !== 0 : spherical === true,
    least: boundOf(minDistance, "$geoNear"),
    most: boundOf(maxDistance, "$geoNear"),
    multiplier: toDouble(distanceMultiplier)
  }
}

const pathIn = (operand: Document, option: string): string | undefined => {
  const path = operand[option]
  return path === undefined || (typeof path === "string" && path !== "" && !path.startsWith("$"))
    ? path
    : reject(`${option} of $geoNear must be the path of a field`)
}

const documentsBy = (
  options: Options,
  { collection, memory, parseFilter, read }: GeoNearContext
): () => BatchIterator => {
  const { distanceField, includeLocs, multiplier, query } = options
  const filter = Result.getOrElse(parseFilter(query), rejectWith)
  if (filter.search !== undefined) reject("the query of $geoNear can't contain $text")
  const near = nearOf(options, collection)
  if (collection === undefined || near === undefined) return () => () => ended
  const [distancePath, locationPath] = [segmentsOf(distanceField), includeLocs && segmentsOf(includeLocs)]
  const ofDocuments = { ...filter, itemConditions: filter.itemConditions }
  return () =>
    mapEach(nearbyDocuments(ofDocuments, near, read, Infinity, memory), ({ document, nearest }) => {
      const measured = withValue(document, distancePath, nearest.distance / near.unit * multiplier)
      return locationPath ? withValue(measured, locationPath, nearest.location) : measured
    })
}

const nearOf = (options: Options, collection: Collection | undefined): Near | undefined => {
  const { isSpherical, key, near } = options
  if (collection === undefined) {
    makeNear(key ?? "", near, options, isSpherical)
    return undefined
  }
  const isGeoJson = isDocument(near) && typeof near["type"] === "string"
  const located = collection.indexes.filter(({ isReady }) => isReady).flatMap(({ kinds, paths }) =>
    paths.flatMap((path, i) => {
      const kind = kinds[i]
      return kind === undefined || (key !== undefined && key !== path) ? [] : [{ path, kind }]
    })
  )
  const preferred: ReadonlyArray<IndexKind> = isGeoJson ? ["2dsphere", "2d"] : ["2d", "2dsphere"]
  const kind = preferred.find((kind) => located.some((one) => one.kind === kind))
  if (kind === undefined) return reject("$geoNear needs an index of kind \"2dsphere\" or \"2d\"")
  const paths = new Set(located.filter((one) => one.kind === kind).map(({ path }) => path))
  const [path, ...others] = paths
  if (path === undefined || others.length > 0) {
    return reject(`there are several indexes of kind "${kind}": $geoNear needs a key`)
  }
  const made = makeNear(path, near, options, isSpherical || kind === "2dsphere")
  const problem = nearProblem(collection, made)
  return problem === undefined ? made : rejectWith(problem)
}
