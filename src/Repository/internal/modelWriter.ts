/**
 * How documents of a model's collection change. Each change has a name, by which a history may keep it.
 */
import * as Effect from "effect/Effect"
import type {
  Document,
  Filter,
  FindOneAndUpdateOptions,
  InsertManyResult,
  Update,
  UpdateManyOptions,
  UpdateResult
} from "../DocumentStore.ts"
import type { Change } from "../History.ts"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"
import type { Deleted } from "../SoftDeletion.ts"
import type { ModelCollection } from "./modelCollection.ts"

/** @internal */
export interface ModelWriter {
  /** Gives the document as it was inserted. */
  readonly insert: (document: Document) => Effect.Effect<Document, StoreError>
  readonly insertMany: (
    documents: ReadonlyArray<Document>,
    options?: { readonly ordered?: boolean | undefined }
  ) => Effect.Effect<InsertManyResult, ReadError>
  /** Replaces the first match; with `upsert`, inserts where there is none. Gives the document as it was written, if so. */
  readonly replace: (
    filter: Filter,
    document: Document,
    upsert: boolean
  ) => Effect.Effect<Document | undefined, StoreError>
  readonly updateOne: (
    change: Change,
    filter: Filter,
    update: Update,
    options: UpdateManyOptions,
    deleted?: Deleted
  ) => Effect.Effect<UpdateResult, StoreError>
  readonly updateMany: (
    change: Change,
    filter: Filter,
    update: Update,
    options: UpdateManyOptions,
    deleted?: Deleted
  ) => Effect.Effect<UpdateResult, StoreError>
  readonly findOneAndUpdate: (
    change: Change,
    filter: Filter,
    update: Update,
    options: FindOneAndUpdateOptions,
    deleted?: Deleted
  ) => Effect.Effect<Document | undefined, StoreError>
  readonly deleteOne: (change: Change, filter: Filter, deleted?: Deleted) => Effect.Effect<number, ReadError>
  readonly deleteMany: (change: Change, filter: Filter, deleted?: Deleted) => Effect.Effect<number, ReadError>
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
