/** Listens on an address. This module loads Node's HTTP server. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import { lookup } from "node:dns/promises"
import { defaultOf } from "../../internal/configurationKeys.ts"
import type { ServerOptions } from "../KernelConfig.ts"
import { type HttpServer as NodeServer, makeServer } from "./nodeServer.ts"
import { ListenFailed, whenReady } from "./readiness.ts"
import { gated } from "./shedding.ts"

type Server = HttpServer.HttpServer["Service"]

/** The ports that servers of this process have. */
const ownPorts = new Set<number>()

/** A server that listens until the scope closes. `opened` runs when it listens. */
export const listen = Effect.fnUntraced(function*(
  { address, backlog, headerTimeout, idleTimeout, maxConnections, maxFields, port, requestTimeout, shutdownTimeout }:
    ServerOptions,
  opened: (server: Server) => Effect.Effect<void>
) {
  const failed = (cause: unknown): ListenFailed => listenFailed(cause, address, port)
  const time = Duration.fromInputUnsafe(shutdownTimeout ?? defaultOf("server.shutdown_timeout"))
  const { address: host } = yield* Effect.tryPromise({ try: () => lookup(address), catch: failed })
  const context = yield* Effect.context<never>()
  const node = makeServer({
    requestTimeout: Duration.fromInputUnsafe(requestTimeout ?? defaultOf("server.request_timeout")),
    headerTimeout: Duration.fromInputUnsafe(headerTimeout ?? defaultOf("server.header_timeout")),
    shutdownTimeout: time,
    idleTimeout: Duration.fromInputUnsafe(idleTimeout ?? defaultOf("server.idle_timeout")),
    maxConnections,
    maxFields,
    report: (problem) => void Effect.runForkWith(context)(Effect.logError(problem))
  })
  node.hold()
  const server = yield* NodeHttpServer.make(() => node, {
    host,
    port,
    ...(backlog === undefined ? {} : { backlog }),
    // The server itself answers requests that exceed the timeout; their clients get a moment to read the response.
    gracefulShutdownTimeout: Duration.sum(time, Duration.seconds(1))
  }).pipe(Effect.mapError(({ cause }) => failed(cause)))
  gated(server, node)
  // Runs after the shutdown timeout, before the wait for the last connection to close.
  yield* Effect.addFinalizer(() => cut(node, time))
  const opening = Effect.callback<void, ListenFailed>((resume) =>
    node.open((error) => {
      if (error !== undefined) return resume(Effect.fail(failed(error)))
      ownPorts.add(port)
      node.once("close", () => ownPorts.delete(port))
      resume(Effect.void)
    })
  )
  yield* whenReady(Effect.andThen(opening, Effect.suspend(() => opened(server))))
  return server
})

const cut = (server: NodeServer, time: Duration.Duration): Effect.Effect<void> =>
  Effect.suspend(() => {
    server.closeAllConnections()
    // Node does not close upgraded connections.
    for (const socket of server.sockets.keys()) socket.destroy()
    return server.cutRequests() === 0
      ? Effect.void
      : Effect.logWarning(`Cut the requests that were not done within ${Duration.format(time)}`)
  })

const listenFailed = (cause: unknown, address: string, port: number): ListenFailed => {
  const code: unknown = Reflect.get(Object(cause), "code")
  const detail = code === "EADDRINUSE"
    ? ownPorts.has(port) ? "another server of this process has the port" : "the port is in use"
    : code === "EACCES"
    ? "not permitted"
    : code === "EADDRNOTAVAIL"
    ? "the address is not one of this machine"
    : code === "ENOTFOUND"
    ? "there is no such address"
    : `the system says ${String(code)}`
  return new ListenFailed({ address, port, detail })
}
