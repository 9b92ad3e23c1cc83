/** A proxy before a server that a test can make unreachable or silent. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/**
 * A way to a server. While it is closed, connections are refused and those that were open are cut. While it is frozen,
 * connections are accepted and stay open, and nothing that is sent arrives: so does a server whose process is stopped.
 */
export const doorTo = Effect.fnUntraced(function*(url: string) {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer({ pauseOnConnect: true }, (near) => {
    const far = connect(Number(target.port || 27017), target.hostname)
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket)
      socket.on("data", (chunk) => other.write(chunk))
      socket.on("end", () => other.end()).on("error", () => {}).on("close", () => sockets.delete(socket))
      if (isFrozen) socket.pause()
      else socket.resume()
    }
  })
  let port = 0
  const open = Effect.callback<void>((resume) => {
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.void)
    })
  })
  const close = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const socket of sockets) socket.destroy()
  })
  yield* Effect.addFinalizer(() => close)
  return {
    open,
    close,
    /** Leads to another server from now on. Connections to the one before are cut. */
    turnTo: (url: string) =>
      Effect.sync(() => {
        target = new URL(url)
        for (const socket of sockets) socket.destroy()
      }),
    freeze: Effect.sync(() => {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    }),
    thaw: Effect.sync(() => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    }),
    get port() {
      return port
    }
  }
})
