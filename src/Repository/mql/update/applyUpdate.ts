/**
 * Applies MongoDB's updates to a document. An update is applied completely or not at all.
 */
import * as Result from "effect/Result"
import { maxDepth } from "../../bson/limits.ts"
import { dateOf, normalise } from "../../bson/normalise.ts"
import { isArrayIndex, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument, isIdentical } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { matchedItem } from "../filter/matchedItem.ts"
import type { Filter } from "../filter/parseFilter.ts"
import { catchRejection, type Problem, rejected } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { type ArrayFilters, expandPath, isItems, parseArrayFilters } from "./arrayFilters.ts"
import { changedValue, noChange } from "./changedValue.ts"
import { assignAt, locate, removeAt } from "./fields.ts"
import { fromEqualities, keepingId, keptId, withId } from "./newDocument.ts"
import { type Change, readChanges, withoutConflict } from "./parseUpdate.ts"
import { parsePipelineUpdate } from "./pipelineUpdate.ts"

/** @internal */
export interface Update {
  /** The updated form of a document that the filter matches; `undefined` if the update changes nothing. */
  readonly apply: (document: Document, filter: Filter) => Result.Result<Document | undefined, Problem>
  /** The document that an upsert inserts when the filter matches none. */
  readonly insert: (filter: Filter) => Result.Result<Document, Problem>
}

/**
 * Parses an update.
 *
 * @internal
 */
export const parseUpdate = (
  update: unknown,
  context: ExpressionContext,
  arrayFilters?: ReadonlyArray<unknown>
): Result.Result<Update, Problem> => {
  if (isArray(update)) return parseStages(update, context, arrayFilters)
  const filters = parseArrayFilters(arrayFilters, context)
  if (Result.isFailure(filters)) return Result.fail(filters.failure)
  const read = Result.flatMap(
    Result.mapError(normalise(update), rejected),
    (normalised) => readChanges(normalised, context, filters.success)
  )
  return Result.map(read, (changes): Update => {
    const ordered = changes.toSorted((a, b) => comparePaths(a.path, b.path))
    const existing = ordered.filter(({ operator }) => operator !== "$setOnInsert")
    const placed = changes.some(({ path }) => path.includes(".$"))
      ? placing(filters.success)
      : (changes: ReadonlyArray<Change>) => Result.succeed(changes)
    const applyTo = (changes: ReadonlyArray<Change>, document: Document, filter: Filter) =>
      Result.flatMap(placed(changes, document, filter), (exact) => apply(exact, document))
    return {
      apply: (document, filter) => applyTo(existing, document, filter),
      insert: (filter) =>
        Result.flatMap(
          fromEqualities(filter),
          (document) => Result.map(applyTo(ordered, document, filter), (changed) => withId(changed ?? document))
        )
    }
  })
}

/** An update by a pipeline. */
const parseStages = (
  stages: ReadonlyArray<unknown>,
  context: ExpressionContext,
  arrayFilters: ReadonlyArray<unknown> = []
): Result.Result<Update, Problem> =>
  arrayFilters.length > 0
    ? Result.fail(rejected("an update by a pipeline can't have array filters"))
    : Result.map(parsePipelineUpdate(stages, context), (compute): Update => ({
      apply: (previous) => Result.map(compute(previous), (next) => isIdentical(next, previous) ? undefined : next),
      insert: (filter) => Result.map(Result.flatMap(fromEqualities(filter), compute), withId)
    }))

// MongoDB's order of the fields that an update makes: by their names, and numbers by their value.
const comparePaths = (a: string, b: string): number => {
  const [left, right] = [segmentsOf(a), segmentsOf(b)]
  const at = left.findIndex((segment, i) => segment !== right[i])
  const [x, y] = [left[at] ?? "", right[at] ?? ""]
  if (at < 0) return left.length - right.length
  if (isArrayIndex(x) && isArrayIndex(y)) return Number(x) - Number(y)
  return x < y ? -1 : 1
}

/** Replaces `$`, `$[]` and `$[name]` in paths by the places of a document's items. */
const placing = (filters: ArrayFilters) => {
  const matched = matchedPlaces()
  return (
    changes: ReadonlyArray<Change>,
    document: Document,
    filter: Filter
  ): Result.Result<ReadonlyArray<Change>, Problem> =>
    Result.flatMap(
      Result.all(changes.map((change) => matched(change, document, filter))),
      (positioned) =>
        positioned.some(({ path }) => segmentsOf(path).some(isItems))
          ? expandPaths(positioned, document, filters)
          : withoutConflict(positioned)
    )
}

/** Replaces `$` in a path by the place of the item that the filter matched. */
const matchedPlaces = () => {
  // An update of many documents has one filter.
  let latest: Filter | undefined
  const known = new Map<string, ReturnType<typeof matchedItem>>()
  return (change: Change, document: Document, filter: Filter): Result.Result<Change, Problem> => {
    const segments = segmentsOf(change.path)
    const at = segments.indexOf("$")
    if (at < 0) return Result.succeed(change)
    if (segments.includes("$", at + 1)) return Result.fail(rejected(`"${change.path}" has more than one $`))
    if (filter !== latest) known.clear()
    latest = filter
    const list = segments.slice(0, at).join(".")
    return Result.flatMap(
      catchRejection(() => {
        if (!known.has(list)) known.set(list, matchedItem(filter.itemConditions, list))
        return known.get(list)?.(document)
      }),
      (place) =>
        place === undefined
          ? Result.fail(rejected(`the filter matches no item for the $ in "${change.path}"`))
          : Result.succeed({ ...change, path: segments.with(at, String(place)).join(".") })
    )
  }
}

/** Replaces each change of a path with `$[]` by one change for each matching item. */
const expandPaths = (
  changes: ReadonlyArray<Change>,
  document: Document,
  filters: ArrayFilters
): Result.Result<ReadonlyArray<Change>, Problem> =>
  Result.flatMap(
    Result.all(changes.map((change) =>
      Result.map(
        expandPath(document, change.path, filters),
        (paths) => paths.map((path): Change => ({ ...change, path }))
      )
    )),
    (changes) => withoutConflict(changes.flat())
  )

/**
 * Parses a replacement.
 *
 * @internal
 */
export const parseReplacement = (replacement: unknown): Result.Result<Update, Problem> =>
  Result.flatMap(Result.mapError(normalise(replacement), rejected), (document): Result.Result<Update, Problem> => {
    const [first] = Object.keys(document)
    if (first?.startsWith("$") === true) return Result.fail(rejected("a replacement can't have operators"))
    return Result.succeed({
      apply: (previous) =>
        Result.map(keepingId(document, previous["_id"]), (next) => isIdentical(next, previous) ? undefined : next),
      insert: ({ equalities }) =>
        Result.map(keepingId(document, equalities.find(([path]) => path === "_id")?.[1]), withId)
    })
  })

const apply = (
  changes: ReadonlyArray<Change>,
  document: Document
): Result.Result<Document | undefined, Problem> => {
  let changed = document
  for (const change of changes) {
    const { operand, operator, path } = change
    const segments = segmentsOf(path)
    const before = locate(document, segments)
    const value = changedValue(change, document, before)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success === noChange) continue
    const target = operator === "$rename" ? segmentsOf(String(operand)) : segments
    if (operator === "$unset" || operator === "$rename") changed = removeAt(changed, segments)
    else if ("value" in before && before.value !== undefined && isIdentical(value.success, before.value)) continue
    if (operator === "$unset") continue
    if (isTooDeep(value.success, target.length)) return Result.fail(rejected(tooDeep))
    changed = assignAt(changed, target, ownValue(value.success))
  }
  if (changed === document) return Result.succeed(undefined)
  const kept = keptId(changed, document["_id"])
  return Result.isSuccess(kept) && changes.some(({ path }) => mayPadArray(path)) ? checkSize(kept.success) : kept
}

/** Whether a value that is so many levels below a document has more levels than a document may have. */
const isTooDeep = (value: unknown, level: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  const parts = isArray(value) ? value : isDocument(value) ? Object.values(value) : undefined
  return parts !== undefined && (level > maxDepth || parts.some((part) => isTooDeep(part, level + 1)))
}

const tooDeep = `nested more than ${maxDepth} levels deep`

/** A value that no other document has, since a date can be changed in place. */
const ownValue = (value: unknown): unknown =>
  value instanceof Date ? dateOf(value.getTime()) : isArray(value) ? Object.freeze(value) : value

// Whether an update may pad an array and so make a document much larger than the update.
const mayPadArray = (path: string): boolean =>
  segmentsOf(path).some((segment) => isArrayIndex(segment) && segment.length > 3)
