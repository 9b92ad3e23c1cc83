/**
 * Applies MongoDB's updates to a document. Changes that MongoDB rejects are rejected here; operators that mingo computes
 * differently are computed here and passed to mingo's updater as a `$set`. An update is applied completely or not at all.
 */
import { ObjectId } from "bson"
import * as Result from "effect/Result"
import { updateOne } from "mingo/updater"
import { normalise } from "../../bson/normalise.ts"
import { add, multiply } from "../../bson/number.ts"
import { childOf, compareKeys, isArrayIndex, segmentsOf, sortKeyOf } from "../../bson/path.ts"
import { compare, fieldOf, isArray, isDocument, isIdentical, isNumber, setField } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { thaw } from "../expression/mingoDocuments.ts"
import { tryMingo, updateContext } from "../expression/operators.ts"
import type { Filter } from "../filter/parseFilter.ts"
import { type Problem, rejected, unsupported } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { escapePath } from "../predicate/comparison.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { type ArrayFilters, expandPath, isItems, parseArrayFilters } from "./arrayFilters.ts"
import { type Change, type Push, readChanges, withoutConflict } from "./parseUpdate.ts"

/** @internal */
export interface Update {
  /** The updated form of a document that the filter matches; `undefined` if the update changes nothing. */
  readonly apply: (document: Document, filter: Filter) => Result.Result<Document | undefined, Problem>
  /** The document that an upsert inserts when the filter matches none. */
  readonly insert: (filter: Filter) => Result.Result<Document, Problem>
}

/**
 * Parses an update. `now` is the time of `$currentDate` in milliseconds.
 *
 * @internal
 */
export const parseUpdate = (
  update: unknown,
  now: number,
  arrayFilters?: ReadonlyArray<unknown>
): Result.Result<Update, Problem> => {
  if (isArray(update)) return Result.fail(unsupported("an update by a pipeline"))
  const filters = parseArrayFilters(arrayFilters, now)
  if (Result.isFailure(filters)) return Result.fail(filters.failure)
  const read = Result.flatMap(
    Result.mapError(normalise(update), rejected),
    (normalised) => readChanges(normalised, now, filters.success)
  )
  return Result.map(read, (changes): Update => {
    const existing = changes.filter(({ operator }) => operator !== "$setOnInsert")
    const applyTo = changes.some(({ path }) => segmentsOf(path).some(isItems))
      ? (changes: ReadonlyArray<Change>, document: Document, filter: Filter) =>
        Result.flatMap(expandPaths(changes, document, filters.success), (expanded) => apply(expanded, document, filter))
      : apply
    return {
      apply: (document, filter) => applyTo(existing, document, filter),
      insert: (filter) =>
        Result.flatMap(
          fromEqualities(filter),
          (document) => Result.map(applyTo(changes, document, filter), (changed) => withId(changed ?? document))
        )
    }
  })
}

// Replaces each change of a path with `$[]` by one change for each matching item.
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

const keepingId = (document: Document, id: unknown): Result.Result<Document, Problem> => {
  const given = document["_id"]
  if (id !== undefined && given !== undefined && !isIdentical(given, id)) {
    return Result.fail(rejected("_id can't change"))
  }
  return Result.succeed(given !== undefined || id === undefined ? document : Object.freeze({ _id: id, ...document }))
}

const withId = (document: Document): Document =>
  document["_id"] === undefined ? Object.freeze({ _id: new ObjectId(), ...document }) : document

// An upsert starts from the equality conditions of the filter.
const fromEqualities = ({ equalities }: Filter): Result.Result<Document, Problem> => {
  const root: { [key: string]: unknown } = {}
  for (const [path, value] of equalities) {
    const segments = segmentsOf(path)
    let node = root
    for (const [i, segment] of segments.entries()) {
      const isLast = i === segments.length - 1
      const inner = fieldOf(node, segment)
      if (inner !== undefined && (isLast ? !isIdentical(inner, value) : !isDocument(inner))) {
        return Result.fail(rejected(`the filter asks for several values of "${path}"`))
      }
      const next: { [key: string]: unknown } = isDocument(inner) ? { ...inner } : {}
      setField(node, segment, isLast ? value : next)
      node = next
    }
  }
  return Result.mapError(normalise(root), rejected)
}

// A value to set. Wrapped, since mingo skips setting a value that it takes for equal to the stored one, as it does with
// different binary values.
class Assigned {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
  toBSON(): unknown {
    return this.value
  }
}

const noChange = Symbol("noChange")

type Modifiers = { [operator: string]: { [path: string]: unknown } }

/** A copy of the document that mingo has updated. A positional update needs the condition that the document matches. */
const modified = (document: Document, modifiers: Modifiers, condition: Document): Result.Result<Document, Problem> =>
  tryMingo(() => {
    const draft = thaw(document)
    if (Object.keys(modifiers).length > 0) {
      updateOne([draft], condition, modifiers, { cloneMode: "deep" }, { context: updateContext, scriptEnabled: false })
    }
    return draft
  })

const apply = (
  changes: ReadonlyArray<Change>,
  document: Document,
  filter: Filter
): Result.Result<Document | undefined, Problem> => {
  const modifiers: Modifiers = {}
  const modify = (operator: string, path: string, operand: unknown) => {
    const fields = modifiers[operator] ??= {}
    fields[escapePath(path)] = operator === "$rename" ? escapePath(String(operand)) : operand
  }
  let id = document["_id"]
  let isPositional = false
  for (const change of changes) {
    const { operand, operator, path } = change
    const segments = segmentsOf(path)
    const inherited = removing.has(operator) && operator !== "$rename"
      ? undefined
      : inheritedOn(document, operator === "$rename" ? segmentsOf(String(operand)) : segments)
    if (inherited !== undefined) return Result.fail(unsupported(`a path that makes a field called ${inherited}`))
    if (segments.includes("$")) {
      isPositional = true
      const positional = positionalModifier(change)
      if (Result.isFailure(positional)) return Result.fail(positional.failure)
      modify(positional.success.operator, path, positional.success.operand)
      continue
    }
    const value = valueOf(change, document, locate(document, segments))
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success === noChange) continue
    if (segments[0] === "_id" || (operator === "$rename" && segmentsOf(String(operand))[0] === "_id")) {
      const isAssigned = value.success instanceof Assigned && segments.length === 1
      const assigned = value.success instanceof Assigned ? value.success.value : undefined
      // Only a document that an upsert inserts has no `_id` yet.
      if (!isAssigned || !(id === undefined || isIdentical(assigned, id))) {
        return Result.fail(rejected("_id can't change"))
      }
      // Set by this function: mingo never sets `_id`.
      id = assigned
      continue
    }
    if (value.success instanceof Assigned) modify("$set", path, value.success)
    else modify(operator, path, value.success)
  }
  const updated = modified(document, modifiers, isPositional ? filter.condition : {})
  if (Result.isFailure(updated)) return Result.fail(updated.failure)
  const draft = updated.success
  const normalised = Result.mapError(normalise(id === undefined ? draft : { _id: id, ...draft }), rejected)
  return Result.map(
    changes.some(({ path }) => mayPadArray(path)) ? Result.flatMap(normalised, checkSize) : normalised,
    (result) => isIdentical(result, document) ? undefined : result
  )
}

// The first segment that names a property of `Object.prototype` which the document lacks: mingo takes it for a field.
const inheritedOn = (document: Document, segments: ReadonlyArray<string>): string | undefined => {
  let node: unknown = document
  return segments.slice(0, -1).find((segment) => {
    node = childOf(node, segment)
    return node === undefined && segment !== "__proto__" && Object.hasOwn(Object.prototype, segment)
  })
}

// The value at a path, or the path of the value that can't have the next field.
type Target = { readonly value: unknown; readonly isInArray: boolean } | { readonly blockedAt: string }

const locate = (document: Document, segments: ReadonlyArray<string>): Target => {
  let node: unknown = document
  let isInArray = false
  for (const [i, segment] of segments.entries()) {
    if (node === undefined) break
    if (isDocument(node)) node = fieldOf(node, segment)
    else if (isArray(node) && isArrayIndex(segment)) {
      if (Number(segment) > node.length + maxPadding) return { blockedAt: segments.slice(0, i).join(".") }
      node = node[Number(segment)]
      isInArray = true
    } else return { blockedAt: segments.slice(0, i).join(".") }
  }
  return { value: node, isInArray }
}

// MongoDB's limit for padding an array with `null`.
const maxPadding = 1_500_000

// Whether an update may pad an array and so make a document much larger than the update.
const mayPadArray = (path: string): boolean =>
  segmentsOf(path).some((segment) => isArrayIndex(segment) && segment.length > 3)

// The operators that change nothing where the value is missing.
const removing = new Set(["$unset", "$pop", "$pull", "$pullAll", "$rename"])

const assign = (value: unknown): Result.Result<Assigned, Problem> => Result.succeed(new Assigned(value))

/** What mingo gets for a change: a value to set, the operator's own operand, or no change. */
const valueOf = (
  { operand, operator, path }: Change,
  document: Document,
  target: Target
): Result.Result<unknown, Problem> => {
  if ("blockedAt" in target) {
    return removing.has(operator) && operator !== "$rename"
      ? Result.succeed(noChange)
      : Result.fail(rejected(`"${path}" can't be made: "${target.blockedAt}" has no such fields`))
  }
  const { value } = target
  if (value === undefined && removing.has(operator)) return Result.succeed(noChange)
  switch (operator) {
    case "$set":
    case "$setOnInsert":
    case "$currentDate":
      return assign(operand)
    case "$inc":
    case "$mul":
      return computed(operator, path, value, operand)
    case "$min":
      return value === undefined || compare(operand, value) < 0 ? assign(operand) : Result.succeed(noChange)
    case "$max":
      return value === undefined || compare(operand, value) > 0 ? assign(operand) : Result.succeed(noChange)
    case "$rename":
      return target.isInArray || isUnreachable(locate(document, segmentsOf(String(operand))))
        ? Result.fail(rejected(`"${path}" can't be renamed to "${String(operand)}"`))
        : Result.succeed(operand)
    case "$bit":
      return value === undefined || Number.isInteger(value)
        ? Result.succeed(operand)
        : Result.fail(rejected(`$bit needs a whole number at "${path}"`))
    case "$push":
    case "$addToSet":
    case "$pop":
    case "$pull":
    case "$pullAll":
      if (value !== undefined && !isArray(value)) {
        return Result.fail(rejected(`${operator} needs an array at "${path}"`))
      }
      return operator === "$pull" ? Result.succeed(operand) : Result.map(
        // The parser of each operator has checked its operand.
        changedArray(operator, value ?? [], operand),
        (items) => new Assigned(items)
      )
    default:
      return Result.succeed(operand)
  }
}

const isUnreachable = (target: Target): boolean => "blockedAt" in target || target.isInArray

const computed = (
  operator: "$inc" | "$mul",
  path: string,
  value: unknown,
  operand: unknown
): Result.Result<Assigned, Problem> => {
  if (!isNumber(operand) || !(value === undefined || isNumber(value))) {
    return Result.fail(rejected(`${operator} needs a number at "${path}"`))
  }
  const result = operator === "$inc" ? add(value ?? 0, operand) : multiply(value ?? 0, operand)
  return result === undefined
    ? Result.fail(rejected(`${operator} leaves the 64-bit integers at "${path}"`))
    : Result.succeed(new Assigned(result))
}

const changedArray = (
  operator: string,
  array: ReadonlyArray<unknown>,
  operand: unknown
): Result.Result<ReadonlyArray<unknown>, Problem> => {
  if (operator === "$push") return push(array, operand as Push)
  if (operator === "$pop") return Result.succeed(operand === 1 ? array.slice(0, -1) : array.slice(1))
  if (operand instanceof ValueSet) return Result.succeed(array.filter((item) => !operand.has(item)))
  const items = isArray(operand) ? operand : []
  const known = new ValueSet(array)
  return Result.succeed([...array, ...items.filter((item) => known.add(item))])
}

const push = (
  array: ReadonlyArray<unknown>,
  { items, position, slice, sort }: Push
): Result.Result<ReadonlyArray<unknown>, Problem> => {
  const all = array.toSpliced(position ?? array.length, 0, ...items)
  return Result.map(
    sort === undefined ? Result.succeed(all) : inOrder(all, sort),
    (ordered) => slice === undefined ? ordered : slice < 0 ? ordered.slice(slice) : ordered.slice(0, slice)
  )
}

const inOrder = (items: ReadonlyArray<unknown>, sort: unknown): Result.Result<ReadonlyArray<unknown>, Problem> => {
  if (sort === 1 || sort === -1) return Result.succeed(items.toSorted((a, b) => sort * compare(a, b)))
  return Result.flatMap(parseSort(sort), (directions) =>
    Result.map(
      Result.all(items.map((item) =>
        Result.mapBoth(sortKeyOf(isDocument(item) ? item : {}, directions), {
          onSuccess: (key) => ({ key, item }),
          onFailure: rejected
        })
      )),
      (keyed) => keyed.toSorted((a, b) => compareKeys(a.key, b.key, directions)).map(({ item }) => item)
    ))
}

// Only mingo knows the item that the filter matched, so mingo computes the value, too.
const positionalModifier = ({ operand, operator }: Change): Result.Result<Omit<Change, "path">, Problem> => {
  switch (operator) {
    case "$set":
    case "$setOnInsert":
    case "$currentDate":
      return Result.succeed({ operator: "$set", operand: new Assigned(operand) })
    case "$push":
    case "$addToSet":
    case "$pullAll":
      return Result.fail(unsupported(`${operator} on a positional path`))
    default:
      return Result.succeed({ operator, operand })
  }
}
