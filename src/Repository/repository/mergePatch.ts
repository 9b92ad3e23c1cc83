import type * as Schema from "effect/Schema"
import {
  elementOf,
  isPlainObject,
  type Merge,
  mergeOf,
  mergeProperties,
  type ModelLike,
  nestedModel,
  perModel,
  unwrapped
} from "../../Model/introspection.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { isStoredAlike } from "../query/bsonForm.ts"

/**
 * How a patch changes what it names: `merge` merges objects at every depth (RFC 7396), `replace` merges nested models
 * only, and replaces anything else as a whole.
 *
 * @internal
 */
export type PatchMode = "merge" | "replace"

/**
 * The fields of an instance with those of `changes` over them; `null` takes one out. The version is the store's business,
 * not the patch's.
 *
 * @internal
 */
export const applyPatch = (
  model: ModelLike,
  current: object,
  changes: object,
  { mode, versionField }: { readonly mode: PatchMode; readonly versionField: string | undefined }
): Values =>
  mergeProperties(current, Object.entries(changes).filter(([key]) => key !== versionField), mergesOf[mode](model))

type Values = { readonly [key: string]: unknown }

const planOf = (mode: PatchMode) =>
  perModel((model: ModelLike): (key: string) => Merge | undefined => {
    const merges = new Map<string, Merge>()
    for (const [key, field] of Object.entries(model.store.fields)) {
      // A field of a struct is a schema.
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

const mergesOf = { merge: planOf("merge"), replace: planOf("replace") }

/**
 * A patch of a stored document: what to change, and what has to be there still for the change to be the right one.
 *
 * @internal
 */
export interface DocumentChange {
  readonly filter: Filter
  readonly update: Update
}

/**
 * What makes of the named fields of the stored document what they shall be; `undefined` when they are so already. Each
 * field is written whole, and only while the version is the same or, in a model without one, while these fields and those
 * that were `read` for them hold what they held: what was validated is what is stored.
 *
 * @internal
 */
export const changeOf = (
  before: Document,
  after: Document,
  fields: { readonly named: ReadonlyArray<string>; readonly read: ReadonlyArray<string> },
  versionField: string | undefined
): DocumentChange | undefined => {
  const set: { [path: string]: unknown } = {}
  const unset: { [path: string]: "" } = {}
  const changed = fields.named.filter((field) => field !== versionField && !isStoredAlike(before[field], after[field]))
  if (changed.length === 0) return undefined
  for (const field of changed) {
    if (after[field] === undefined) unset[field] = ""
    else set[field] = after[field]
  }
  const id = { _id: before["_id"] }
  const unchanged = () =>
    [...changed, ...fields.read].map((field) => [
      field,
      before[field] === undefined ? { $exists: false } : { $eq: before[field] }
    ])
  return {
    filter: versionField === undefined
      ? { ...Object.fromEntries(unchanged()), ...id }
      : { ...id, [versionField]: before[versionField] },
    update: {
      ...(Object.keys(set).length > 0 ? { $set: set } : {}),
      ...(Object.keys(unset).length > 0 ? { $unset: unset } : {}),
      ...(versionField === undefined ? {} : { $inc: { [versionField]: 1 } })
    }
  }
}
