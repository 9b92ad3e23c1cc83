/**
 * The operations that repositories of models with `Model.historied` add. The history of a collection is stored in a second
 * collection: one entry for each state of each document.
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
 * The kind of a change. `baseline` is the state that a document had before its first change with a history entry.
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
  /** Counts the states of this document from 1 upwards. The revision of the `baseline` is 0. */
  readonly revision: number
  readonly change: Change
  readonly at: DateTime.Utc
  /** The `Generator.CurrentUserId` of the writer, if there was one. */
  readonly by: string | undefined
  /** The document as it was stored, including fields that the model omits. For a removal, its last state. */
  readonly document: Document
  /** The document as an instance. Fails when the model has changed and no longer accepts the document. */
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
 * The operations that the repository of a model with `Model.historied` adds.
 *
 * @category services
 * @since 0.1.0
 */
export interface Histories<M extends Model.Any> {
  /**
   * The states of a document, the latest first. All are held in memory, so bound their number by `pageSize`. To get the
   * next page, set `before` to the last revision of this one.
   */
  readonly history: (
    id: Model.Id<M>,
    options?: { readonly pageSize?: number | undefined; readonly before?: number | undefined }
  ) => Effect.Effect<ReadonlyArray<Version<M>>, ReadError>
  /** Streams the states of a document, the latest first. They are read as the stream is pulled. */
  readonly historyStream: (id: Model.Id<M>) => Stream.Stream<Version<M>, ReadError>
  /** The state of a revision or at a time. `None` when the document did not exist or was deleted at that time. */
  readonly versionAt: (
    id: Model.Id<M>,
    at: number | DateTime.Utc
  ) => Effect.Effect<Option.Option<Version<M>>, ReadError>
  /** Removes the history of a document, whether the document exists or not. Returns the number of removed states. */
  readonly purgeHistory: (id: Model.Id<M>) => Effect.Effect<number, ReadError>
}
