/**
 * The log of a store's changes. `DocumentStore` exports these types, so users do not import this module.
 *
 * @since 0.1.0
 */
import type * as ByteSize from "effect/ByteSize"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { PositionGone, ReadError } from "./StoreError.ts"
import type { Document } from "./StoreTypes.ts"

/**
 * A place in the log of a store's changes: after one change, and before the next one. It is an opaque text, which only the
 * store that gave it understands. Of the embedded store, the later of two places is the greater text.
 *
 * @category models
 * @since 0.1.0
 */
export type Position = string

/**
 * How long the changes of a collection are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogOptions {
  /** How long a change is kept at least, unless the log is too large. Defaults to 7 days. */
  readonly keep?: Duration.Input | undefined
  /** The size of the kept changes. When they have more, the oldest are removed. Defaults to 256 MiB. */
  readonly maxSize?: ByteSize.Input | undefined
}

interface AnyStoredChange {
  /** The place after this change: whoever reads from here gets the next one. */
  readonly position: Position
  /** The same text for all changes that were committed together. */
  readonly transaction: string
  readonly collection: string
  /** The `_id` of the document. */
  readonly id: unknown
  /** When it was written. */
  readonly time: Date
  /** The subject of the user who wrote it. `undefined` if there was none, and for expired documents. */
  readonly who?: string | undefined
}

/**
 * A document that did not exist before.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredInsert extends AnyStoredChange {
  readonly operation: "insert"
  readonly after: Document
}

/**
 * A document that was updated or replaced.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredUpdate extends AnyStoredChange {
  readonly operation: "update"
  readonly before: Document
  readonly after: Document
}

/**
 * A document that was deleted, or has expired.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredDelete extends AnyStoredChange {
  readonly operation: "delete"
  readonly before: Document
}

/**
 * A change of one document.
 *
 * @category models
 * @since 0.1.0
 */
export type StoredChange = StoredInsert | StoredUpdate | StoredDelete

/**
 * Some changes in the order in which they were committed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChangePage {
  readonly changes: ReadonlyArray<StoredChange>
  /** The place after these changes. */
  readonly position: Position
  /** Whether these were the last changes when they were read. */
  readonly isUpToDate: boolean
}

/**
 * The log of a store's changes. A change is in it from the moment when its write is durable and visible, in the order of the
 * commits and without gaps. In a transaction, the log is that outside of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChangeLog {
  /**
   * Begins to record the changes of a collection, which is created if needed, or changes how long they are kept. Without
   * options, ends it, and changes that were recorded can't be read any more. Fails with `Unsupported` if the store can't
   * record changes.
   */
  readonly record: (collection: string, options: LogOptions | undefined) => Effect.Effect<void, ReadError>
  /** The place after the last change. */
  readonly end: Effect.Effect<Position, ReadError>
  /**
   * The place before the first kept change of recorded collections since a time; without one the end. A store whose log has
   * whole seconds begins up to two seconds earlier, and one that does not know how far back its log goes fails when the place is
   * read from. Fails with `QueryRejected` if a collection is not recorded.
   */
  readonly since: (collections: ReadonlyArray<string>, time: Date) => Effect.Effect<Position, ReadError>
  /**
   * Reads the changes of recorded collections after a place, at most `limit`. Fails with `PositionGone` when changes after it
   * are no longer kept, and with `QueryRejected` if a collection is not recorded.
   */
  readonly read: (
    collections: ReadonlyArray<string>,
    options: { readonly after: Position; readonly limit: number }
  ) => Effect.Effect<ChangePage, ReadError | PositionGone>
  /**
   * {@link ChangeLog.read} without an end: after the changes that there are, it waits for new ones. `after` defaults to the
   * end of the log. Its first page may be empty, and says where the stream begins; later ones have changes. All streams of a
   * store share one reader of new changes, and hold no changes of their own: one whose consumer is slow reads again what it
   * has missed, and fails with `PositionGone` when that is no longer kept.
   */
  readonly stream: (
    collections: ReadonlyArray<string>,
    options?: { readonly after?: Position | undefined }
  ) => Stream.Stream<ChangePage, ReadError | PositionGone>
}
