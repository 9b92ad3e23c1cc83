/**
 * Dotted paths: the one place where a path is walked through a document.
 *
 * MongoDB reads a path in five ways, which differ at arrays:
 * - {@link keysAtPath} and {@link sortKeyOf}: one key for each item of an array, for indexes and sorts.
 * - {@link someAt}: whether any value at the path meets a condition, for filters.
 * - {@link forEachValue}: each value at the path, items of a final array one by one, for `distinct`, text search and joins.
 * - {@link valueAt} and {@link withValue}: through documents only, for projections and stages.
 * - {@link childOf}: one step into a document, or to an array's item by its index, for updates and expressions.
 */
import { getOrMake, spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import type { Collator } from "./collator.ts"
import { compare, isArray, isDocument, ownField, setField } from "./value.ts"

export type Segments = ReadonlyArray<string>

/** The fields of a reference to a document, whose names begin with `$` as no others do. */
export const isReferenceField = (name: string): boolean => name === "$ref" || name === "$id" || name === "$db"

export const segmentsOf = (path: string): Segments => path.split(".")

export const isArrayIndex = (segment: string): boolean =>
  // Most names begin with a letter, whose code is above the digits, and so need no regular expression.
  segment.charCodeAt(0) <= 0x39 && /^(?:0|[1-9]\d*)$/.test(segment)

/** The value one step along a path: a field of a document, or an item of an array by its index; else `undefined`. */
export const childOf = (node: unknown, segment: string): unknown =>
  isDocument(node)
    ? ownField(node, segment)
    : isArray(node) && isArrayIndex(segment)
    ? node[Number(segment)]
    : undefined

/**
 * Whether a value at the path passes the test, as filters read paths: an array on the way is entered both by index and
 * through each of its documents. A missing value is tested as `undefined`. `isItem` says that the last segment was an
 * array index. `visit` is called before the items of an array on the way are, to count them, and may throw.
 */
export const someAt = (
  node: unknown,
  path: Segments,
  at: number,
  test: (value: unknown, isItem: boolean) => boolean,
  visit: (array: ReadonlyArray<unknown>) => void,
  isItem = false,
  entered?: EnteredArrays
): boolean => {
  const segment = path[at]
  if (segment === undefined) return test(node, isItem)
  if (isDocument(node)) return someAt(ownField(node, segment), path, at + 1, test, visit, false, entered)
  if (!isArray(node)) return test(undefined, false)
  let within = entered
  if (isArrayIndex(segment)) {
    if (entered?.isNew(node, at) === false) return false
    within ??= new EnteredArrays()
    // An index beyond the last item leads to a missing value.
    if (someAt(node[Number(segment)], path, at + 1, test, visit, true, within)) return true
  }
  visit(node)
  for (const item of node) if (isDocument(item) && someAt(item, path, at, test, visit, false, within)) return true
  return false
}

/**
 * The arrays that were entered in two ways, and where on the path: by index and through documents they can be reached again
 * and again, which would double the work with each level.
 */
class EnteredArrays {
  #places: Map<ReadonlyArray<unknown>, Set<number>> | undefined = undefined

  /** Adds an array; returns whether it has not been entered at this place on the path. */
  isNew(array: ReadonlyArray<unknown>, at: number): boolean {
    const places = getOrMake(this.#places ??= new Map(), array, () => new Set())
    return places.size < places.add(at).size
  }
}

/** Whether the document has a value at the path, as {@link someAt} reads it. */
export const existsAt = (document: Document, path: Segments): boolean =>
  someAt(document, path, 0, isDefined, (array) => spend(array.length))

const isDefined = (value: unknown): boolean => value !== undefined

/** Visits each value at the path, a final array item by item; missing values are not visited. */
export const forEachValue = (
  node: unknown,
  path: Segments,
  visit: (value: unknown) => void,
  at = 0
): void => {
  const segment = path[at]
  if (segment === undefined) {
    if (isArray(node)) node.forEach((item) => visit(item))
    else if (node !== undefined) visit(node)
  } else if (isDocument(node)) forEachValue(ownField(node, segment), path, visit, at + 1)
  else if (isArray(node)) {
    if (isArrayIndex(segment)) forEachValue(node[Number(segment)], path, visit, at + 1)
    else for (const item of node) if (isDocument(item)) forEachValue(item, path, visit, at)
  }
}

/** One value for each path. A missing value is `null`; an empty array is `undefined`, which orders before `null`. */
export type KeyValues = ReadonlyArray<unknown>

/** The index keys of a document: one for each item of an array on the path. */
interface DocumentKeys {
  readonly keys: ReadonlyArray<KeyValues>
  /** Whether an array is on a path, which makes the index multikey. */
  readonly multiple: boolean
}

// A position on a path: `node` is the value at it, `at` the index of the next segment.
interface PathPosition {
  readonly node: unknown
  readonly path: Segments
  readonly at: number
}

// Moves to the end of the path, or to the first array that the path does not index.
const advance = (position: PathPosition): PathPosition => {
  let { node, at } = position
  while (at < position.path.length) {
    const segment = position.path[at] ?? ""
    if (isArray(node)) {
      if (!isArrayIndex(segment)) break
      node = node[Number(segment)]
    } else if (isDocument(node)) node = ownField(node, segment)
    else {
      node = undefined
      at = position.path.length
      break
    }
    at += 1
  }
  return { node, path: position.path, at }
}

/**
 * The keys of a document for an index or a sort over these paths. Fails when two paths lead through different arrays,
 * since MongoDB can't index parallel arrays, or if there are more keys than the limit.
 */
export const keysAtPath = (
  document: Document,
  paths: ReadonlyArray<Segments>,
  limit = Infinity
): Result.Result<DocumentKeys, string> => expand(paths.map((path) => ({ node: document, path, at: 0 })), limit)

// The work of making a key.
const keyCost = 50

/** With `entered`, an array that is entered again by the only path has no keys: they are those of before. */
const expand = (
  positions: ReadonlyArray<PathPosition>,
  limit: number,
  entered?: EnteredArrays
): Result.Result<DocumentKeys, string> => {
  const stops = positions.map(advance)
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
  if (stops.length === 1 && entered?.isNew(array, first.at) === false) {
    return Result.succeed({ keys: [], multiple: true })
  }
  spend(keyCost * array.length)
  const keys: Array<KeyValues> = []
  for (const item of array) {
    if (keys.length >= limit) {
      return Result.fail(`too many values of ${first.path.join(".")} in the lists of a document`)
    }
    const inner = expand(
      stops.map((stop) => stop.node === array ? enter(stop, item) : stop),
      limit - keys.length,
      entered
    )
    if (Result.isFailure(inner)) return inner
    // Not spread into one call of `push`: the number of arguments is limited.
    for (const key of inner.success.keys) keys.push(key)
  }
  return Result.succeed({ keys, multiple: true })
}

// An array in an array is an opaque value: MongoDB follows no path into it.
const enter = (stop: PathPosition, item: unknown): PathPosition =>
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

/** A path of a sort or an index, and its direction. */
export interface Direction {
  readonly path: Segments
  readonly descending: boolean
  /** How texts compare, unless by their code points. */
  readonly collator?: Collator | undefined
}

export const compareKeys = (a: KeyValues, b: KeyValues, directions: ReadonlyArray<Direction>): number => {
  for (let i = 0; i < directions.length; i++) {
    const order = compare(a[i], b[i], directions[i]?.collator?.compareTexts)
    if (order !== 0) return directions[i]?.descending === true ? -order : order
  }
  return 0
}

/** The key by which a document is sorted: the least of its keys in the order of the sort. */
export const sortKeyOf = (
  document: Document,
  directions: ReadonlyArray<Direction>
): Result.Result<KeyValues, string> => {
  const topLevel = topLevelKeyOf(document, directions)
  return topLevel !== undefined ? Result.succeed(topLevel) : Result.map(
    expand(directions.map(({ path }) => ({ node: document, path, at: 0 })), Infinity, new EnteredArrays()),
    ({ keys }) => keys.reduce((least, key) => compareKeys(key, least, directions) < 0 ? key : least)
  )
}

/** The fast path for most sorts: the only key, if all paths are top-level fields without arrays; else `undefined`. */
const topLevelKeyOf = (document: Document, directions: ReadonlyArray<Direction>): KeyValues | undefined => {
  const key: Array<unknown> = []
  for (const { path } of directions) {
    if (path.length !== 1) return undefined
    const value = ownField(document, path[0]!)
    if (isArray(value)) return undefined
    key.push(unwrap(value ?? null))
  }
  return key
}

/** The value at a path through documents only; `undefined` where the path meets an array. */
export const valueAt = (document: Document, path: Segments): unknown =>
  path.reduce<unknown>((node, segment) => isDocument(node) ? ownField(node, segment) : undefined, document)

/** A copy of the document with another value at a path; `undefined` removes the field. */
export const withValue = (document: Document, [segment = "", ...rest]: Segments, value: unknown): Document => {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    if (key !== segment || rest.length > 0 || value !== undefined) setField(copy, key, document[key])
  }
  const inner = ownField(document, segment)
  if (rest.length > 0) setField(copy, segment, withValue(isDocument(inner) ? inner : {}, rest, value))
  else if (value !== undefined) setField(copy, segment, value)
  return copy
}

/** A path that conflicts with another one of the list: it is the same, or one of them leads through the other. */
export const conflictingPath = (paths: ReadonlyArray<string>): string | undefined => {
  // Sorted with a final dot, a path directly follows the one that it leads through.
  const sorted = paths.map((path) => `${path}.`).toSorted()
  return sorted.find((path, i) => i > 0 && path.startsWith(sorted[i - 1] ?? path))?.slice(0, -1)
}
