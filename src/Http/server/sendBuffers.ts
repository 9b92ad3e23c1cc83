/** Detects clients that stop reading their response, by the send buffers in Linux's table of connections. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"

/**
 * Reads how many bytes a connection's client has not confirmed, in a form that only serves to see a change; `undefined` where
 * the system does not tell. A write succeeds when the system's buffer has room, which is megabytes before the client takes
 * anything; the table of connections is the only place where Linux tells Node what the client took.
 */
const makeSendBuffers: Effect.Effect<(socket: Socket) => Effect.Effect<string | undefined>> = Effect.gen(
  function*() {
    const v4 = yield* connections("/proc/self/net/tcp")
    const v6 = yield* connections("/proc/self/net/tcp6")
    return ({ localFamily, localPort = 0, remotePort = 0 }) =>
      Effect.map(localFamily === "IPv6" ? v6 : v4, (sizes) => sizes?.get(`${hex(localPort)} ${hex(remotePort)}`))
  }
)

/** The sizes by the two ports. Many slow clients share a reading of the table, which has a line for every connection of the machine. */
const connections = (file: string): Effect.Effect<Effect.Effect<ReadonlyMap<string, string> | undefined>> =>
  Effect.cachedWithTTL(
    Effect.tryPromise(() => readFile(file, "latin1")).pipe(
      Effect.map(sizesIn),
      Effect.orElseSucceed(() => undefined)
    ),
    "500 millis"
  )

/** Addresses depend on the byte order of the machine, so that connections with the same two ports count together. */
const sizesIn = (table: string): ReadonlyMap<string, string> => {
  const sizes = new Map<string, string>()
  for (const line of table.split("\n")) {
    const [, local, remote, , queues] = line.trim().split(/\s+/u)
    if (local === undefined || remote === undefined || queues === undefined) continue
    const ports = `${portOf(local)} ${portOf(remote)}`
    sizes.set(ports, `${sizes.get(ports) ?? ""} ${queues.split(":", 1)[0]}`)
  }
  return sizes
}

const portOf = (address: string): string => address.slice(address.indexOf(":") + 1)

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0")

/** What the client of the request that the fiber handles has not confirmed yet. */
export const unconfirmedByClient = Effect.map(
  makeSendBuffers,
  (unconfirmed) =>
    Effect.withFiber<string | undefined>((fiber) => {
      const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
      return request === undefined
        ? Effect.undefined
        : unconfirmed(NodeHttpServerRequest.toIncomingMessage(request).socket)
    })
)
