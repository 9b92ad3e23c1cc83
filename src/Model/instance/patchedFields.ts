/** Applies patches to the fields of a model's instances, at every depth. */
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import { isPlainObject } from "../../internal/objects.ts"
import { elementOf, type ModelLike, nestedModel, unwrapped } from "../shape/variants.ts"
import { type Merge, mergeOf, mergeProperties } from "./mergePatch.ts"

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
