/**
 * The HTTP server of a service: its start, its protocol limits, and its shutdown.
 *
 * **Details**
 *
 * A request has to arrive within `server.request_timeout`, and its head within `server.header_timeout` of that; a slower one is
 * answered 408 and disconnected. A head may have 16 KiB (otherwise 431). What Node's parser rejects is answered with an
 * `ErrorMessage`, too.
 *
 * A handler is interrupted when its client disconnects. It has no time limit unless `server.response_timeout` is configured:
 * after that time it is interrupted, and the response is a 503. Its calls to other services end by then (see `Deadline`).
 *
 * `SIGTERM` and `SIGINT` stop the service. It accepts the connections that wait, closes its port and idle connections, and
 * answers the requests on the others with `Connection: close`. After `server.shutdown_timeout` the remaining ones are cut off. Then the stores
 * are closed, the log is written, and the process exits with code 0. A second signal ends the process immediately with
 * 128 and the number of the signal.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as KernelConfig from "./KernelConfig.ts"
import { afterReady, type ListenFailed } from "./server/readiness.ts"

export {
  /**
   * Occurs when the server can't listen: the port is in use, or the machine does not have the address.
   *
   * @category errors
   * @since 0.1.0
   */
  ListenFailed
} from "./server/readiness.ts"

/**
 * A server that listens until the scope closes; see above for its shutdown. Under `engine.launch` and in the layer of an
 * engine it starts to listen once everything else is ready, elsewhere immediately.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: KernelConfig.ServerOptions
): Effect.Effect<HttpServer.HttpServer["Service"], ListenFailed, Scope.Scope> => made(options, () => Effect.void)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (
  options: KernelConfig.ServerOptions
): Layer.Layer<HttpServer.HttpServer, ListenFailed> => Layer.effect(HttpServer.HttpServer, make(options))

/**
 * {@link make} as a layer with the configured options. It logs the address once the server listens.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpServer.HttpServer, ListenFailed | Config.ConfigError> = Layer.effect(
  HttpServer.HttpServer,
  Effect.flatMap(
    KernelConfig.server,
    (options) => made(options, ({ address }) => Effect.logInfo(`Listening on ${HttpServer.formatAddress(address)}`))
  )
)

/**
 * Runs an effect once the service listens: to announce its address, or to send requests to it. Under `engine.launch` and in
 * the layer of an engine that is when everything is ready, elsewhere immediately. A service that can't start does not
 * run it.
 *
 * **Example**
 *
 * ```ts
 * import { KernelServer } from "appkernel"
 * import { Effect, Layer } from "effect"
 *
 * const welcome = Layer.effectDiscard(KernelServer.whenListening(Effect.logInfo("Try /docs in a browser")))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const whenListening = <A, R>(effect: Effect.Effect<A, never, R>): Effect.Effect<void, never, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    // A step that can't fail leaves `afterReady` no other failure.
    Effect.orDie(afterReady(Effect.asVoid(Effect.provideContext(effect, context))))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The server is loaded by programs that listen, and by no others. `opened` runs when it listens. */
const made = (
  options: KernelConfig.ServerOptions,
  opened: (server: HttpServer.HttpServer["Service"]) => Effect.Effect<void>
): Effect.Effect<HttpServer.HttpServer["Service"], ListenFailed, Scope.Scope> =>
  Effect.flatMap(Effect.promise(() => import("./server/listen.ts")), ({ listen }) => listen(options, opened))
