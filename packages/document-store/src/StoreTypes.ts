/**
 * The documents, options and results of a store's operations. `DocumentStore` exports all of them, so users do not import this
 * module.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type { DuplicateKey, QueryRejected } from "./StoreError.ts"

/**
 * A stored document. It has own enumerable keys only, and BSON values: strings, numbers, booleans, `null`, `Date`, arrays,
 * nested documents and the classes of the `bson` package. Its identifier is `_id`. A store may return the same deeply frozen
 * object several times, so never mutate a document.
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
 * An update by a pipeline, whose stages compute the document that replaces the stored one: `$set` (or `$addFields`),
 * `$unset`, `$project`, `$replaceRoot` and `$replaceWith`. The document keeps its `_id`.
 *
 * @category models
 * @since 0.1.0
 */
export type UpdatePipeline = ReadonlyArray<Document>

/**
 * Sort keys, the most significant first: 1 for ascending, -1 for descending.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sort {
  readonly [path: string]: 1 | -1
}

/**
 * The {@link Sort} of a text search (`$text`). `{ $meta: "textScore" }` at any path sorts by relevance, the best match
 * first. In a projection it adds the score.
 *
 * @category models
 * @since 0.1.0
 */
export interface SearchSort {
  readonly [path: string]: Sort[string] | { readonly $meta: "textScore" }
}

/**
 * The time limit of a read.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReadOptions {
  /**
   * The time after which the store stops the read, which then fails with `QueryTimeout`. The time that the consumer of a
   * stream takes between two documents does not count. Defaults to the limit of the store: see `MongoStore.Options`. The
   * embedded store has no default limit.
   */
  readonly timeLimit?: Duration.Input | undefined
}

/**
 * The options of a read of one document by its `_id`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindByIdOptions extends ReadOptions {
  /** A document that does not match is not found. One filter object is parsed once, so don't change it. */
  readonly filter?: Filter | undefined
}

/**
 * How texts compare: MongoDB's collation. It decides which texts are equal and in which order they are, in filters, sorts,
 * groups and expressions alike; it never applies to names of fields and to patterns. Without a collation texts compare by
 * their code points.
 *
 * The embedded store compares by `Intl.Collator`, as if `normalization` were true. It fails with `Unsupported` for what
 * `Intl` can't do: strengths of 4 and 5, a `caseLevel` beside a strength other than 1, `maxVariable: "space"` with an
 * `alternate` of `shifted`, another `backwards` than the locale's.
 *
 * ```ts check
 * import { Effect } from "effect"
 * import { DocumentStore } from "appkernel"
 *
 * export const program = Effect.gen(function*() {
 *   const store = yield* DocumentStore.DocumentStore
 *   // Finds "Peter", "peter" and "PETER".
 *   return yield* store.find("people", { filter: { name: "peter" }, collation: { locale: "en", strength: 2 } })
 * })
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Collation {
  /** A language and a country, `en` or `fr_CA`, or with a kind `de@collation=phonebook`; `simple` compares code points. */
  readonly locale: string
  /** Ignores accents and case with 1, case with 2, and neither with 3. Defaults to 3. */
  readonly strength?: 1 | 2 | 3 | 4 | 5 | undefined
  /** Whether strength 1 compares case. Defaults to false. */
  readonly caseLevel?: boolean | undefined
  /** Which of texts that differ in case come first. Defaults to the locale's rule. */
  readonly caseFirst?: "upper" | "lower" | "off" | undefined
  /** Whether digits compare as numbers, so that "10" comes after "9". Defaults to false. */
  readonly numericOrdering?: boolean | undefined
  /** Whether punctuation and spaces count (`non-ignorable`) or not (`shifted`). Defaults to the locale's rule. */
  readonly alternate?: "non-ignorable" | "shifted" | undefined
  /** What `shifted` ignores: punctuation and spaces, or spaces only. Defaults to `punct`. */
  readonly maxVariable?: "punct" | "space" | undefined
  /** Whether accents compare from the end of a text. Defaults to the locale's rule. */
  readonly backwards?: boolean | undefined
  /** Whether different spellings of a character by combining marks are brought into one form first. Defaults to false. */
  readonly normalization?: boolean | undefined
}

/**
 * The option of every operation that compares texts.
 *
 * @category models
 * @since 0.1.0
 */
export interface CollationOptions {
  /** How texts compare. Defaults to their code points. */
  readonly collation?: Collation | undefined
}

/**
 * Options of a read by a filter or a pipeline.
 *
 * @category models
 * @since 0.1.0
 */
export interface QueryOptions extends ReadOptions, CollationOptions {}

/**
 * How a cluster of MongoDB reads and writes the documents of a collection. The embedded store ignores all of these: its reads
 * see every write, its writes are durable, and it chooses the index.
 *
 * Within a transaction only `hint` and `batchSize` apply: a transaction reads one snapshot of the primary, and the majority
 * acknowledges its commit.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoreOptions {
  /**
   * Which members of a replica set read. Another one than the primary may lack the latest writes. A read that a write depends on
   * goes to the primary. Defaults to that of the connection string, which defaults to `primary`.
   */
  readonly readPreference?: "primary" | "primaryPreferred" | "secondary" | "secondaryPreferred" | "nearest" | undefined
  /** Which writes a read sees. Defaults to that of the connection string, which defaults to `local`. */
  readonly readConcern?: "local" | "available" | "majority" | "linearizable" | "snapshot" | undefined
  /**
   * Who acknowledges a write: this number of members from 1, the `"majority"`, or the members of a tag; with `journal`, once it is on
   * their disks. Defaults to that of the connection string, which defaults to the majority.
   */
  readonly writeConcern?:
    | { readonly w?: number | string | undefined; readonly journal?: boolean | undefined }
    | undefined
  /**
   * The index, by name or key, for reads by a filter or a pipeline, but those that writes depend on. A read fails with
   * `QueryRejected` if there is no such index. Defaults to the server's choice.
   */
  readonly hint?: string | Sort | undefined
  /** The number of documents in a batch of a stream, a pipeline, or a find without a limit. Defaults to 1,000. */
  readonly batchSize?: number | undefined
}

/**
 * The documents to read. Without options, the complete collection is read in no particular order.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOptions extends QueryOptions {
  readonly filter?: Filter | undefined
  readonly sort?: SearchSort | undefined
  /** The number of documents to skip. Defaults to 0. */
  readonly skip?: number | undefined
  /** The maximum number of documents to return. Defaults to no limit. */
  readonly limit?: number | undefined
  readonly projection?: Document | undefined
}

/**
 * The documents to stream.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamOptions extends FindOptions {
  /**
   * Whether all documents are those of one state of the collection. The stream then fails with a retryable `StoreUnavailable`
   * when the store no longer has that state. A MongoDB server has one if it is in a replica set. Defaults to false: a later
   * document may be of a later state.
   */
  readonly snapshot?: boolean | undefined
}

/**
 * The documents to read, and an optional consumer.
 *
 * @category models
 * @since 0.1.0
 */
export interface TakeOptions extends FindOptions {
  /**
   * Receives the documents in order and in batches, as they are read. The result of the read is empty then, so documents
   * that the consumer does not retain can be collected. Returning `false` ends the read.
   */
  readonly take?: ((documents: ReadonlyArray<Document>) => boolean) | undefined
}

/**
 * An index to install. Two descriptions with the same name have to describe the same index.
 *
 * @category models
 * @since 0.1.0
 */
export interface IndexDescription {
  readonly name: string
  /** The paths in order: 1 for ascending, -1 for descending, or a kind that the store supports, such as `"text"`. */
  readonly key: { readonly [path: string]: 1 | -1 | string }
  /** Whether each key is unique among the documents. A missing field counts as `null`. Defaults to false. */
  readonly unique?: boolean | undefined
  /** Whether the index excludes documents that have none of the fields. Defaults to false. */
  readonly sparse?: boolean | undefined
  /**
   * Removes a document this number of seconds after the date in the index's only field, with a delay of up to a minute. Of
   * a list of dates, the earliest counts. Defaults to no removal.
   */
  readonly expireAfterSeconds?: number | undefined
  /**
   * Restricts the index to the matching documents. Only a query whose filter implies this filter uses the index. Cannot be
   * combined with `sparse`. Defaults to all documents.
   */
  readonly partialFilterExpression?: Filter | undefined
  /** The weight of each field of a text index, from 1 to 99,999. Defaults to 1. */
  readonly weights?: { readonly [path: string]: number } | undefined
  /** The language of a text index. `none` disables stemming and stop words. Defaults to `english`. */
  readonly defaultLanguage?: string | undefined
  /**
   * How the texts in the index compare: a unique index refuses those that are equal by it. Only queries with the same
   * collation use the index for texts. Defaults to their code points.
   */
  readonly collation?: Collation | undefined
}

/**
 * The changes that `syncIndexes` made, by the names of the indexes.
 *
 * @category models
 * @since 0.1.0
 */
export interface IndexChanges {
  /** Indexes that were missing. */
  readonly created: ReadonlyArray<string>
  /** Indexes that were installed with a different definition. */
  readonly rebuilt: ReadonlyArray<string>
  /** Indexes that were installed but not described. */
  readonly dropped: ReadonlyArray<string>
}

/**
 * How the store treats a document that its collection's JSON schema does not accept.
 *
 * @category models
 * @since 0.1.0
 */
export interface ValidatorOptions {
  /** `error` rejects the document. `warn` writes it, and logs a warning on the server. Defaults to `error`. */
  readonly action?: "warn" | "error" | undefined
}

/**
 * A collection, and the validator that `setValidator` has installed.
 *
 * @category models
 * @since 0.1.0
 */
export interface CollectionDescription extends ValidatorOptions {
  readonly name: string
  /** `undefined` without a validator. */
  readonly jsonSchema?: Document | undefined
}

/**
 * The result of `insertMany`.
 *
 * @category models
 * @since 0.1.0
 */
export interface InsertManyResult {
  /** The number of documents that were inserted. */
  readonly insertedCount: number
  /** The rejected documents, by their index in the input. */
  readonly failures: ReadonlyArray<{ readonly index: number; readonly error: DuplicateKey | QueryRejected }>
}

/**
 * Options of an update of several documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateManyOptions extends CollationOptions {
  /**
   * The filters of the `$[name]` placeholders in paths. The paths of a filter begin with the name of its placeholder:
   * `{ "name.price": { $gt: 5 } }`. Each filter has to be used, and each placeholder has to have a filter.
   */
  readonly arrayFilters?: ReadonlyArray<Filter> | undefined
  /** Variables for the expressions of the filter and of a pipeline: `{ rate: 2 }` is `$$rate`. They see no document. */
  readonly let?: Document | undefined
}

/**
 * Options of an update of one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateOneOptions extends UpdateManyOptions {
  /** Whether to insert a document when none matches, with the values that the filter requires. Defaults to false. */
  readonly upsert?: boolean | undefined
}

/**
 * Options of `replaceOne`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReplaceOptions extends CollationOptions {
  /** Whether to insert the document when none matches. Defaults to false. */
  readonly upsert?: boolean | undefined
}

/**
 * Options of `findOneAndDelete`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndDeleteOptions extends CollationOptions {
  /** The first matching document in this order is chosen. Defaults to an arbitrary one. */
  readonly sort?: Sort | undefined
  readonly projection?: Document | undefined
}

/**
 * Options of `findOneAndReplace`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndReplaceOptions extends FindOneAndDeleteOptions, ReplaceOptions {
  /** Whether to return the document before the write, which is none for an insert, or after it. Defaults to `before`. */
  readonly returnDocument?: "before" | "after" | undefined
}

/**
 * Options of an update that returns its document.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOneAndUpdateOptions extends FindOneAndReplaceOptions, UpdateManyOptions {}

/**
 * The result of an update or a replacement.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateResult {
  /** The number of documents that matched the filter. */
  readonly matchedCount: number
  /** The number of documents whose content changed. */
  readonly modifiedCount: number
  /** The identifier of the document that `upsert` inserted. */
  readonly upsertedId?: unknown
}

/**
 * A page of the matching documents, and the total number of matches.
 *
 * @category models
 * @since 0.1.0
 */
export interface Counted {
  readonly documents: ReadonlyArray<Document>
  readonly total: number
}
