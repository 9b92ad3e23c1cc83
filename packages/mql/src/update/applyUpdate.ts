/**
 * Applies MongoDB's updates to a document: by operators, or by a pipeline that computes the document which replaces it. An update is applied completely or not at all.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { maxNesting } from "../bson/limits.ts"
import { dateOf, normalise } from "../bson/normalise.ts"
import { isArrayIndex, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, isIdentical } from "../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { matchedItem } from "../filter/matchedItem.ts"
import type { Filter } from "../filter/parseFilter.ts"
import { beginEvaluation, workOfEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { documentStages } from "../projection/documentStages.ts"
import type { Projection } from "../projection/parseProjection.ts"
import { type ArrayFilters, expandPath, parseArrayFilters } from "./arrayFilters.ts"
import { changedValue, noChange } from "./changedValue.ts"
import { Draft, locate } from "./fields.ts"
import { beginningWithId, fromEqualities, keepingId, keptId } from "./newDocument.ts"
import { type DocumentChange, readChanges, withoutConflict } from "./parseUpdate.ts"

export interface Update {
  /** The updated form of a document that the filter matches; `undefined` if the update changes nothing. */
  readonly apply: (document: Document, filter: Filter) => Result.Result<Document | undefined, Problem>
  /** The document that an upsert inserts when the filter matches none. */
  readonly insert: (filter: Filter) => Result.Result<Document, Problem>
}

export const parseUpdate = (
  update: unknown,
  context: ExpressionContext,
  arrayFilters?: ReadonlyArray<unknown>
): Result.Result<Update, Problem> =>
  catchRejection(() =>
    isArray(update) ? parseStages(update, context, arrayFilters) : parseOperators(update, context, arrayFilters)
  )

export const parseReplacement = (replacement: unknown): Result.Result<Update, Problem> =>
  catchRejection(() => {
    const document = Result.getOrElse(normalise(replacement), reject)
    const [first] = Object.keys(document)
    if (first?.startsWith("$") === true) return reject("a replacement can't have operators")
    return makeUpdate(
      (previous) => unlessAlike(keepingId(document, previous["_id"]), previous),
      ({ equalities }) => keepingId(document, equalities.find(([path]) => path === "_id")?.[1])
    )
  })

// internal

/** An update by functions that make the next form of a document, which may be the same, and a new document. Both may throw. */
const makeUpdate = (
  next: (previous: Document, filter: Filter) => Document,
  first: (filter: Filter) => Document
): Update => ({
  apply: (previous, filter) =>
    catchRejection(() => {
      const changed = next(previous, filter)
      return changed === previous ? undefined : changed
    }),
  insert: (filter) => catchRejection(() => beginningWithId(first(filter)))
})

const unlessAlike = (next: Document, previous: Document): Document => isIdentical(next, previous) ? previous : next

const parseOperators = (
  update: unknown,
  context: ExpressionContext,
  arrayFilters: ReadonlyArray<unknown> | undefined
): Update => {
  const filters = parseArrayFilters(arrayFilters, context)
  const changes = readChanges(Result.getOrElse(normalise(update), reject), context, filters)
  const ordered = changes.toSorted((a, b) => comparePaths(a.path, b.path))
  const existing = ordered.filter(({ operator }) => operator !== "$setOnInsert")
  const placed = changes.some(({ path }) => path.includes(".$")) ? placing(filters) : undefined
  const applyTo = (changes: ReadonlyArray<DocumentChange>, document: Document, filter: Filter) =>
    apply(placed === undefined ? changes : placed(changes, document, filter), document)
  return makeUpdate(
    (previous, filter) => applyTo(existing, previous, filter),
    (filter) => applyTo(ordered, fromEqualities(filter), filter)
  )
}

const parseStages = (
  stages: ReadonlyArray<unknown>,
  context: ExpressionContext,
  arrayFilters: ReadonlyArray<unknown> = []
): Update => {
  if (arrayFilters.length > 0) return reject("an update by a pipeline can't have array filters")
  const compute = parsePipelineUpdate(stages, context)
  return makeUpdate(
    (previous) => unlessAlike(compute(previous), previous),
    (filter) => compute(fromEqualities(filter))
  )
}

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
    changes: ReadonlyArray<DocumentChange>,
    document: Document,
    filter: Filter
  ): ReadonlyArray<DocumentChange> => {
    const positioned = changes.map((change) => matched(change, document, filter))
    beginEvaluation()
    return withoutConflict(
      positioned.flatMap((change) =>
        expandPath(document, change.path, filters).map((path): DocumentChange => ({ ...change, path }))
      )
    )
  }
}

/** Replaces `$` in a path by the place of the item that the filter matched. */
const matchedPlaces = () => {
  // An update of many documents has one filter.
  let latest: Filter | undefined
  const known = new Map<string, ReturnType<typeof matchedItem>>()
  return (change: DocumentChange, document: Document, filter: Filter): DocumentChange => {
    const segments = segmentsOf(change.path)
    const at = segments.indexOf("$")
    if (at < 0) return change
    if (segments.includes("$", at + 1)) return reject(`"${change.path}" has more than one $`)
    if (filter !== latest) known.clear()
    latest = filter
    const list = segments.slice(0, at).join(".")
    if (!known.has(list)) known.set(list, matchedItem(filter.itemConditions, list))
    const place = known.get(list)?.(document)
    return place === undefined
      ? reject(`the filter matches no item for the $ in "${change.path}"`)
      : { ...change, path: segments.with(at, String(place)).join(".") }
  }
}

/** The document itself if nothing changes. */
const apply = (changes: ReadonlyArray<DocumentChange>, document: Document): Document => {
  let draft: Draft | undefined
  for (const change of changes) {
    const { operand, operator, path } = change
    const segments = segmentsOf(path)
    const before = locate(document, segments)
    const value = changedValue(change, document, before)
    if (value === noChange) continue
    const target = operator === "$rename" ? segmentsOf(String(operand)) : segments
    if (operator === "$unset" || operator === "$rename") {
      draft ??= new Draft(document)
      draft.remove(segments)
    } else if ("value" in before && before.value !== undefined && isIdentical(value, before.value)) continue
    if (operator === "$unset") continue
    if (isTooDeep(value, target.length)) return reject(tooDeep)
    draft ??= new Draft(document)
    draft.assign(target, ownValue(value))
  }
  if (draft === undefined) return document
  const kept = keptId(draft.finish(), document["_id"])
  return changes.some(({ path }) => mayPadArray(path)) ? checkSize(kept) : kept
}

/** Whether a value that is so many levels below a document has more levels than a document may have. */
const isTooDeep = (value: unknown, level: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  const parts = isArray(value) ? value : isDocument(value) ? Object.values(value) : undefined
  return parts !== undefined && (level > maxNesting || parts.some((part) => isTooDeep(part, level + 1)))
}

const tooDeep = `nested more than ${maxNesting} levels deep`

/**
 * A value that no other document has, since a date can be changed in place. A whole number that was beside fractions is in an object
 * of V8's. If it stayed there, V8 would make another shape for all documents like this one, and copy each when it is next read.
 */
const ownValue = (value: unknown): unknown => {
  if (typeof value === "number") return Object.is(value | 0, value) ? value | 0 : value
  return value instanceof Date ? dateOf(value.getTime()) : isArray(value) ? Object.freeze(value) : value
}

// Whether an update may pad an array and so make a document much larger than the update.
const mayPadArray = (path: string): boolean =>
  segmentsOf(path).some((segment) => isArrayIndex(segment) && segment.length > 3)

/** Parses the stages of an update. The result computes the next form of a document, whose `_id` stays. May throw. */
const parsePipelineUpdate = (
  given: ReadonlyArray<unknown>,
  context: ExpressionContext
): Projection => {
  if (given.length === 0) return reject("an update by a pipeline needs stages")
  if (given.length > maxStages) return reject(`a pipeline may have ${maxStages} stages at most`)
  const normalised = Result.getOrElse(normalise({ given }), reject)
  const stages = itemsOf(normalised["given"]).map((stage) => parseStage(stage, context))
  return (previous) => {
    let next = previous
    let work = 0
    for (const stage of stages) {
      if (work > maxWork) return reject("the update has too much to compute for one document")
      next = stage(next)
      work += workOfEvaluation() + costOfField * Object.keys(next).length
    }
    return Result.getOrElse(normalise(keepingId(next, previous["_id"])), reject)
  }
}

// MongoDB's limit.
const maxStages = 1000

// About half a second for all stages, which run in one turn.
const maxWork = 50_000_000

// Each stage copies the fields.
const costOfField = 20

const itemsOf = (value: unknown): ReadonlyArray<unknown> => isArray(value) ? value : []

const parseStage = (stage: unknown, context: ExpressionContext): Projection => {
  const [name = "", ...others] = isDocument(stage) ? Object.keys(stage) : []
  const parse = documentStages.get(name)
  return !isDocument(stage) || others.length > 0
    ? reject("a stage must be a document with exactly one field")
    : parse === undefined
    ? reject(`${name} is no stage of an update: they are ${Array.from(documentStages.keys()).join(", ")}`)
    : parse(stage[name], context)
}
