/**
 * A store of documents in MongoDB, over its official driver.
 *
 * **Details**
 *
 * The connection string sets the read preference, the read concern and the write concern. By default, reads go to the
 * primary, writes are acknowledged by the majority, and the driver retries both once when a connection breaks. An
 * interrupted read closes its cursor and its connection, so the server stops it. The credentials never appear in an error, a
 * log or a span.
 *
 * Transactions need a replica set or a sharded cluster. They have snapshot isolation (read concern `snapshot`, write concern
 * `majority`): a transaction reads one snapshot of the primary, and when two transactions write the same document, one of
 * them is retried. Snapshot isolation permits write skew: two transactions that each write what the other one only reads do
 * not conflict. To exclude it, let both write to one document. A transaction is retried for up to two minutes after a write
 * conflict, a broken connection or the election of another primary. A commit with an unknown outcome is repeated. If the
 * outcome stays unknown, the transaction fails with a `StoreUnavailable` that says so. It is not `retryable`, because the
 * transaction may be committed.
 *
 * **Gotchas**
 *
 * A write without an answer in time may have been applied, or may be applied later, and so may one whose connection broke. One
 * that its write concern's members don't acknowledge is applied. So their `StoreUnavailable` is not `retryable`. Read the document
 * to learn the outcome, or repeat the write if it is idempotent. After a broken connection the driver sends a write once more by
 * itself: if it finds no server then, the failure is `retryable`, unless the connection string has `retryWrites=false`.
 *
 * A write of very many documents may need a longer {@link Options.socketTimeout}.
 *
 * In a stored document, a key with the value `undefined` is left out. In a filter or a pipeline, `undefined` means `null`.
 *
 * @since 0.1.0
 */
import type { Options } from "@appkernel/mongo-store"
import { open } from "@appkernel/mongo-store/internal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { configOr, defaultOf, givenOf } from "../internal/configurationKeys.ts"
import { filesKey } from "../internal/filesKey.ts"
import { DocumentStore } from "./DocumentStore.ts"
import type { StoreUnavailable } from "./RepositoryError.ts"

export type { Options } from "@appkernel/mongo-store"

/**
 * The options as configuration: `appkernel.mongo.host` (defaults to `localhost`), `appkernel.mongo.db`,
 * `appkernel.mongo.connect_timeout`, `appkernel.mongo.server_selection_timeout` and `appkernel.mongo.socket_timeout`; in
 * the environment `APPKERNEL_MONGO_HOST` and so on. A time is a number of seconds or a text such as `500 millis`. The
 * host is redacted, since it may carry a password.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<Options> = Config.map(
  givenOf("mongo"),
  ({ host = defaultOf("mongo.host"), ...options }) => ({ ...options, host: Redacted.make(host) })
)

/**
 * Whether `appkernel.mongo.host` is configured, for programs that use another store if it is not.
 *
 * @category models
 * @since 0.1.0
 */
export const configured: Config.Config<boolean> = Config.map(
  configOr("mongo.host", undefined),
  (host) => host !== undefined
)

/**
 * A store with its own client. The server has answered a `ping`, and the client is closed with the scope. Fails with
 * `StoreUnavailable` when no server answers in time, the credentials are rejected, or the host is malformed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.map(
    open({
      ...options,
      connectTimeout: options.connectTimeout ?? defaultOf("mongo.connect_timeout"),
      socketTimeout: options.socketTimeout ?? defaultOf("mongo.socket_timeout")
    }),
    ({ session, store }) =>
      Object.assign(store, {
        [filesKey]: Effect.flatMap(files, ({ makeGridFs }) => makeGridFs(session, store.description))
      })
  )

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<DocumentStore, StoreUnavailable> =>
  Layer.effect(DocumentStore, make(options))

/**
 * {@link make} as a layer, with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DocumentStore, StoreUnavailable | Config.ConfigError> = Layer.effect(
  DocumentStore,
  Effect.flatMap(Effect.suspend(() => config), make)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Loaded with the first model that has files.
const files = Effect.promise(() => import("../Files/internal.ts"))
