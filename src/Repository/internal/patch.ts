import * as Equal from "effect/Equal"
import type { Document, Filter, Update } from "../DocumentStore.ts"

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const isModelInstance = (value: unknown): value is object =>
  typeof value === "object" && value !== null && "constructor" in value && "modelName" in value.constructor

/**
 * A JSON merge patch (RFC 7396) of an instance: the fields of the instance with those of `changes` over them, nested
 * models merged, `null` taken out. The version is the store's business, not the patch's.
 *
 * @internal
 */
export const applyPatch = (
  current: object,
  changes: object,
  versionField?: string
): { readonly [key: string]: unknown } => {
  const merged: { [key: string]: unknown } = { ...current }
  for (const [key, change] of Object.entries(changes)) {
    if (key === versionField || change === undefined) continue
    const before = merged[key]
    if (change === null) delete merged[key]
    else merged[key] = isPlain(change) && isModelInstance(before) ? applyPatch(before, change) : change
  }
  return merged
}

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
  const changed = fields.named.filter((field) => field !== versionField && !Equal.equals(before[field], after[field]))
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
