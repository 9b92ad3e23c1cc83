/**
 * The HTTP server of a service: its start, its protocol limits, and its shutdown.
 *
 * **Details**
 *
 * A request has to arrive within `server.request_timeout`, and its head within 20 seconds of that; a slower one is
 * answered 408 and disconnected. A head may have 16 KiB (otherwise 431). What Node's parser rejects is answered with an
 * `ErrorMessage`, too. A handler has no time limit of its own: it is interrupted when its client disconnects, and
 * `Effect.timeout` can limit it.
 *
 * `SIGTERM` and `SIGINT` stop the service. It accepts no more connections, closes idle ones, and answers the running
 * requests with `Connection: close`. After `server.shutdown_timeout` the remaining ones are cut off. Then the stores
 * are closed, the log is written, and the process exits with code 0. A second signal ends the process immediately with
 * 128 and the number of the signal.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as Config from "effect/Config"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns/promises"
import * as KernelConfig from "./KernelConfig.ts"
import { ListenFailed } from "./server/listenFailed.ts"
import { type HttpServer as NodeServer, makeServer } from "./server/nodeServer.ts"
import { afterReady, whenReady } from "./server/readiness.ts"

export {
  /**
   * Occurs when the server can't listen: the port is in use, or the machine does not have the address.
   *
   * @category errors
   * @since 0.1.0
   */
  ListenFailed
} from "./server/listenFailed.ts"

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

type Server = HttpServer.HttpServer["Service"]

/** `opened` runs when the server listens. */
const made = Effect.fnUntraced(function*(
  { address, backlog, port, requestTimeout, shutdownTimeout }: KernelConfig.ServerOptions,
  opened: (server: Server) => Effect.Effect<void>
) {
  const failed = (cause: unknown): ListenFailed => listenFailed(cause, address, port)
  const time = Duration.fromInputUnsafe(shutdownTimeout ?? "20 seconds")
  const { address: host } = yield* Effect.tryPromise({ try: () => lookup(address), catch: failed })
  const node = makeServer({
    requestTimeout: Duration.fromInputUnsafe(requestTimeout ?? "60 seconds"),
    shutdownTimeout: time
  })
  node.hold()
  const { address: planned, serve } = yield* NodeHttpServer.make(() => node, {
    host,
    port,
    ...(backlog === undefined ? {} : { backlog }),
    // The server itself answers requests that exceed the timeout; their clients get a moment to read the response.
    gracefulShutdownTimeout: Duration.sum(time, Duration.seconds(1))
  }).pipe(Effect.mapError(({ cause }) => failed(cause)))
  // Runs after the shutdown timeout, before the wait for the last connection to close.
  yield* Effect.addFinalizer(() => cut(node, time))
  const server: Server = {
    serve,
    // A port that the system chooses is known once the server listens.
    get address() {
      const bound = node.address()
      return bound === null || typeof bound === "string"
        ? planned
        : Result.getOrElse(NetAddress.inetAddressFromIpString(bound.address, bound.port), () => planned)
    }
  }
  const opening = Effect.callback<void, ListenFailed>((resume) =>
    node.open((error) => resume(error === undefined ? Effect.void : Effect.fail(failed(error))))
  )
  yield* whenReady(Effect.andThen(opening, Effect.suspend(() => opened(server))))
  return server
})

const cut = (server: NodeServer, time: Duration.Duration): Effect.Effect<void> =>
  Effect.suspend(() => {
    server.closeAllConnections()
    // Node does not close upgraded connections.
    for (const socket of server.sockets) socket.destroy()
    return server.cutRequests() === 0
      ? Effect.void
      : Effect.logWarning(`Cut the requests that were not done within ${Duration.format(time)}`)
  })

const listenFailed = (cause: unknown, address: string, port: number): ListenFailed => {
  const code: unknown = Reflect.get(Object(cause), "code")
  const detail = code === "EADDRINUSE"
    ? "the port is in use"
    : code === "EACCES"
    ? "not permitted"
    : code === "EADDRNOTAVAIL"
    ? "the address is not one of this machine"
    : code === "ENOTFOUND"
    ? "there is no such address"
    : `the system says ${String(code)}`
  return new ListenFailed({ address, port, detail })
}
