/**
 * The port between repositories and whatever keeps documents: collections of BSON documents, addressed in MongoDB's own
 * terms (filters, updates, pipelines, index keys).
 *
 * Every store passes one and the same contract suite, so a program may change its store without noticing.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
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
 * The {@link Sort} of a search (`$text`), where `{ $meta: "textScore" }` puts those first that match best, whatever its
 * path. In a projection it gives the score.
 *
 * @category models
 * @since 0.1.0
 */
export interface SearchSort {
  readonly [path: string]: Sort[string] | { readonly $meta: "textScore" }
}

/**
 * How long a read may take.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReadOptions {
  /**
   * How long the store may be busy with it before it is stopped and fails with `QueryTimeout`; what the consumer of a
   * stream does between two documents does not count. Defaults to what the store takes for a limit: see
   * `MongoStore.Options`; the embedded store has none.
   */
  readonly timeLimit?: Duration.Input | undefined
}

/**
 * What to read: all of it is optional, the empty query is the whole collection in no particular order.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOptions extends ReadOptions {
  readonly filter?: Filter | undefined
  readonly sort?: SearchSort | undefined
  /** Documents to leave out at the start. Defaults to 0. */
  readonly skip?: number | undefined
  /** Documents to return at most. Defaults to all. */
  readonly limit?: number | undefined
  readonly projection?: Document | undefined
}

/**
 * What to read, and who takes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface TakeOptions extends FindOptions {
  /**
   * Is given the documents in order, some of them at a time, as they are read, instead of the result, which is empty
   * then. `false` ends the read. So no more of them are in memory than it keeps.
   */
  readonly take?: ((documents: ReadonlyArray<Document>) => boolean) | undefined
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
  /**
   * So many seconds after the date in the only field, or after the first of several, the document is removed; within a
   * minute, that is. Without it, never.
   */
  readonly expireAfterSeconds?: number | undefined
  /** Which documents are in the index; only queries that ask for no more use it. Not with `sparse`. Defaults to all. */
  readonly partialFilterExpression?: Filter | undefined
  /** How much a word counts in each field of a text index, from 1 to 99,999. Defaults to 1. */
  readonly weights?: { readonly [path: string]: number } | undefined
  /** The language of a text index; `none` takes words as they are. Defaults to `english`. */
  readonly defaultLanguage?: string | undefined
}

/**
 * What `syncIndexes` did, by the names of the indexes.
 *
 * @category models
 * @since 0.1.0
 */
export interface IndexChanges {
  /** Those that were missing. */
  readonly created: ReadonlyArray<string>
  /** Those that were there with another definition. */
  readonly rebuilt: ReadonlyArray<string>
  /** Those that nobody described. */
  readonly dropped: ReadonlyArray<string>
}

/**
 * What the store does about a document that its collection's schema does not allow.
 *
 * @category models
 * @since 0.1.0
 */
export interface ValidatorOptions {
  /** Refuse it, or write it and a line into the server's log. Defaults to `error`. */
  readonly action?: "warn" | "error" | undefined
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
 * How to update.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateManyOptions {
  /**
   * Which items a path's `$[name]` stands for: a filter for each name, whose paths begin with the name:
   * `{ "name.price": { $gt: 5 } }`. Each filter has to be used, and each name has to have one.
   */
  readonly arrayFilters?: ReadonlyArray<Filter> | undefined
}

/**
 * How to update one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateOneOptions extends UpdateManyOptions {
  /** Whether to insert a document when none matches, made of what the filter says it equals. Defaults to false. */
  readonly upsert?: boolean | undefined
}

/**
 * Which of the matching documents to remove, and what to tell of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndDeleteOptions {
  /** The first in this order is taken. Defaults to any. */
  readonly sort?: Sort | undefined
  readonly projection?: Document | undefined
}

/**
 * Which of the matching documents to replace, and what to tell of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndReplaceOptions extends FindOneAndDeleteOptions {
  /** The document as it was, which is none when it is inserted, or as it is. Defaults to `before`. */
  readonly returnDocument?: "before" | "after" | undefined
  /** Whether to insert a document when none matches. Defaults to false. */
  readonly upsert?: boolean | undefined
}

/**
 * Which of the matching documents to update, how, and what to tell of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndUpdateOptions extends FindOneAndReplaceOptions, UpdateManyOptions {}

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
 * Some of the documents that match, and the number of all of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Counted {
  readonly documents: ReadonlyArray<Document>
  readonly total: number
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
  readonly findById: (
    collection: string,
    id: unknown,
    options?: ReadOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  /** The matching documents, all in memory: bound it with `limit`, or use `stream`. */
  readonly find: (
    collection: string,
    options: TakeOptions
  ) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /**
   * What {@link find} gives, and how many documents match altogether, exactly. The two are one look at the collection
   * where the store can do that; else others may write in between.
   */
  readonly findAndCount: (collection: string, options: TakeOptions) => Effect.Effect<Counted, ReadError>
  /** The matching documents, read as they are pulled. */
  readonly stream: (collection: string, options: FindOptions) => Stream.Stream<Document, ReadError>
  /** How many documents match, exactly. */
  readonly count: (collection: string, filter: Filter, options?: ReadOptions) => Effect.Effect<number, ReadError>
  /**
   * How many documents there are, more or less: without looking at them, once the store knows. In a transaction it is
   * {@link count} of all.
   */
  readonly estimatedCount: (collection: string) => Effect.Effect<number, ReadError>
  /**
   * The values that the matching documents have at a path, each once, in no particular order. Of a list, its items
   * count; what has no value counts for nothing. Numbers that are equal are one value.
   */
  readonly distinct: (
    collection: string,
    path: string,
    filter: Filter,
    options?: ReadOptions
  ) => Effect.Effect<ReadonlyArray<unknown>, ReadError>
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
    options?: UpdateOneOptions
  ) => Effect.Effect<UpdateResult, StoreError>
  /** Applies update operators to every matching document. */
  readonly updateMany: (
    collection: string,
    filter: Filter,
    update: Update,
    options?: UpdateManyOptions
  ) => Effect.Effect<UpdateResult, StoreError>
  /**
   * Applies update operators to the first matching document and gives that document, in one atomic operation;
   * `undefined` when there is none to give.
   */
  readonly findOneAndUpdate: (
    collection: string,
    filter: Filter,
    update: Update,
    options?: FindOneAndUpdateOptions
  ) => Effect.Effect<Document | undefined, StoreError>
  /** `replaceOne` that gives the document, in one atomic operation; `undefined` when there is none to give. */
  readonly findOneAndReplace: (
    collection: string,
    filter: Filter,
    document: Document,
    options?: FindOneAndReplaceOptions
  ) => Effect.Effect<Document | undefined, StoreError>
  /** Removes the first matching document and gives it, in one atomic operation; `undefined` when there was none. */
  readonly findOneAndDelete: (
    collection: string,
    filter: Filter,
    options?: FindOneAndDeleteOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  /** Removes the first matching document; the result is 0 or 1. */
  readonly deleteOne: (collection: string, filter: Filter) => Effect.Effect<number, ReadError>
  /** Removes every matching document; the result is their number. */
  readonly deleteMany: (collection: string, filter: Filter) => Effect.Effect<number, ReadError>
  /** The documents that leave the pipeline, read as they are pulled. */
  readonly aggregate: (
    collection: string,
    pipeline: ReadonlyArray<Document>,
    options?: ReadOptions
  ) => Stream.Stream<Document, ReadError>
  /**
   * Runs an effect whose operations on this store, its children's included, happen all or not at all.
   *
   * They see what they have written, and otherwise one state of the store, that of the beginning; nobody else sees anything
   * before the effect has succeeded. The isolation level is snapshot isolation at least; the embedded store's transactions
   * are serializable. When it fails or dies, nothing was written. Neither was anything when one of its operations failed,
   * even where the effect goes on: then the transaction fails with that failure, and operations after it fail at once. A
   * refusal that `insertMany` tells is such a failure. A transaction in a transaction is part of the outer one, which fails
   * with it.
   *
   * When others have written what it has read or written, the whole effect runs again, several times if need be, before
   * the transaction fails with a retryable `StoreUnavailable`, and nothing was written: what it does beside using this
   * store has to bear that. Operations on indexes and collections fail with `Unsupported` in it. A fiber that outlives the
   * transaction that it was started in can't use the store: its operations fail with `StoreUnavailable`.
   *
   * Interrupted before it commits, it has written nothing. A commit that has begun is waited for, and whoever interrupts it
   * then, a timeout for instance, is not told how it ended: what was written is there or not as a whole.
   */
  readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R>
  /**
   * Installs what is missing; an index that is there already is left alone. When one is there with another definition,
   * or under another name, nothing is installed and it fails with a `QueryRejected` whose `conflict` tells both. Fails
   * with `DuplicateKey` when stored documents break a unique index, and with `Unsupported` for a kind of index that the
   * store doesn't have.
   */
  readonly createIndexes: (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ) => Effect.Effect<void, StoreError>
  /**
   * Makes the indexes of the collection those that are described: drops the others, except the one on `_id`, rebuilds
   * those with another definition, and installs what is missing. While one is rebuilt, queries do without it. When one
   * can't be made, the one that it was to replace is made again, and the rest is left as it is by then.
   */
  readonly syncIndexes: (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ) => Effect.Effect<IndexChanges, StoreError>
  /**
   * Drops the indexes of these names, or without names all, except the one on `_id`. The result is the names of those
   * that were there.
   */
  readonly dropIndexes: (
    collection: string,
    names?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The installed indexes, without the one on `_id`. */
  readonly listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
  /**
   * From now on, documents that are written have to fulfil this JSON schema (MongoDB's `$jsonSchema`); `undefined` takes
   * the rule away. Documents that are there already stay as they are. A write that is refused fails with a
   * `QueryRejected` that names the fields and the rules, never the values. Fails with `Unsupported` where the store does
   * not look at documents.
   */
  readonly setValidator: (
    collection: string,
    jsonSchema: Document | undefined,
    options?: ValidatorOptions
  ) => Effect.Effect<void, ReadError>
}>()("appkernel/Repository/DocumentStore") {}
