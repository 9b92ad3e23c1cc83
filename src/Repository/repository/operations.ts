/**
 * The operations that the repository of every model has. `Repository` exports these types.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { DeletedOptions, SortOptions } from "../collection/deletedDocuments.ts"
import type { Document, IndexChanges, ReadOptions, UpdateResult, ValidatorOptions } from "../DocumentStore.ts"
import type * as Query from "../Query.ts"
import type { ElementOf, Selected } from "../query/fieldTypes.ts"
import type {
  BulkInsertFailed,
  DeleteError,
  DocumentInvalid,
  DocumentNotFound,
  QueryRejected,
  ReadError,
  StoreError,
  VersionConflict,
  WriteError
} from "../RepositoryError.ts"
import type * as Update from "../Update.ts"

/**
 * Options of `find` and `stream`: the order of the results, and which page of them to return. Instances with equal sort
 * values are sorted by the identifier, so pages of an unchanged collection never overlap.
 *
 * @category models
 * @since 0.1.0
 */
export interface FindOptions<M extends Model.Any> extends SortOptions<M>, ReadOptions {
  /** The number of the page, from 1 upwards. Defaults to 1. Without `pageSize` the first page has all documents. */
  readonly page?: number | undefined
  /** Documents per page. Defaults to all. */
  readonly pageSize?: number | undefined
}

/**
 * Options of `findPage`: the order of the results, and the cursor after which the page begins. Unlike pages by number,
 * pages by cursor neither skip nor repeat an instance when others are inserted or deleted between two requests.
 *
 * @category models
 * @since 0.1.0
 */
export interface CursorOptions<M extends Model.Any> extends SortOptions<M> {
  /** The `next` of the previous page. Defaults to the first page. */
  readonly cursor?: string | undefined
  /** Documents per page. */
  readonly pageSize: number
  /** The time after which the store gives up. Defaults to no limit. */
  readonly timeLimit?: Duration.Input | undefined
}

/**
 * The result of `findPage`: the instances of one page, and the cursor for the next page.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<A> {
  /** The instances of this page, in order. */
  readonly items: ReadonlyArray<A>
  /** The `cursor` to request the next page with. `None` on the last page. */
  readonly next: Option.Option<string>
}

/**
 * The operations that the repository of every model has. In a model with `Model.softDeleted`, they exclude deleted
 * instances unless the option `deleted` includes them.
 *
 * @category services
 * @since 0.1.0
 */
export interface Operations<M extends Model.Any> {
  readonly model: M
  /** The name of the collection, which is the name of the model. */
  readonly collection: string
  /** Finds the instance with this identifier. */
  readonly findById: (
    id: Model.Id<M>,
    options?: DeletedOptions<M>
  ) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | ReadError>
  /** Finds the first instance that matches the condition. */
  readonly findOne: (
    where?: Query.Where<M>,
    options?: SortOptions<M>
  ) => Effect.Effect<Option.Option<M["Type"]>, DocumentInvalid | ReadError>
  /**
   * Finds the instances that match the condition. All are held in memory, so bound their number by `pageSize`. With
   * `select`, the results have the selected fields only.
   */
  readonly find: <const Select extends ReadonlyArray<Query.Path<M>> | undefined = undefined>(
    where?: Query.Where<M>,
    options?: FindOptions<M> & { readonly select?: Select }
  ) => Effect.Effect<
    ReadonlyArray<Select extends ReadonlyArray<infer P extends string> ? Selected<M["Type"], P> : M["Type"]>,
    DocumentInvalid | ReadError
  >
  /** Finds the page after a cursor. Fails with `QueryRejected` when the cursor belongs to a different order. */
  readonly findPage: (
    where: Query.Where<M> | undefined,
    options: CursorOptions<M>
  ) => Effect.Effect<Page<M["Type"]>, DocumentInvalid | QueryRejected | ReadError>
  /** Streams the instances that match the condition. They are read as the stream is pulled. */
  readonly stream: (
    where?: Query.Where<M>,
    options?: FindOptions<M>
  ) => Stream.Stream<M["Type"], DocumentInvalid | ReadError>
  /** Counts the instances that match the condition, exactly. */
  readonly count: (where?: Query.Where<M>, options?: DeletedOptions<M>) => Effect.Effect<number, ReadError>
  /** Estimates the number of instances without reading them. With `Model.softDeleted`, counts them exactly. */
  readonly estimatedCount: Effect.Effect<number, ReadError>
  /** Whether an instance matches the condition. */
  readonly exists: (where?: Query.Where<M>, options?: DeletedOptions<M>) => Effect.Effect<boolean, ReadError>
  /** The distinct values of a field among the instances that match the condition. The values of a list are its items. */
  readonly distinct: <K extends keyof M["store"]["fields"] & string>(
    field: K,
    where?: Query.Where<M>,
    options?: DeletedOptions<M>
  ) => Effect.Effect<ReadonlyArray<ElementOf<M["store"]["fields"][K]>>, ReadError>
  /** Streams the documents that result from a MongoDB aggregation pipeline. They are read as the stream is pulled. */
  readonly aggregate: (
    pipeline: ReadonlyArray<Document>,
    options?: ReadOptions & DeletedOptions<M>
  ) => Stream.Stream<Document, ReadError>
  /**
   * Inserts an instance, which has to be valid. A versioned instance gets version 1. Fails with `DuplicateKey` when its
   * identifier or another unique value exists already.
   */
  readonly insert: (instance: M["Type"]) => Effect.Effect<M["Type"], ModelError | WriteError>
  /**
   * Inserts the instance, or replaces the stored one. Values that differ from the stored instance have to be valid. Fails
   * with `VersionConflict` when the stored instance has a different version.
   */
  readonly save: (instance: M["Type"]) => Effect.Effect<M["Type"], ModelError | VersionConflict | WriteError>
  /**
   * Replaces the stored instance of the same identifier. Values that differ from the stored instance have to be valid. An
   * instance with an invalid value, in this and in `save`, only replaces the stored instance that was read: like `modify`
   * it is retried on a conflict with another writer.
   */
  readonly replace: (
    instance: M["Type"]
  ) => Effect.Effect<M["Type"], DocumentNotFound | ModelError | VersionConflict | WriteError>
  /**
   * Applies a JSON merge patch (RFC 7396): `null` removes a field; models, structs, records and free-form values are merged
   * at every depth; lists are replaced. The changed values and the rules over several fields are validated before the
   * write. The write only succeeds while the fields that it depends on are unchanged, and is retried otherwise, so
   * concurrent patches are never lost. A `version` among the changes is the expected version.
   */
  readonly patch: (
    id: Model.Id<M>,
    changes: Update.Patch<M>
  ) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | WriteError>
  /**
   * Replaces the stored instance by the result of `change`. The write only succeeds while the document is as it was read.
   * On a conflict with another writer it is retried, and `change` runs again. Retries within one process run one at a time
   * for each document, with growing delays; after 30 seconds the operation fails with `VersionConflict`. The same holds for
   * `patch`. The identifier and managed fields do not change. Nothing is written when nothing differs. Values that differ
   * have to be valid.
   */
  readonly modify: <E, R>(
    id: Model.Id<M>,
    change: (current: M["Type"]) => Effect.Effect<M["Type"], E, R>
  ) => Effect.Effect<M["Type"], E | DocumentNotFound | DocumentInvalid | ModelError | VersionConflict | WriteError, R>
  /**
   * Inserts instances, each of which has to be valid. Returns their number. An `ordered` insert (the default) stops at the
   * first rejected instance and does not remove those before it; an unordered one inserts every instance that is not
   * rejected. Fails with `BulkInsertFailed`, which has each rejection with its index.
   */
  readonly bulkInsert: (
    instances: ReadonlyArray<M["Type"]>,
    options?: { readonly ordered?: boolean | undefined }
  ) => Effect.Effect<number, BulkInsertFailed | ReadError>
  /** Updates the first instance that matches the condition. Atomic. */
  readonly updateOne: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>
  ) => Effect.Effect<UpdateResult, ModelError | WriteError>
  /** Updates every instance that matches the condition. Atomic for each instance, not for all of them. */
  readonly updateMany: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>
  ) => Effect.Effect<UpdateResult, ModelError | WriteError>
  /** Updates the first instance that matches the condition, and returns it as it is after or was `before` the update. */
  readonly findOneAndUpdate: (
    where: Query.Where<M> | undefined,
    changes: Update.Changes<M>,
    options?: {
      /** The first matching instance in this order is updated. Defaults to an arbitrary one. */
      readonly sort?: Query.Sort<M> | undefined
      readonly returnDocument?: "before" | "after" | undefined
    }
  ) => Effect.Effect<Option.Option<M["Type"]>, DocumentInvalid | ModelError | WriteError>
  /**
   * Deletes the instance. With `Model.softDeleted`, this and the other deletes mark instances instead. The
   * `Model.reference` of documents that refer to the instance decides what happens to them.
   */
  readonly deleteById: {
    (id: Model.Id<M>): Effect.Effect<void, DocumentNotFound | DeleteError>
    /**
     * Deletes a versioned instance while it has this version, in one atomic operation. Fails with `VersionConflict` when it
     * has another version.
     */
    (
      id: Model.Id<M>,
      options: { readonly version: number }
    ): Effect.Effect<void, DocumentNotFound | VersionConflict | DeleteError>
  }
  /** Deletes the instances that match the condition. Returns their number. */
  readonly deleteMany: (where: Query.Where<M>) => Effect.Effect<number, DeleteError>
  /** Deletes all instances. Returns their number. */
  readonly deleteAll: Effect.Effect<number, DeleteError>
  /**
   * Synchronises the installed indexes with the model: drops undeclared indexes, and rebuilds changed ones. Of a model with
   * earlier forms, it keeps those of changed fields until all documents are upgraded.
   */
  readonly syncIndexes: Effect.Effect<IndexChanges, StoreError>
  /**
   * Installs the model's JSON schema as the collection's validator: see `DocumentStore.setValidator`. The schema of a model
   * with earlier forms admits these too, until all documents are upgraded. Install it again then.
   */
  readonly installValidator: (options?: ValidatorOptions) => Effect.Effect<void, ReadError>
}
