/**
 * What a document holds at dotted paths, as MongoDB's indexes and sorts see it.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { compare, fieldOf, isArray, isDocument, setField } from "./value.ts"

/** @internal */
export type Segments = ReadonlyArray<string>

/** @internal */
export const segmentsOf = (path: string): Segments => path.split(".")

/** @internal */
export const isPosition = (segment: string): boolean =>
  // Names mostly begin with a letter, which is behind the digits.
  segment.charCodeAt(0) <= 0x39 && /^(?:0|[1-9]\d*)$/.test(segment)

/**
 * One value for each path. What is missing counts as `null`; an array without items, as nothing (`undefined`).
 *
 * @internal
 */
export type KeyValues = ReadonlyArray<unknown>

/**
 * The keys of a document: one for each item of an array on the way.
 *
 * @internal
 */
export interface DocumentKeys {
  readonly keys: ReadonlyArray<KeyValues>
  /** Whether the document has several keys, or might have had. */
  readonly multiple: boolean
}

// Where a walk along a path stands: at `node`, with the rest of the path before it.
interface Walk {
  readonly node: unknown
  readonly path: Segments
  readonly at: number
}

// To the end of the path, or to the first array.
const advance = (walk: Walk): Walk => {
  let { node, at } = walk
  while (at < walk.path.length) {
    const segment = walk.path[at] ?? ""
    if (isArray(node)) {
      if (!isPosition(segment)) break
      node = node[Number(segment)]
    } else if (isDocument(node)) node = fieldOf(node, segment)
    else {
      node = undefined
      at = walk.path.length
      break
    }
    at += 1
  }
  return { node, path: walk.path, at }
}

/**
 * The keys of a document for an index or a sort over these paths; fails with the paths of two different arrays, of
 * which MongoDB can't make keys.
 *
 * @internal
 */
export const keysOf = (document: Document, paths: ReadonlyArray<Segments>): Result.Result<DocumentKeys, string> =>
  expand(paths.map((path) => ({ node: document, path, at: 0 })))

const expand = (walks: ReadonlyArray<Walk>): Result.Result<DocumentKeys, string> => {
  const stops = walks.map(advance)
  const atArrays = stops.filter(({ node }) => isArray(node))
  const [first] = atArrays
  if (first === undefined || !isArray(first.node)) {
    return Result.succeed({ keys: [stops.map(({ node }) => unwrap(node ?? null))], multiple: false })
  }
  const other = atArrays.find(({ node }) => node !== first.node)
  if (other !== undefined) {
    return Result.fail(`cannot index parallel arrays: ${first.path.join(".")} and ${other.path.join(".")}`)
  }
  const array = first.node
  if (array.length === 0) {
    const key = stops.map(({ at, node, path }) =>
      node !== array ? unwrap(node ?? null) : at === path.length ? undefined : null
    )
    return Result.succeed({ keys: [key], multiple: true })
  }
  const keys: Array<KeyValues> = []
  for (const item of array) {
    const inner = expand(stops.map((stop) => stop.node === array ? enter(stop, item) : stop))
    if (Result.isFailure(inner)) return inner
    // There may be more of them than a call takes arguments.
    for (const key of inner.success.keys) keys.push(key)
  }
  return Result.succeed({ keys, multiple: true })
}

// An array in an array is a value of its own, into which no path leads.
const enter = (stop: Walk, item: unknown): Walk =>
  isArray(item)
    ? { node: stop.at === stop.path.length ? new Opaque(item) : undefined, path: stop.path, at: stop.path.length }
    : { node: item, path: stop.path, at: stop.at }

class Opaque {
  readonly value: ReadonlyArray<unknown>
  constructor(value: ReadonlyArray<unknown>) {
    this.value = value
  }
}

const unwrap = (value: unknown): unknown => value instanceof Opaque ? value.value : value

/**
 * A path and its direction.
 *
 * @internal
 */
export interface Direction {
  readonly path: Segments
  readonly descending: boolean
}

/** @internal */
export const compareKeys = (a: KeyValues, b: KeyValues, directions: ReadonlyArray<Direction>): number => {
  for (let i = 0; i < directions.length; i++) {
    const order = compare(a[i], b[i])
    if (order !== 0) return directions[i]?.descending === true ? -order : order
  }
  return 0
}

/**
 * The key by which a document is sorted: the first of its keys in that order.
 *
 * @internal
 */
export const sortKeyOf = (
  document: Document,
  directions: ReadonlyArray<Direction>
): Result.Result<KeyValues, string> => {
  const plain = plainKeyOf(document, directions)
  return plain !== undefined ? Result.succeed(plain) : Result.map(
    keysOf(document, directions.map(({ path }) => path)),
    ({ keys }) => keys.reduce((least, key) => compareKeys(key, least, directions) < 0 ? key : least)
  )
}

/** The one key that there is where no path leads into anything, and to no array: mostly. */
const plainKeyOf = (document: Document, directions: ReadonlyArray<Direction>): KeyValues | undefined => {
  const key: Array<unknown> = []
  for (const { path } of directions) {
    const value = path.length === 1 ? fieldOf(document, path[0]!) : nothing
    if (value === nothing || isArray(value)) return undefined
    key.push(unwrap(value ?? null))
  }
  return key
}

const nothing = Symbol("nothing")

/**
 * What is at a path that leads through documents only.
 *
 * @internal
 */
export const valueAt = (document: Document, path: Segments): unknown =>
  path.reduce<unknown>((node, segment) => isDocument(node) ? fieldOf(node, segment) : undefined, document)

/**
 * A copy of the document with another value at a path; `undefined` leaves it out.
 *
 * @internal
 */
export const withValue = (document: Document, [segment = "", ...rest]: Segments, value: unknown): Document => {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    if (key !== segment || rest.length > 0 || value !== undefined) setField(copy, key, document[key])
  }
  const inner = fieldOf(document, segment)
  if (rest.length > 0) setField(copy, segment, withValue(isDocument(inner) ? inner : {}, rest, value))
  else if (value !== undefined) setField(copy, segment, value)
  return copy
}
