/**
 * The port between repositories and whatever keeps documents: collections of BSON documents, addressed in MongoDB's own
 * terms (filters, updates, pipelines, index keys).
 *
 * Every store passes one and the same contract suite, so a program may change its store without noticing.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { DuplicateKey, QueryRejected, ReadError, StoreError } from "./RepositoryError.ts"

/**
 * A document as it is stored: own enumerable keys only, values are BSON's (strings, numbers, booleans, `null`, `Date`,
 * arrays, nested documents and the classes of the `bson` package). `_id` is its identifier. A store may hand out the
 * same (deeply frozen) object twice: never change one in place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly [key: string]: unknown
}

/**
 * A filter in MongoDB's query language; `{}` matches every document.
 *
 * @category models
 * @since 0.1.0
 */
export type Filter = Document

/**
 * An update: a document of update operators (`{ $set: … }`). Replacements go through `replaceOne`.
 *
 * @category models
 * @since 0.1.0
 */
export type Update = Document

/**
 * Sort keys in order of weight; 1 ascends, -1 descends.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sort {
  readonly [path: string]: 1 | -1
}

/**
 * What to read: all of it is optional, the empty query is the whole collection in no particular order.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOptions {
  readonly filter?: Filter | undefined
  readonly sort?: Sort | undefined
  /** Documents to leave out at the start. Defaults to 0. */
  readonly skip?: number | undefined
  /** Documents to return at most. Defaults to all. */
  readonly limit?: number | undefined
  readonly projection?: Document | undefined
}

/**
 * An index to install. Two descriptions with one name must be the same index.
 *
 * @category models
 * @since 0.1.0
 */
export interface IndexDescription {
  readonly name: string
  /** Paths in order; 1 ascends, -1 descends; `"text"`, `"2dsphere"` and others where the store has them. */
  readonly key: { readonly [path: string]: 1 | -1 | string }
  /** Whether two documents may not hold the same key. A missing field counts as `null`. Defaults to false. */
  readonly unique?: boolean | undefined
  /** Whether documents without any of the fields stay out of the index. Defaults to false. */
  readonly sparse?: boolean | undefined
}

/**
 * What became of an insertion of several documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface InsertManyResult {
  /** Documents written. */
  readonly insertedCount: number
  /** The documents that were refused, by their place in the input. */
  readonly failures: ReadonlyArray<{ readonly index: number; readonly error: DuplicateKey | QueryRejected }>
}

/**
 * What an update or a replacement did.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateResult {
  /** Documents that matched the filter. */
  readonly matchedCount: number
  /** Documents whose content changed. */
  readonly modifiedCount: number
  /** The identifier of the document that `upsert` inserted. */
  readonly upsertedId?: unknown
}

/**
 * Keeps documents. Each single-document write is atomic and, once the effect succeeds, durable as far as the store is.
 * Reads see every write that succeeded before them. Collections come into being with their first document. Writes are
 * uninterruptible from the moment they are sent; an interrupted read is abandoned.
 *
 * @category services
 * @since 0.1.0
 */
export class DocumentStore extends Context.Service<DocumentStore, {
  /** Which store this is, for people: `MongoDB at db.example:27017/shop`. Carries no credentials. */
  readonly description: string
  /** The document with this `_id`, or `undefined`. */
  readonly findById: (collection: string, id: unknown) => Effect.Effect<Document | undefined, ReadError>
  /** The matching documents, all in memory: bound it with `limit`, or use `stream`. */
  readonly find: (
    collection: string,
    options: FindOptions
  ) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** The matching documents, read as they are pulled. */
  readonly stream: (collection: string, options: FindOptions) => Stream.Stream<Document, ReadError>
  /** How many documents match, exactly. */
  readonly count: (collection: string, filter: Filter) => Effect.Effect<number, ReadError>
  /** Adds one document, which must have an `_id`. Fails with `DuplicateKey` when a unique index, `_id` included, has it. */
  readonly insertOne: (collection: string, document: Document) => Effect.Effect<void, StoreError>
  /**
   * Adds documents, which must have an `_id`. `ordered` (the default) stops at the first refused one and keeps those
   * before it; otherwise all that can be written are. Refusals are part of the result, not failures.
   */
  readonly insertMany: (
    collection: string,
    documents: ReadonlyArray<Document>,
    options?: { readonly ordered?: boolean | undefined }
  ) => Effect.Effect<InsertManyResult, ReadError>
  /** Replaces the first matching document; with `upsert`, inserts it when none matches. `_id` can't change. */
  readonly replaceOne: (
    collection: string,
    filter: Filter,
    document: Document,
    options?: { readonly upsert?: boolean | undefined }
  ) => Effect.Effect<UpdateResult, StoreError>
  /** Applies update operators to the first matching document. */
  readonly updateOne: (
    collection: string,
    filter: Filter,
    update: Update,
    options?: { readonly upsert?: boolean | undefined }
  ) => Effect.Effect<UpdateResult, StoreError>
  /** Applies update operators to every matching document. */
  readonly updateMany: (collection: string, filter: Filter, update: Update) => Effect.Effect<UpdateResult, StoreError>
  /** Removes the first matching document; the result is 0 or 1. */
  readonly deleteOne: (collection: string, filter: Filter) => Effect.Effect<number, ReadError>
  /** Removes every matching document; the result is their number. */
  readonly deleteMany: (collection: string, filter: Filter) => Effect.Effect<number, ReadError>
  /** The documents that leave the pipeline, read as they are pulled. */
  readonly aggregate: (
    collection: string,
    pipeline: ReadonlyArray<Document>
  ) => Stream.Stream<Document, ReadError>
  /**
   * Installs what is missing; an index that is there already is left alone. Fails with `QueryRejected` when one of that
   * name is there with another definition, and with `DuplicateKey` when stored documents break a unique one.
   */
  readonly createIndexes: (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ) => Effect.Effect<void, StoreError>
  /** The installed indexes, without the one on `_id`. */
  readonly listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
}>()("appkernel/Repository/DocumentStore") {}
