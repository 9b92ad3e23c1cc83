/**
 * The models that refer to others, by their store. A model is registered when its repository is made; deletions then find it.
 */
import type * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import { type ModelLike, referencesOf, type ReferringField } from "../../Model/internal.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import type { Document, DocumentStore, Filter, Update } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import type { UnreadableReferrers } from "../versions/unreadableReferrers.ts"

/** The documents of a referring model, without the row filters of callers. */
export interface Referrer {
  readonly model: ModelLike
  readonly documents: ModelCollection
  /** Its documents that can't be read and may refer to others; `undefined` for a model without versions. */
  readonly unreadable: UnreadableReferrers | undefined
  /** Updates a document as its repository does: with its version, its audit fields and its history. */
  readonly update: (filter: Filter, update: Update) => Effect.Effect<unknown, ReadError>
  /** Deletes documents as their repository does, softly unless they are purged. */
  readonly remove: (filter: Filter, isPurge: boolean) => Effect.Effect<unknown, ReadError>
}

export interface Referring {
  readonly referrer: Referrer
  readonly field: ReferringField
}

type Store = DocumentStore["Service"]

const referrersOf = memoize<Store, Map<string, ReadonlyArray<Referring>>>(() => new Map())

/** Registers the references of a model for deletions on the store. */
export const registerReferrer = (store: Store, referrer: Referrer): void => {
  const byTarget = referrersOf(store)
  for (const [target, all] of byTarget) {
    byTarget.set(target, all.filter((other) => other.referrer.model.modelName !== referrer.model.modelName))
  }
  for (const field of referencesOf(referrer.model)) {
    if (field.onDelete === undefined) continue
    const { modelName } = field.target()
    byTarget.set(modelName, [...byTarget.get(modelName) ?? [], { referrer, field }])
  }
}

/** The registered references to the documents of a model. */
export const referringTo = (store: Store, modelName: string): ReadonlyArray<Referring> =>
  referrersOf(store).get(modelName) ?? []

/** The identifiers at the path of a reference. The path leads through lists. */
export const idsAt = (value: unknown, path: ReadonlyArray<string>, from = 0): ReadonlyArray<unknown> => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item) => idsAt(item, path, from))
  const key = path[from]
  return key === undefined ? [value] : idsAt(Reflect.get(Object(value), key), path, from + 1)
}

/** The update that removes references from a document: items of lists, and fields elsewhere, of which some are `null` then. */
export const withoutReferences = (
  document: Document,
  { isRemovable, path: [name = "", ...path] }: ReferringField,
  isRemoved: (id: unknown) => boolean
): Update => {
  const remaining = remainingOf(
    document[name],
    path,
    (id) => isRemoved(id) ? isRemovable === "null" ? null : undefined : id
  )
  return remaining === undefined ? { $unset: { [name]: "" } } : { $set: { [name]: remaining } }
}

const remainingOf = (value: unknown, path: ReadonlyArray<string>, leaf: (id: unknown) => unknown): unknown => {
  if (value === undefined || value === null) return value
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const remaining = remainingOf(item, path, leaf)
      return remaining === undefined ? [] : [remaining]
    })
  }
  const [key, ...rest] = path
  if (key === undefined) return leaf(value)
  const remaining = remainingOf(Reflect.get(Object(value), key), rest, leaf)
  const { [key]: _, ...others } = value as Document
  return remaining === undefined ? others : { ...others, [key]: remaining }
}
