/**
 * The port between repositories and the stores of documents. A store has collections of BSON documents, and is addressed in
 * MongoDB's terms: filters, updates, pipelines, index keys.
 *
 * Every store passes the same contract suite, so a program can change its store without other changes.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ChangeLog } from "./ChangeLog.ts"
import type { ReadError, StoreError } from "./StoreError.ts"
import type {
  CollationOptions,
  CollectionDescription,
  Counted,
  Document,
  Filter,
  FindByIdOptions,
  FindOneAndDeleteOptions,
  FindOneAndReplaceOptions,
  FindOneAndUpdateOptions,
  IndexChanges,
  IndexDescription,
  InsertManyResult,
  QueryOptions,
  ReplaceOptions,
  StreamOptions,
  TakeOptions,
  Update,
  UpdateManyOptions,
  UpdateOneOptions,
  UpdatePipeline,
  UpdateResult,
  ValidatorOptions
} from "./StoreTypes.ts"

export type * from "./ChangeLog.ts"
export type * from "./StoreTypes.ts"

/**
 * Stores documents in collections.
 *
 * Each write of a single document is atomic, and durable once its effect succeeds if the store is durable. A read sees every
 * write that succeeded before it began. A collection is created by its first document. A write is uninterruptible once it is
 * sent. An interrupted read is stopped.
 *
 * @category services
 * @since 0.1.0
 */
export class DocumentStore extends Context.Service<DocumentStore, {
  /** A description for logs: `MongoDB at db.example:27017/shop`. Contains no credentials. */
  readonly description: string
  /** The folder of the documents, if they are in one. */
  readonly folder?: string | undefined
  /**
   * How transactions see each other. With `"snapshot"` two of them may each write what the other one only reads; of
   * `"serializable"` ones the outcome equals that of some order of them.
   */
  readonly isolation: "snapshot" | "serializable"
  /** Finds the document with this `_id`, if it matches the filter. Returns `undefined` if there is none. */
  readonly findById: FindById
  /** Finds the matching documents. All are held in memory, so bound their number by `limit`, or use `stream`. */
  readonly find: Find<ReadonlyArray<Document>>
  /**
   * Returns the documents of {@link find} and the exact number of all matching documents. Both are from one snapshot if the
   * store supports it. Otherwise a write may happen between the two reads.
   */
  readonly findAndCount: Find<Counted>
  /** Streams the matching documents. They are read as the stream is pulled. */
  readonly stream: (collection: string, options: StreamOptions) => Stream.Stream<Document, ReadError>
  /** Counts the matching documents, exactly. */
  readonly count: (collection: string, filter: Filter, options?: QueryOptions) => Effect.Effect<number, ReadError>
  /**
   * Estimates the number of documents from metadata, without reading the documents. In a transaction it is the
   * {@link count} of all documents.
   */
  readonly estimatedCount: (collection: string) => Effect.Effect<number, ReadError>
  /**
   * Returns the distinct values of the matching documents at a path, in no particular order. A list contributes its
   * elements. Missing values are left out. Equal numbers of different types are one value.
   */
  readonly distinct: (
    collection: string,
    path: string,
    filter: Filter,
    options?: QueryOptions
  ) => Effect.Effect<ReadonlyArray<unknown>, ReadError>
  /**
   * Inserts a document, which has to have an `_id`. Fails with `DuplicateKey` when its `_id`, or its key in a unique index,
   * exists already.
   */
  readonly insertOne: (collection: string, document: Document) => Effect.Effect<void, StoreError>
  /**
   * Inserts documents, which have to have an `_id`. An `ordered` insert (the default) stops at the first rejected document
   * and does not remove those before it. An unordered insert writes every document that is not rejected. Rejections are part
   * of the result, not failures.
   */
  readonly insertMany: (
    collection: string,
    documents: ReadonlyArray<Document>,
    options?: { readonly ordered?: boolean | undefined }
  ) => Effect.Effect<InsertManyResult, ReadError>
  /** Replaces the first matching document. With `upsert`, inserts it when none matches. `_id` cannot change. */
  readonly replaceOne: (
    collection: string,
    filter: Filter,
    document: Document,
    options?: ReplaceOptions
  ) => Effect.Effect<UpdateResult, StoreError>
  /** Applies update operators, or a pipeline, to the first matching document. */
  readonly updateOne: (
    collection: string,
    filter: Filter,
    update: Update | UpdatePipeline,
    options?: UpdateOneOptions
  ) => Effect.Effect<UpdateResult, StoreError>
  /** Applies update operators, or a pipeline, to every matching document. */
  readonly updateMany: (
    collection: string,
    filter: Filter,
    update: Update | UpdatePipeline,
    options?: UpdateManyOptions
  ) => Effect.Effect<UpdateResult, StoreError>
  /**
   * Applies update operators, or a pipeline, to the first matching document and returns that document, in one atomic
   * operation. Returns `undefined` when there is no document to return.
   */
  readonly findOneAndUpdate: (
    collection: string,
    filter: Filter,
    update: Update | UpdatePipeline,
    options?: FindOneAndUpdateOptions
  ) => Effect.Effect<Document | undefined, StoreError>
  /**
   * Replaces the first matching document and returns it, in one atomic operation. Returns `undefined` when there is no
   * document to return.
   */
  readonly findOneAndReplace: (
    collection: string,
    filter: Filter,
    document: Document,
    options?: FindOneAndReplaceOptions
  ) => Effect.Effect<Document | undefined, StoreError>
  /** Removes the first matching document and returns it, in one atomic operation. Returns `undefined` when none matches. */
  readonly findOneAndDelete: (
    collection: string,
    filter: Filter,
    options?: FindOneAndDeleteOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  /** Removes the first matching document. Returns 0 or 1. */
  readonly deleteOne: (
    collection: string,
    filter: Filter,
    options?: CollationOptions
  ) => Effect.Effect<number, ReadError>
  /** Removes every matching document. Returns their number. */
  readonly deleteMany: (
    collection: string,
    filter: Filter,
    options?: CollationOptions
  ) => Effect.Effect<number, ReadError>
  /**
   * Streams the results of a pipeline. They are read as the stream is pulled. A pipeline that ends with `$out` or `$merge`
   * has no results: `$out` replaces a collection atomically, and `$merge` writes each document atomically. Both fail with
   * `Unsupported` in a transaction.
   */
  readonly aggregate: (
    collection: string,
    pipeline: ReadonlyArray<Document>,
    options?: QueryOptions
  ) => Stream.Stream<Document, ReadError>
  /**
   * Runs an effect in a transaction. All operations of the effect and of its child fibers on this store are committed, or
   * none is.
   *
   * The operations see their own writes, and otherwise a snapshot of the store from the beginning of the transaction. No
   * write is visible outside before the commit. The isolation level is at least snapshot isolation; transactions of the
   * embedded store are serializable. When the effect fails or dies, the transaction is rolled back. It is also rolled back
   * when one of its operations fails and the effect recovers: then it fails with the failure of that operation, and so do
   * all later operations. A rejection in the result of `insertMany` counts as a failure. A nested transaction is part of the
   * outer one, which fails when the nested one fails.
   *
   * When the transaction conflicts with another writer, the effect runs again. After too many conflicts the transaction
   * fails with a retryable `StoreUnavailable`, and nothing is written. So the effect's other actions have to tolerate
   * repetition. Operations on indexes and collections fail with `Unsupported` in a transaction. The operations of a fiber
   * that outlives its transaction fail with `StoreUnavailable`.
   *
   * An interruption before the commit rolls the transaction back. A commit that has begun is completed before the
   * interruption takes effect. The interrupter, a timeout for instance, does not learn its outcome, but it is atomic.
   */
  readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R>
  /** The log of changes, of the collections that are recorded. */
  readonly changes: ChangeLog
  /**
   * Installs the missing indexes. Installed indexes are not changed. When an index is installed with a different definition
   * or under a different name, nothing is installed, and the `conflict` of the `QueryRejected` has both definitions. Fails
   * with `DuplicateKey` when stored documents violate a unique index, and with `Unsupported` for a kind of index that the
   * store does not have.
   */
  readonly createIndexes: (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ) => Effect.Effect<void, StoreError>
  /**
   * Synchronises the indexes of the collection with the described ones: drops all others, except the one on `_id`, rebuilds
   * those with a different definition, and installs the missing ones. Queries do not use an index while it is rebuilt. When
   * an index cannot be built, the index that it replaces is restored, and the changes before it are not undone.
   */
  readonly syncIndexes: (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ) => Effect.Effect<IndexChanges, StoreError>
  /**
   * Drops the indexes with these names or, without names, all indexes. Never drops the one on `_id`. Returns the names of
   * the dropped indexes.
   */
  readonly dropIndexes: (
    collection: string,
    names?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /**
   * The collections by their names. A collection that has never had a document, an index or a validator does not exist. In a
   * transaction these are the collections outside of it.
   */
  readonly listCollections: Effect.Effect<ReadonlyArray<CollectionDescription>, ReadError>
  /** Lists the installed indexes, except the one on `_id`. */
  readonly listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
  /**
   * Installs a JSON schema (MongoDB's `$jsonSchema`) as the validator of written documents. `undefined` removes the
   * validator. Stored documents are not validated. A rejected write fails with a `QueryRejected` that names the fields and
   * the rules, never the values.
   */
  readonly setValidator: (
    collection: string,
    jsonSchema: Document | undefined,
    options?: ValidatorOptions
  ) => Effect.Effect<void, ReadError>
}>()("@appkernel/document-store/DocumentStore") {}

/**
 * Finds a document by its `_id`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindById {
  (collection: string, id: unknown, options?: FindByIdOptions): Effect.Effect<Document | undefined, ReadError>
  /**
   * Finds the document without a fiber, as the effect does outside of transactions. Returns `undefined` if there is none, and where
   * the effect would fail. A store that has to wait for its documents does not have it.
   */
  readonly atOnce?: ((collection: string, id: unknown) => Document | undefined) | undefined
}

/**
 * Finds the documents that match a filter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Find<Found> {
  (collection: string, options: TakeOptions): Effect.Effect<Found, ReadError>
  /**
   * Finds them without a fiber, as the effect does outside of transactions. `now` is the current time in milliseconds. Returns
   * `undefined` where the effect would fail, or would let other fibers run; `take` may have got documents then. A store that has to
   * wait for its documents does not have it.
   */
  readonly atOnce?: ((collection: string, options: TakeOptions, now: number) => Found | undefined) | undefined
}
