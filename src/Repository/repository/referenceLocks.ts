/**
 * Locks that keep a write with a reference and the deletion of the document it refers to from happening at once. Each reads
 * what the other one writes, which snapshot isolation allows. So both write a lock, which such a store does not allow.
 *
 * A model has 64 locks in a collection of its own, 8 for each group of identifiers. A write takes one lock of a group at
 * random, so that writes seldom wait for each other. A deletion takes all locks of the group.
 */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Random from "effect/Random"
import type { DocumentStore } from "../DocumentStore.ts"
import type { StoreError } from "../RepositoryError.ts"
import { uniqueTextOfId } from "./historyEntry.ts"

type Store = DocumentStore["Service"]

const groups = 8

const groupSize = 8

const collectionOf = (modelName: string): string => `${modelName}.locks`

/** Inserts the missing locks of a model. */
export const installLocks = Effect.fnUntraced(function*(
  store: Store,
  modelName: string
): Effect.fn.Return<void, StoreError> {
  if (store.isolation === "serializable") return
  const all = Array.from({ length: groups * groupSize }, (_, _id) => ({ _id, count: 0 }))
  // Another process may have inserted them, so rejected documents are no failure.
  yield* store.insertMany(collectionOf(modelName), all, { ordered: false })
})

/** Locks the documents, within a transaction: against deletions, or also against writes that refer to them. */
export const lockDocuments = Effect.fnUntraced(function*(
  store: Store,
  modelName: string,
  ids: ReadonlyArray<unknown>,
  against: "deletions" | "references"
): Effect.fn.Return<void, StoreError> {
  if (store.isolation === "serializable") return
  const places = against === "deletions"
    ? [yield* Random.nextIntBetween(0, groupSize, { halfOpen: true })]
    : Array(groupSize).keys()
  const locks = Array.from(places, (place) => groupsOf(ids).map((group) => group * groupSize + place)).flat()
  yield* store.updateMany(collectionOf(modelName), { _id: { $in: locks } }, { $inc: { count: 1 } })
})

const groupsOf = (ids: ReadonlyArray<unknown>): ReadonlyArray<number> => [
  ...new Set(ids.map((id) => Math.abs(Hash.string(uniqueTextOfId(id))) % groups))
]
