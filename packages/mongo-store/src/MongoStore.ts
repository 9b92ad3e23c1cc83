/**
 * A store of documents in MongoDB, over its official driver.
 *
 * **Details**
 *
 * The connection string sets the read preference, the read concern and the write concern. An interrupted read closes its cursor
 * and its connection, so the server stops it. Transactions need a replica set or a sharded cluster. They have snapshot isolation, and
 * are retried for up to two minutes after a write conflict, a broken connection or the election of another primary.
 *
 * **Gotchas**
 *
 * A write without an answer in time may have been applied, or may be applied later, and so may one whose connection broke. One
 * that its write concern's members don't acknowledge is applied. So their `StoreUnavailable` is not `retryable`, nor is that of a
 * transaction whose commit has an unknown outcome. After a broken connection the driver sends a write once more by itself: if it
 * finds no server then, the failure is `retryable`, unless the connection string has `retryWrites=false`.
 *
 * In a stored document, a key with the value `undefined` is left out. In a filter or a pipeline, `undefined` means `null`.
 *
 * @since 0.1.0
 */
import { DocumentStore } from "@appkernel/document-store/DocumentStore"
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { open, type Options } from "./open.ts"

export type { Options } from "./open.ts"

/**
 * A store with its own client. The server has answered a `ping`, and the client is closed with the scope. Fails with
 * `StoreUnavailable` when no server answers in time, the credentials are rejected, or the host is malformed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.map(open(options), ({ store }) => store)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<DocumentStore, StoreUnavailable> =>
  Layer.effect(DocumentStore, make(options))
