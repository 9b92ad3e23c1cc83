/**
 * The changes of a model's documents, and the events of a list of them. `Repository` exports these types.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import type { DeletedOptions, SortOptions } from "../collection/deletedDocuments.ts"
import type { Position, StoredChange } from "../DocumentStore.ts"
import type * as Query from "../Query.ts"
import type { PositionGone, ReadError } from "../RepositoryError.ts"

/**
 * What every change has.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyChange<M extends Model.Any> {
  /** The identifier of the document. */
  readonly id: Model.Id<M>
  /** The place after this change: a stream that begins here has the next one first. */
  readonly position: Position
  /** The same text for all changes that were committed together. */
  readonly transaction: string
  /** When it was written. */
  readonly time: DateTime.Utc
  /** The subject of the writer's `CurrentUser`, if the store knows it. MongoDB does not. */
  readonly by: string | undefined
}

/**
 * A document that was inserted, or that has begun to match or to be among the documents that the caller may read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inserted<M extends Model.Any> extends AnyChange<M> {
  readonly operation: "insert"
  readonly after: M["Type"]
}

/**
 * A document that was updated or replaced.
 *
 * @category models
 * @since 0.1.0
 */
export interface Updated<M extends Model.Any> extends AnyChange<M> {
  readonly operation: "update"
  readonly before: M["Type"]
  readonly after: M["Type"]
}

/**
 * A document that was deleted, has expired, or no longer matches or is no longer among the documents that the caller may read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Removed<M extends Model.Any> extends AnyChange<M> {
  readonly operation: "delete"
  /** The document as it was, if it was deleted. `undefined` if it still exists, and the stream only no longer has it. */
  readonly before: M["Type"] | undefined
}

/**
 * A change as a stream has it.
 *
 * @category models
 * @since 0.1.0
 */
export type ChangeEvent<M extends Model.Any> = Inserted<M> | Updated<M> | Removed<M>

/**
 * Which changes a stream has.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChangesOptions<M extends Model.Any> extends DeletedOptions<M> {
  /** The `position` of the change after which the stream begins. Defaults to the last change that there is. */
  readonly after?: Position | undefined
  /** Defaults to all documents. A search of texts and a distance can't be conditions. */
  readonly where?: Query.Where<M> | undefined
}

/**
 * The documents of a list when its stream begins, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListState<M extends Model.Any> {
  readonly event: "state"
  readonly items: ReadonlyArray<M["Type"]>
  readonly position: Position
}

/**
 * A document that enters a list or changes in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListChange<M extends Model.Any> extends AnyChange<M> {
  readonly event: "enter" | "change"
  readonly item: M["Type"]
}

/**
 * A document that leaves a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListLeave<M extends Model.Any> extends AnyChange<M> {
  readonly event: "leave"
}

/**
 * An event of a list.
 *
 * @category models
 * @since 0.1.0
 */
export type ListEvent<M extends Model.Any> = ListState<M> | ListChange<M> | ListLeave<M>

/** The streams of a repository's changes. @internal */
export interface ChangeStreams<M extends Model.Any> {
  readonly changes: (options?: ChangesOptions<M>) => Stream.Stream<ChangeEvent<M>, PositionGone | ReadError>
  readonly live: (
    where?: Query.Where<M>,
    options?: SortOptions<M>
  ) => Stream.Stream<ListEvent<M>, ReadError>
  /** A change with its documents in the model's newest version. */
  readonly upgraded: (change: StoredChange) => StoredChange
}
