import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"

/**
 * Reads how many bytes a connection's client has not confirmed, in a form that only serves to see a change; `undefined` where
 * the system does not tell. A write succeeds when the system's buffer has room, which is megabytes before the client takes
 * anything; the table of connections is the only place where Linux tells Node what the client took.
 *
 * @internal
 */
export const makeSendBuffers: Effect.Effect<(socket: Socket) => Effect.Effect<string | undefined>> = Effect.gen(
  function*() {
    const v4 = yield* connections("/proc/self/net/tcp")
    const v6 = yield* connections("/proc/self/net/tcp6")
    return (socket) =>
      Effect.map(socket.localFamily === "IPv6" ? v6 : v4, (table) => table && unconfirmed(table, socket))
  }
)

/** Many slow clients share a reading of the table, which has a line for every connection of the machine. */
const connections = (file: string): Effect.Effect<Effect.Effect<string | undefined>> =>
  Effect.cachedWithTTL(
    Effect.orElseSucceed(Effect.tryPromise(() => readFile(file, "latin1")), () => undefined),
    "500 millis"
  )

/** Addresses depend on the byte order of the machine, so that connections with the same two ports count together. */
const unconfirmed = (table: string, { localPort = 0, remotePort = 0 }: Socket): string | undefined => {
  const lines = new RegExp(`:${hex(localPort)} [0-9A-F]+:${hex(remotePort)} [0-9A-F]{2} ([0-9A-F]{8}):`, "gu")
  const sizes = Array.from(table.matchAll(lines), ([, size]) => size)
  return sizes.length === 0 ? undefined : sizes.join()
}

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0")
