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
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Config from "effect/Config"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns/promises"
import { constants } from "node:os"
import process from "node:process"
import { DeclarationError } from "../internal/declarationError.ts"
import { problemsOf } from "../Model/introspection.ts"
import * as KernelConfig from "./KernelConfig.ts"
import * as KernelLogger from "./KernelLogger.ts"
import { ListenFailed } from "./server/listenFailed.ts"
import { type HttpServer as NodeServer, makeServer } from "./server/nodeServer.ts"
import { afterReady, readyLast, whenReady } from "./server/readiness.ts"

/**
 * Options of {@link launchWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface LaunchOptions extends KernelConfig.Options, KernelLogger.Options {}

/**
 * Occurs when a service could not start. The reason has already been logged.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", { detail: Schema.String }) {
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.detail
  }
}

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
 * A server that listens until the scope closes; see above for its shutdown. Under `launch` and in the layer of an
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
 * Runs an effect once the service listens: to announce its address, or to send requests to it. Under `launch` and in
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

/**
 * Runs a service until it is stopped, with the configuration next to the start script and its log. A failure to start
 * is one line in the log and a non-zero exit code. For `NodeRuntime.runMain`.
 *
 * @category running
 * @since 0.1.0
 */
export const launch = <A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<never, StartFailed, R> =>
  launched(layer, undefined)

/**
 * {@link launch} with the configuration and the log that the options define.
 *
 * @category running
 * @since 0.1.0
 */
export const launchWith =
  (options: LaunchOptions) => <A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<never, StartFailed, R> =>
    launched(layer, options)

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

const launched = <A, E, R>(
  layer: Layer.Layer<A, E, R>,
  options: LaunchOptions | undefined
): Effect.Effect<never, StartFailed, R> => {
  const stopping = Effect.logInfo("Stopping: no more requests, the running ones are answered")
  const running = Effect.scoped(
    Effect.andThen(readyLast(Layer.build(layer)), Effect.onInterrupt(Effect.never, () => stopping))
  )
  return Effect.scoped(Effect.gen(function*() {
    yield* signals
    const { context, log } = yield* Effect.provide(KernelConfig.load(options), NodeFileSystem.layer)
    return yield* log.pipe(
      Effect.andThen(reported(running)),
      Effect.provide(KernelLogger.layer(options)),
      Effect.provideContext(context)
    )
  })).pipe(
    Effect.catch((error) => error instanceof StartFailed ? Effect.fail(error) : report(error))
  )
}

const cut = (server: NodeServer, time: Duration.Duration): Effect.Effect<void> =>
  Effect.suspend(() => {
    server.closeAllConnections()
    // Node does not close upgraded connections.
    for (const socket of server.sockets) socket.destroy()
    return server.cutRequests() === 0
      ? Effect.void
      : Effect.logWarning(`Cut the requests that were not done within ${Duration.format(time)}`)
  })

const reported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, StartFailed, R> =>
  Effect.catch(effect, (error) => report(error)).pipe(
    // Some mistakes in declarations are only found when a layer is built.
    Effect.catchDefect((defect) => defect instanceof DeclarationError ? report(defect) : Effect.die(defect))
  )

const report = (error: unknown): Effect.Effect<never, StartFailed> => {
  const detail = reasonOf(error)
  return Effect.andThen(Effect.logFatal(detail), Effect.fail(new StartFailed({ detail })))
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Config.ConfigError) {
    if (!Schema.isSchemaError(error.cause)) return `The configuration is wrong: ${error.cause.message}`
    const wrong = problemsOf(error.cause.issue).map(({ field, message }) => `${field.replaceAll(".", "_")}: ${message}`)
    return `The configuration is wrong: ${wrong.length === 0 ? error.message : wrong.join("; ")}`
  }
  return error instanceof Error ? error.message : String(error)
}

/**
 * `runMain` handles the interruption. It would treat the second signal like the first, and a clean stop as a failure.
 */
const signals: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    let stopping: number | undefined
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping === undefined) stopping = process.uptime()
      else if (process.uptime() - stopping > sameSignal) process.exit(128 + constants.signals[signal])
    }
    // `runMain` listens already, and its interruption may end the scope before the next listener runs.
    process.prependListener("SIGINT", onSignal).prependListener("SIGTERM", onSignal)
    return { onSignal, isStopping: () => stopping !== undefined }
  }),
  ({ isStopping, onSignal }) =>
    Effect.sync(() => {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
      if (isStopping()) {
        process.once("exit", (code) => {
          if (code === interrupted) process.exitCode = 0
        })
      }
    })
).pipe(Effect.asVoid)

/** In seconds. A Ctrl-C on a terminal reaches a process that `npm` started twice. */
const sameSignal = 0.2

/** The exit code of `runMain` for an interrupted effect. */
const interrupted = 130

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
