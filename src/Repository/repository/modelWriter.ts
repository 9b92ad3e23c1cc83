/**
 * How documents of a model's collection change. Each change has a name, by which a history may keep it.
 */
import * as Effect from "effect/Effect"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"
import type { Change } from "./history.ts"
import type { ModelCollection } from "./modelCollection.ts"

/** An operation on the collection, and what the change is called. */
type Named<Operation extends (...args: never) => unknown> = (
  change: Change,
  ...args: Parameters<Operation>
) => ReturnType<Operation>

/** @internal */
export interface ModelWriter {
  /** Gives the document as it was inserted. */
  readonly insert: (document: Document) => Effect.Effect<Document, StoreError>
  readonly insertMany: ModelCollection["insertMany"]
  /** Replaces the first match; with `upsert`, inserts where there is none. Gives the document as it was written, if so. */
  readonly replace: (
    filter: Filter,
    document: Document,
    upsert: boolean
  ) => Effect.Effect<Document | undefined, StoreError>
  readonly updateOne: Named<ModelCollection["updateOne"]>
  readonly updateMany: Named<ModelCollection["updateMany"]>
  readonly findOneAndUpdate: Named<ModelCollection["findOneAndUpdate"]>
  readonly deleteOne: Named<ModelCollection["deleteOne"]>
  readonly deleteMany: Named<ModelCollection["deleteMany"]>
}

/**
 * A writer that keeps no history.
 *
 * @internal
 */
export const makeModelWriter = (collection: ModelCollection): ModelWriter => ({
  insert: (document) => Effect.as(collection.insertOne(document), document),
  insertMany: (documents, options) => collection.insertMany(documents, options),
  replace: (filter, document, upsert) =>
    Effect.map(
      collection.replaceOne(filter, document, { upsert }),
      ({ matchedCount, upsertedId }) => matchedCount > 0 || upsertedId !== undefined ? document : undefined
    ),
  updateOne: (_, filter, update, options, deleted) => collection.updateOne(filter, update, options, deleted),
  updateMany: (_, filter, update, options, deleted) => collection.updateMany(filter, update, options, deleted),
  findOneAndUpdate: (_, filter, update, options, deleted) =>
    collection.findOneAndUpdate(filter, update, options, deleted),
  deleteOne: (_, filter, deleted) => collection.deleteOne(filter, deleted),
  deleteMany: (_, filter, deleted) => collection.deleteMany(filter, deleted)
})

/**
 * The update with more in one of its operators.
 *
 * @internal
 */
export const withMore = (operator: "$set" | "$inc", update: Update, more: Document): Update => ({
  ...update,
  [operator]: { ...Object(update[operator]), ...more }
})

/**
 * What adds no document, and takes no value that was free, breaks a unique index only by what is wrong with the stored
 * documents.
 *
 * @internal
 */
export const withoutDuplicate = <A>(
  operation: string,
  self: Effect.Effect<A, StoreError>
): Effect.Effect<A, ReadError> =>
  Effect.catchTag(
    self,
    "DuplicateKey",
    (duplicate) => Effect.fail(new QueryRejected({ operation, detail: duplicate.message }))
  )
