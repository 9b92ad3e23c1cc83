/**
 * What the repository of any model does. `Repository` exports all of it.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type {
  Counted,
  Document,
  IndexChanges,
  ReadOptions,
  TakeOptions,
  UpdateResult,
  ValidatorOptions
} from "../DocumentStore.ts"
import type * as Query from "../Query.ts"
import type { ElementOf, Selected } from "../query/fieldTypes.ts"
import type {
  BulkInsertFailed,
  DocumentInvalid,
  DocumentNotFound,
  QueryRejected,
  ReadError,
  StoreError,
  VersionConflict
} from "../RepositoryError.ts"
import type * as Update from "../Update.ts"
import type { DeletedOptions } from "./softDeletion.ts"

/**
 * In which order.
 *
 * @category models
 * @since 0.1.0
 */
export interface SortOptions<M extends Model.Any> extends DeletedOptions<M> {
  /** The field to sort by. Defaults to the identifier. */
  readonly sortBy?: (keyof M["store"]["fields"] & string) | undefined
  /** Defaults to `"ASC"`. */
  readonly sortOrder?: "ASC" | "DESC" | undefined
  /** Several fields to sort by, in order of weight, in the place of `sortBy`. */
  readonly sort?: ReadonlyArray<Query.SortKey<M>> | undefined
}

/**
 * Which of the matching documents, and in which order. Pages never overlap: ties break by the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOptions<M extends Model.Any> extends SortOptions<M>, ReadOptions {
  /** From 1 upwards. Defaults to 1; without `pageSize` there is one page of everything. */
  readonly page?: number | undefined
  /** Documents per page. Defaults to all. */
  readonly pageSize?: number | undefined
}

/**
 * Which page, by a place in the order instead of a number: documents that come or go meanwhile move nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface CursorOptions<M extends Model.Any> extends SortOptions<M> {
  /** The `next` of the page before. Defaults to the beginning. */
  readonly cursor?: string | undefined
  /** Documents per page. */
  readonly pageSize: number
  /** How long the store may take. Defaults to as long as it takes. */
  readonly timeLimit?: Duration.Input | undefined
}

/**
 * A page, and the cursor of the next one where there is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: Option.Option<string>
}

/**
 * What the repository of any model does. Where a model is `Model.softDeleted`, nothing reads, counts or changes what is
 * deleted, unless `deleted` says so.
 *
 * @category services
 * @since 0.1.0
 */
export interface Operations<M extends Model.Any> {
  readonly model: M
  /** The collection of the store, named as the model. */
  readonly collection: string
  /** The instance with this identifier. */
  readonly findById: (
    id: Model.Id<M>,
    options?: DeletedOptions<M>
  ) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | ReadError>
  /** The first instance that fulfils the condition. */
  readonly findOne: (
    where?: Query.Where<M>,
    options?: SortOptions<M>
  ) => Effect.Effect<Option.Option<M["Type"]>, DocumentInvalid | ReadError>
  /**
   * The instances that fulfil the condition, all in memory: bound them by `pageSize`. With `select`, only those fields
   * of them.
   */
  readonly find: {
    <const P extends Query.Path<M>>(
      where: Query.Where<M> | undefined,
      options: FindOptions<M> & { readonly select: ReadonlyArray<P> }
    ): Effect.Effect<ReadonlyArray<Selected<M["Type"], P>>, DocumentInvalid | ReadError>
    (
      where?: Query.Where<M>,
      options?: FindOptions<M>
    ): Effect.Effect<ReadonlyArray<M["Type"]>, DocumentInvalid | ReadError>
  }
  /** A page of them that begins behind a cursor. Fails with `QueryRejected` when the cursor is of another order. */
  readonly findPage: (
    where: Query.Where<M> | undefined,
    options: CursorOptions<M>
  ) => Effect.Effect<Page<M["Type"]>, DocumentInvalid | QueryRejected | ReadError>
  /** The instances that fulfil the condition, read as they are pulled. */
  readonly stream: (
    where?: Query.Where<M>,
    options?: FindOptions<M>
  ) => Stream.Stream<M["Type"], DocumentInvalid | ReadError>
  /** How many instances fulfil the condition, exactly. */
  readonly count: (where?: Query.Where<M>, options?: DeletedOptions<M>) => Effect.Effect<number, ReadError>
  /** How many instances there are, more or less, without looking at them, unless some are deleted softly. */
  readonly estimatedCount: Effect.Effect<number, ReadError>
  /** Whether an instance fulfils the condition. */
  readonly exists: (where?: Query.Where<M>, options?: DeletedOptions<M>) => Effect.Effect<boolean, ReadError>
  /** The values that a field has among the instances that fulfil the condition, each once; of a list, its elements. */
  readonly distinct: <K extends keyof M["store"]["fields"] & string>(
    field: K,
    where?: Query.Where<M>,
    options?: DeletedOptions<M>
  ) => Effect.Effect<ReadonlyArray<ElementOf<M["store"]["fields"][K]>>, ReadError>
  /** The documents that leave a pipeline in the store's own terms, read as they are pulled. */
  readonly aggregate: (
    pipeline: ReadonlyArray<Document>,
    options?: ReadOptions & DeletedOptions<M>
  ) => Stream.Stream<Document, ReadError>
  /**
   * Adds an instance, which has to be valid; a versioned one gets version 1. Fails with `DuplicateKey` when its identifier
   * is taken.
   */
  readonly insert: (instance: M["Type"]) => Effect.Effect<M["Type"], ModelError | StoreError>
  /**
   * Inserts or updates. What differs from the stored instance has to be valid. A versioned instance whose stored version
   * is another one fails with `VersionConflict`.
   */
  readonly save: (instance: M["Type"]) => Effect.Effect<M["Type"], ModelError | VersionConflict | StoreError>
  /** Replaces the stored instance of the same identifier, which must be there. What differs from it has to be valid. */
  readonly replace: (
    instance: M["Type"]
  ) => Effect.Effect<M["Type"], DocumentNotFound | ModelError | VersionConflict | StoreError>
  /**
   * Changes the named fields as a JSON merge patch does (RFC 7396): `null` removes, models, structs, records and free-form
   * values are merged at every depth, lists are replaced. What changes is validated before anything is written, together
   * with the rules for several fields, and written only while these fields hold what they held; otherwise it begins again,
   * so that of many patches at once none is lost. `version` among the changes is the expected one.
   */
  readonly patch: (
    id: Model.Id<M>,
    changes: M["patch"]["Type"]
  ) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | StoreError>
  /**
   * Changes the stored instance to what `change` makes of it, which is written while the document is the one that was read:
   * otherwise somebody else wrote in between, and it begins again, so that `change` may run several times. For as long as
   * 30 seconds it is tried again, with growing delays, and one after another of those in this process that have lost; then
   * it fails with `VersionConflict`. So does `patch`. The identifier and what the repository manages stay as they are;
   * nothing is written when nothing differs. What differs has to be valid.
   */
  readonly modify: <E, R>(
    id: Model.Id<M>,
    change: (current: M["Type"]) => Effect.Effect<M["Type"], E, R>
  ) => Effect.Effect<M["Type"], E | DocumentNotFound | DocumentInvalid | ModelError | VersionConflict | StoreError, R>
  /**
   * Adds instances, each of which has to be valid; the result is their number. `ordered` (the default) stops at the first that is refused, and those
   * before it stay; otherwise all that can be added are. Fails with `BulkInsertFailed`, which has each refusal with its
   * place.
   */
  readonly bulkInsert: (
    instances: ReadonlyArray<M["Type"]>,
    options?: { readonly ordered?: boolean | undefined }
  ) => Effect.Effect<number, BulkInsertFailed | ReadError>
  /** Changes the first instance that fulfils the condition, in one atomic operation. */
  readonly updateOne: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>
  ) => Effect.Effect<UpdateResult, ModelError | StoreError>
  /** Changes every instance that fulfils the condition, each in one atomic operation. */
  readonly updateMany: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>
  ) => Effect.Effect<UpdateResult, ModelError | StoreError>
  /** Changes the first instance that fulfils the condition and gives it as it is then, or as it was `before`. */
  readonly findOneAndUpdate: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>,
    options?: {
      readonly sort?: ReadonlyArray<Query.SortKey<M>> | undefined
      readonly returnDocument?: "before" | "after" | undefined
    }
  ) => Effect.Effect<Option.Option<M["Type"]>, DocumentInvalid | ModelError | StoreError>
  /** Removes the instance, which must be there; with `Model.softDeleted` it is marked instead, as by all that delete. */
  readonly deleteById: {
    (id: Model.Id<M>): Effect.Effect<void, DocumentNotFound | ReadError>
    /** Of a versioned model: only while it has this version, in one atomic operation; else `VersionConflict`. */
    (
      id: Model.Id<M>,
      options: { readonly version: number }
    ): Effect.Effect<void, DocumentNotFound | VersionConflict | ReadError>
  }
  /** Removes the instances that fulfil the condition; the result is their number. */
  readonly deleteMany: (where: Query.Where<M>) => Effect.Effect<number, ReadError>
  /** Removes all instances; the result is their number. */
  readonly deleteAll: Effect.Effect<number, ReadError>
  /** Makes the installed indexes those of the model: what nobody declares is dropped, what changed is built anew. */
  readonly syncIndexes: Effect.Effect<IndexChanges, StoreError>
  /** Has the store look at documents by the model's JSON schema, where it can: see `DocumentStore.setValidator`. */
  readonly installValidator: (options?: ValidatorOptions) => Effect.Effect<void, ReadError>
  /** The stored document with this identifier as it is, or `undefined`. */
  readonly findDocumentById: (
    id: Model.Id<M>,
    options?: ReadOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  /** Stored documents as they are. */
  readonly findDocuments: (options: TakeOptions) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** Stored documents as they are, and how many match altogether: see `DocumentStore.findAndCount`. */
  readonly findAndCountDocuments: (options: TakeOptions) => Effect.Effect<Counted, ReadError>
  /** How many stored documents match. */
  readonly countDocuments: (filter: Document, options?: ReadOptions) => Effect.Effect<number, ReadError>
}
