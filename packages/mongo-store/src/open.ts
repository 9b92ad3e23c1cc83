/** Opens a store with its own client, and loads the driver for it. */
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { parseAddress } from "./driver/connectionString.ts"
import type { Connected } from "./store/store.ts"

/**
 * Options of a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * `host`, `host:port`, several of these separated by commas, or a complete `mongodb://` or `mongodb+srv://` URL with
   * percent-encoded user and password. The port defaults to 27017.
   */
  readonly host: string | Redacted.Redacted<string>
  /** The database. Defaults to the path of the URL, or to `app`. */
  readonly db?: string | undefined
  /**
   * The time within which a server has to accept a connection. `connectTimeoutMS` of the URL takes precedence. Defaults to 5
   * seconds.
   */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * The time within which a usable server has to be found, at start and before each operation. Otherwise the operation fails
   * with `StoreUnavailable`. Except at start, `serverSelectionTimeoutMS` of the URL takes precedence. Defaults to
   * {@link connectTimeout}.
   */
  readonly serverSelectionTimeout?: Duration.Input | undefined
  /**
   * The time within which a server has to answer. An operation without a `timeLimit` fails with `StoreUnavailable` when it
   * takes longer than the sum of this and {@link serverSelectionTimeout}, including retries of the driver. A read of one
   * document by its identifier takes 5.5 seconds at most, or half a second more than {@link serverSelectionTimeout}. Index
   * builds have no limit. `socketTimeoutMS` of the URL takes precedence. Defaults to 30 seconds.
   */
  readonly socketTimeout?: Duration.Input | undefined
}

export const open: (options: Options) => Effect.Effect<Connected, StoreUnavailable, Scope.Scope> = Effect.fnUntraced(
  function*({ connectTimeout = "5 seconds", db, host, serverSelectionTimeout, socketTimeout = "30 seconds" }) {
    const address = parseAddress(Redacted.isRedacted(host) ? Redacted.value(host) : host)
    if (address === undefined) {
      return yield* new StoreUnavailable({
        operation: "connect",
        detail: "the host is neither host[:port] nor mongodb://[user:password@]host[:port][/database][?options], "
          + "with special characters of user and password percent-encoded",
        retryable: false
      })
    }
    // The driver is loaded by programs that use it, and by no others.
    const { openMongo } = yield* Effect.promise(() => import("./store/store.ts"))
    return yield* openMongo(address, db ?? address.database ?? "app", {
      connect: Duration.fromInputUnsafe(connectTimeout),
      serverSelection: Duration.fromInputUnsafe(serverSelectionTimeout ?? connectTimeout),
      socket: Duration.fromInputUnsafe(socketTimeout)
    })
  }
)
