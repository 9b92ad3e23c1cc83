/**
 * Applies patches to instances, and turns the difference between two states of a document into an update of the store.
 */
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import { isPlainObject, ownValue } from "../../internal/objects.ts"
import {
  elementOf,
  type Merge,
  mergeOf,
  mergeProperties,
  type ModelLike,
  nestedModel,
  unwrapped
} from "../../Model/internal.ts"
import { unchangedSince } from "../collection/documentFields.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import type { ModelWriteContext } from "./versionedWrites.ts"

/** `merge` merges objects at every depth (RFC 7396), `replace` nested models only. */
export type PatchMode = "merge" | "replace"

/** The fields of an instance with `changes`, whose `null` removes one. The store increments the version. */
export const applyPatch = (
  model: ModelLike,
  current: object,
  changes: object,
  { mode, versionField }: { readonly mode: PatchMode; readonly versionField: string | undefined }
): Values =>
  mergeProperties(current, Object.entries(changes).filter(([key]) => key !== versionField), mergesOf[mode](model))

type Values = { readonly [key: string]: unknown }

/** For each model, the merge function of each of its fields, compiled once. */
const compileMerges = (mode: PatchMode) =>
  memoize((model: ModelLike): (key: string) => Merge | undefined => {
    const merges = new Map<string, Merge>()
    for (const [key, field] of Object.entries(model.store.fields)) {
      // Each field of a struct is a schema.
      const schema = field as Schema.Top
      const inner = elementOf(schema) === undefined ? nestedModel(schema) : undefined
      const merge = inner !== undefined
        ? mergeOfModel(inner, mode)
        : mode === "merge"
        ? mergeOf(unwrapped(schema))
        : undefined
      if (merge !== undefined) merges.set(key, merge)
    }
    return (key) => merges.get(key)
  })

const mergeOfModel = (model: ModelLike, mode: PatchMode): Merge => (before, change) =>
  isPlainObject(change) ? mergeProperties(before, Object.entries(change), mergesOf[mode](model)) : change

const mergesOf = { merge: compileMerges("merge"), replace: compileMerges("replace") }

/** Whether a merge patch replaces the field as a whole, whatever its value is. */
export const replacesWhole = (model: ModelLike, field: string): boolean => mergesOf.merge(model)(field) === undefined

/** An update of a stored document, and the filter under which it may be applied. */
export interface DocumentChange {
  readonly filter: Filter
  readonly update: Update
}

/**
 * The update that changes the named fields from `before` to `after`, or `undefined` when none of them differs. Each changed
 * field is replaced completely. The filter matches while the version is that of `before` or, in a model without versions,
 * while the changed fields and the `read` fields are unchanged, so that the stored result is the validated one; and in any case
 * while the `checked` fields are.
 */
export const changeOf = (
  before: Document,
  after: Document,
  fields: { readonly [_ in "named" | "read" | "checked"]: ReadonlyArray<string> },
  { targets, versionField }: Pick<ModelWriteContext, "targets" | "versionField">
): DocumentChange | undefined => {
  const set: { [path: string]: unknown } = {}
  const unset: { [path: string]: "" } = {}
  const changed = fields.named.filter((field) =>
    field !== versionField && !isStoredIdentically(ownValue(before, field), ownValue(after, field))
  )
  if (changed.length === 0) return undefined
  for (const field of changed) {
    if (ownValue(after, field) === undefined) unset[field] = ""
    else set[field] = after[field]
  }
  const target = targets.one(before)
  return {
    filter: versionField === undefined
      ? { ...unchangedSince(before, [...changed, ...fields.read, ...fields.checked]), ...target }
      : { ...unchangedSince(before, fields.checked), ...target, [versionField]: before[versionField] ?? 0 },
    update: {
      ...(Object.keys(set).length > 0 ? { $set: set } : {}),
      ...(Object.keys(unset).length > 0 ? { $unset: unset } : {}),
      ...(versionField === undefined ? {} : { $inc: { [versionField]: 1 } })
    }
  }
}
