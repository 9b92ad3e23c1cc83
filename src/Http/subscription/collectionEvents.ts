/**
 * What the streams of a typed client tell. `KernelClient` exports these types.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Schedule from "effect/Schedule"

/**
 * What every change has.
 *
 * @category models
 * @since 0.1.0
 */
interface AnyChange<Id> {
  /** The identifier of the document. */
  readonly id: Id
  /** A stream that begins here misses nothing after this change, and may have others of the same time once more. */
  readonly position: string
  /** The `Stream-Txid` of the answer to the write. */
  readonly transaction: string | undefined
  /** When it was written. */
  readonly time: DateTime.Utc | undefined
}

/**
 * A change of a collection, as a stream has it.
 *
 * **Details**
 *
 * An `insert` is also a document that has begun to match or to be among those that the caller may read, and a `delete` one that has
 * ceased to. After a `reset`, what was told before may be wrong: `items` are the documents that there are for the caller now.
 *
 * @category models
 * @since 0.1.0
 */
export type Change<Document, Id> =
  | (AnyChange<Id> & { readonly operation: "insert" | "update"; readonly after: Document })
  | (AnyChange<Id> & { readonly operation: "delete" })
  | { readonly operation: "reset"; readonly items: ReadonlyArray<Document>; readonly position: string }

/**
 * A change of one of several collections, whose names are the keys of `Collections`.
 *
 * **Details**
 *
 * It is the {@link Change} of that collection. A `reset` is one of all collections.
 *
 * @category models
 * @since 0.1.0
 */
export type WatchedChange<
  Collections extends { readonly [name: string]: { readonly document: unknown; readonly id: unknown } }
> =
  | {
    [Name in keyof Collections]:
      & { readonly collection: Name }
      & Exclude<
        Change<Collections[Name]["document"], Collections[Name]["id"]>,
        { readonly operation: "reset" }
      >
  }[keyof Collections]
  | {
    readonly operation: "reset"
    readonly items: { readonly [Name in keyof Collections]: ReadonlyArray<Collections[Name]["document"]> }
    readonly position: string
  }

/**
 * An event of a list: all its documents, or one that enters it, changes in it or leaves it. There is a further `state` where the
 * caller's rights have changed, or the service no longer keeps what the client has missed.
 *
 * @category models
 * @since 0.1.0
 */
export type ListEvent<Document, Id> =
  | { readonly event: "state"; readonly items: ReadonlyArray<Document>; readonly position: string }
  | (AnyChange<Id> & { readonly event: "enter" | "change"; readonly item: Document })
  | (AnyChange<Id> & { readonly event: "leave" })

/**
 * Options of a stream.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamOptions {
  /**
   * When the stream connects again after the connection has ended, or an answer that may pass: of the network, or of 408, 425,
   * 429, 500, 502, 503 or 504. The schedule begins anew with each connection. Defaults to ever longer times between half a second
   * and half a minute, without an end.
   */
  readonly reconnect?: Schedule.Schedule<unknown> | undefined
}
