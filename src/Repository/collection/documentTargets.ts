/**
 * Filters for single documents that were read or are about to be written. With a shard key they name its values too, so that a
 * cluster sends the operation to one shard.
 */
import { memoize } from "effect/Function"
import { type ModelLike, shardKeyOf } from "../../Model/internal.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { viewOf } from "./storedCollection.ts"

export interface Targets {
  /** The projection with which a document is read, to be written later. */
  readonly projection: Document
  /** What the document has beside its identifier; `undefined` without a shard key. */
  readonly shardOf: (document: Document) => Filter | undefined
  readonly one: (document: Document) => Filter
  readonly all: (documents: ReadonlyArray<Document>) => Filter
}

export const targetsOf: (model: ModelLike) => Targets = memoize((model) => {
  // An earlier version may have the values elsewhere.
  const shardKey = viewOf(model) === undefined ? shardKeyOf(model) : []
  const fields = shardKey.map(([field]) => field).filter((field) => field !== "_id")
  const shardOf = (document: Document): Filter | undefined =>
    fields.length === 0
      ? undefined
      : Object.fromEntries(fields.map((field) => [field, { $eq: keyValue(document, field) }]))
  return {
    projection: Object.fromEntries(["_id", ...fields].map((field) => [field, 1])),
    shardOf,
    one: (document) => ({ _id: document["_id"], ...shardOf(document) }),
    all: (documents) => ({
      _id: { $in: documents.map(({ _id }) => _id) },
      ...Object.fromEntries(
        fields.map((field) => [field, { $in: [...new Set(documents.map((document) => keyValue(document, field)))] }])
      )
    })
  }
})

// internal

// A missing value is `null` in a shard key.
const keyValue = (document: Document, field: string): unknown => document[field] ?? null
