/** Turns the difference between two states of a document into an update of the store. */
import { ownValue } from "../../internal/objects.ts"
import { unchangedSince } from "../collection/documentFields.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import type { ModelWriteContext } from "./versionedWrites.ts"

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
