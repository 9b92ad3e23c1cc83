/**
 * Which fields of a document a filter depends on, and which an update changes. Fields are those of the document itself: a
 * path within a field counts as the field. And filters for single documents.
 */
import { isArray, isDocument } from "@appkernel/mql/values"
import { memoize } from "effect/Function"
import { ownValue } from "../../internal/objects.ts"
import { type ModelLike, shardKeyOf } from "../../Model/internal.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { viewOf } from "./storedCollection.ts"

/** The fields that a filter depends on; `undefined` if it may depend on any. */
export const fieldsOfFilter = (filter: Filter): ReadonlySet<string> | undefined => {
  const fields = new Set<string>()
  for (const [key, operand] of Object.entries(filter)) {
    if (!key.startsWith("$")) fields.add(topFieldOf(key))
    else if (key !== "$comment") {
      const parts = branches.has(key) && isArray(operand) ? operand.map(fieldsOfBranch) : [undefined]
      for (const part of parts) {
        if (part === undefined) return undefined
        for (const field of part) fields.add(field)
      }
    }
  }
  return fields
}

/** The fields that an update changes. */
export const fieldsOfUpdate = (update: Update): ReadonlyArray<string> =>
  Object.entries(update).flatMap(([operator, operands]) =>
    Object.entries(Object(operands)).flatMap(([path, operand]) =>
      operator === "$rename" ? [topFieldOf(path), topFieldOf(String(operand))] : [topFieldOf(path)]
    )
  )

/** The document after an update that sets, removes and increments its fields, and none within them. */
export const afterUpdate = (document: Document, { $inc, $set, $unset }: Update): Document => {
  const removed = new Set(Object.keys(Object($unset)))
  return {
    ...Object.fromEntries(Object.entries(document).filter(([field]) => !removed.has(field))),
    ...Object($set),
    ...Object.fromEntries(
      Object.entries(Object($inc)).map(([field, by]) => [field, Number(document[field] ?? 0) + Number(by)])
    )
  }
}

/** A filter that matches while these fields have the values that were read. */
export const unchangedSince = (read: Document, fields: ReadonlyArray<string>): Filter =>
  Object.fromEntries(
    fields.map((field) => [field, ownValue(read, field) === undefined ? { $exists: false } : { $eq: read[field] }])
  )

/** The field that a path begins with. */
export const topFieldOf = (path: string): string => path.split(".", 1)[0] ?? path

/**
 * Filters for single documents that were read or are about to be written. With a shard key they name its values too, so that a
 * cluster sends the operation to one shard.
 */
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

const branches: ReadonlySet<string> = new Set(["$and", "$or", "$nor"])

const fieldsOfBranch = (branch: unknown) => isDocument(branch) ? fieldsOfFilter(branch) : undefined

// A missing value is `null` in a shard key.
const keyValue = (document: Document, field: string): unknown => document[field] ?? null
