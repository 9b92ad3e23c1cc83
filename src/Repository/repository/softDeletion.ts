/**
 * What repositories do for models with `Model.softDeleted`: deleting marks, and everything else passes over what is
 * marked.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Deletion } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type * as Query from "../Query.ts"
import type { DocumentInvalid, DocumentNotFound, ReadError, StoreError } from "../RepositoryError.ts"

/**
 * Whether deleted documents are left out, found beside the others, or the only ones that are found.
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
  Extract<M["store"]["fields"][keyof M["store"]["fields"]], Deletion>
] extends [never] ? false : true

/**
 * What becomes of deleted documents; of models that have none, there is nothing to say.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeletedOptions<M extends Model.Any> {
  /** Defaults to `"exclude"`. */
  readonly deleted?: (IsSoftDeleted<M> extends true ? Deleted : never) | undefined
}

/**
 * What the repository of a model with `Model.softDeleted` does besides.
 *
 * @category services
 * @since 0.1.0
 */
export interface SoftDeletes<M extends Model.Any> {
  /**
   * Makes the deleted instance one like any other again. Fails with `DocumentNotFound` when none of this identifier is
   * deleted, and with `DuplicateKey` when another one has meanwhile taken a value that was free.
   */
  readonly restoreById: (id: Model.Id<M>) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | StoreError>
  /** Makes the deleted instances that fulfil the condition ones like any other again; the result is their number. */
  readonly restoreMany: (where: Query.Where<M>) => Effect.Effect<number, StoreError>
  /** Removes the instance, deleted or not, for good. */
  readonly purgeById: (id: Model.Id<M>) => Effect.Effect<void, DocumentNotFound | ReadError>
  /** Removes the deleted instances that fulfil the condition for good; the result is their number. */
  readonly purge: (where?: Query.Where<M>) => Effect.Effect<number, ReadError>
}
