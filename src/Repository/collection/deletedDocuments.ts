/**
 * Documents of models with `Model.softDeleted`: a delete marks a document as deleted, and other operations exclude marked documents.
 * What they exclude them by, and the operations that repositories of such models add.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import type * as Query from "../Query.ts"
import type { DeleteError, DocumentInvalid, DocumentNotFound, WriteError } from "../RepositoryError.ts"

/**
 * Whether an operation excludes deleted documents, includes them, or applies to them only.
 *
 * @category models
 * @since 0.1.0
 */
export type Deleted = "exclude" | "include" | "only"

/**
 * Whether the model has `Model.softDeleted`.
 *
 * @category models
 * @since 0.1.0
 */
export type IsSoftDeleted<M extends Model.Any> = [
  Extract<M["store"]["fields"][keyof M["store"]["fields"]], Model.Deletion>
] extends [never] ? false : true

/**
 * Options of an operation that can include deleted documents. Models without `Model.softDeleted` do not have the option.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeletedOptions<M extends Model.Any> {
  /** Defaults to `"exclude"`. */
  readonly deleted?: (IsSoftDeleted<M> extends true ? Deleted : never) | undefined
}

/**
 * Options of an operation that finds instances in an order.
 *
 * @category models
 * @since 0.1.0
 */
export interface SortOptions<M extends Model.Any> extends DeletedOptions<M> {
  /**
   * The field to sort by, or several with the most significant first. A `-` before a field sorts in descending order:
   * `"name"`, `"-address.city"`, `["state", "-placed"]`. Defaults to the identifier.
   */
  readonly sort?: Query.Sort<M> | undefined
}

/**
 * The operations that the repository of a model with `Model.softDeleted` adds.
 *
 * @category services
 * @since 0.1.0
 */
export interface SoftDeletes<M extends Model.Any> {
  /**
   * Restores a deleted instance. Fails with `DocumentNotFound` when no deleted instance has this identifier, and with
   * `DuplicateKey` when another instance has taken one of its unique values since the delete.
   */
  readonly restoreById: (id: Model.Id<M>) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | WriteError>
  /** Restores the deleted instances that match the condition. Returns their number. */
  readonly restoreMany: (where: Query.Where<M>) => Effect.Effect<number, WriteError>
  /** Removes the instance permanently, whether it is deleted or not. */
  readonly purgeById: (id: Model.Id<M>) => Effect.Effect<void, DocumentNotFound | DeleteError>
  /** Removes the deleted instances that match the condition permanently. Returns their number. */
  readonly purge: (where?: Query.Where<M>) => Effect.Effect<number, DeleteError>
}

/** What documents have to match that are deleted or not; `undefined` for all of them. @internal */
export const deletionConditions = (field: string): { readonly [K in Deleted]: Filter | undefined } => ({
  exclude: { [field]: null },
  include: undefined,
  only: { [field]: { $ne: null } }
})

/** Whether a document is marked as deleted. Models without soft deletion have no such field. @internal */
export const isMarkedDeleted = (document: Document, field: string | undefined): boolean =>
  field !== undefined && (document[field] ?? null) !== null
