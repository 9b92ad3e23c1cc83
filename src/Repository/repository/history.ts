/**
 * What repositories do for models with `Model.historied`: they keep each state of a document, in a collection beside its
 * own.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Revision } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../DocumentStore.ts"
import type { DocumentInvalid, ReadError } from "../RepositoryError.ts"

/**
 * What was done to a document. `baseline` is the state that a document had before the first write that was kept.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = "baseline" | "insert" | "replace" | "patch" | "update" | "delete" | "restore" | "purge"

/**
 * A state of a document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Version<M extends Model.Any> {
  /** The identifier of the document. */
  readonly id: Model.Id<M>
  /** Counts the states of this document from 1 upwards; 0 is that of the `baseline`. */
  readonly revision: number
  readonly change: Change
  readonly at: DateTime.Utc
  /** Who did it, where `Generator.CurrentUserId` was known. */
  readonly by: string | undefined
  /** The document as it was stored then, what the model omits included; the last one, when it was removed. */
  readonly document: Document
  /** The same as an instance; the model may have changed since. */
  readonly instance: Effect.Effect<M["Type"], DocumentInvalid>
}

/**
 * Whether the model has `Model.historied`.
 *
 * @category models
 * @since 0.1.0
 */
export type IsHistoried<M extends Model.Any> = [
  Extract<M["store"]["fields"][keyof M["store"]["fields"]], Revision>
] extends [never] ? false : true

/**
 * What the repository of a model with `Model.historied` does besides.
 *
 * @category services
 * @since 0.1.0
 */
export interface Histories<M extends Model.Any> {
  /**
   * The states of a document, the latest first, all in memory: bound them by `pageSize`. The next page is that `before`
   * the last revision of this one.
   */
  readonly history: (
    id: Model.Id<M>,
    options?: { readonly pageSize?: number | undefined; readonly before?: number | undefined }
  ) => Effect.Effect<ReadonlyArray<Version<M>>, ReadError>
  /** The states of a document, the latest first, read as they are pulled. */
  readonly historyStream: (id: Model.Id<M>) => Stream.Stream<Version<M>, ReadError>
  /** The state of this revision, or the one at this moment; none, when the document was not there or was deleted then. */
  readonly versionAt: (
    id: Model.Id<M>,
    at: number | DateTime.Utc
  ) => Effect.Effect<Option.Option<Version<M>>, ReadError>
  /** Forgets all states of a document, whether it is there or not; the result is their number. */
  readonly purgeHistory: (id: Model.Id<M>) => Effect.Effect<number, ReadError>
}
