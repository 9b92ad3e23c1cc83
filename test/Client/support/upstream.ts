/** Services to call: real servers on the loopback interface, well-behaved and otherwise. */
import { Effect, type Scope } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import { Worker } from "node:worker_threads"
import { certificate, privateKey } from "./certificate.ts"

/** A request as it arrived. */
interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** A running server. */
export interface Upstream {
  /** `http://127.0.0.1:1234` */
  readonly url: string
  /** The requests so far, in their order of arrival. */
  readonly requests: ReadonlyArray<Arrived>
  /** The number of connections that were opened so far. */
  readonly connections: () => number
  /** The number of connections that are open. */
  readonly open: () => number
}

/** What answers a request: a value is answered as JSON with status 200. */
export type Handler = (
  request: http.IncomingMessage & { readonly text: string },
  response: http.ServerResponse
) => unknown

/** A server whose `handler` gets each request with its whole body. */
export const upstream = (handler: Handler): Effect.Effect<Upstream, never, Scope.Scope> => {
  const requests: Array<Arrived> = []
  return serving(http.createServer({ keepAliveTimeout: 60_000 }, wholly(handler, requests)), requests)
}

/** {@link upstream} with HTTPS, which shows {@link certificate}. */
export const secureUpstream = (handler: Handler): Effect.Effect<Upstream, never, Scope.Scope> => {
  const requests: Array<Arrived> = []
  const server = https.createServer({ cert: certificate, key: privateKey }, wholly(handler, requests))
  return Effect.map(serving(server, requests), (running) => ({
    ...running,
    url: running.url.replace("http:", "https:")
  }))
}

const wholly = (handler: Handler, requests: Array<Arrived>): http.RequestListener => (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("error", () => {})
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString()
    requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body: text })
    const answer = handler(Object.assign(request, { text }), response)
    if (answer === undefined) return
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(answer))
  })
}

/** A server whose `handler` reads each request itself, and answers it. */
export const listening = (handler: http.RequestListener): Effect.Effect<Upstream, never, Scope.Scope> =>
  serving(
    http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      request.on("error", () => {})
      response.on("error", () => {})
      handler(request, response)
    }),
    []
  )

/** A server that answers each connection's first bytes by what `talk` does with the socket. */
export const rawUpstream = (
  talk: (socket: net.Socket, head: string) => void
): Effect.Effect<Upstream, never, Scope.Scope> =>
  serving(
    net.createServer((socket) => {
      socket.on("error", () => {})
      socket.on("data", (data) => talk(socket, data.toString("latin1")))
    }),
    []
  )

/** An address that nothing listens on. */
export const nobody: Effect.Effect<string> = Effect.scoped(
  Effect.map(Effect.suspend(() => upstream(() => ({}))), ({ url }) => url)
)

/** An address that takes no further connections: its program is busy, and its queue full. A SYN gets no answer. */
export const busy: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const worker = new Worker(
      `const { parentPort } = require("node:worker_threads")
      const server = require("node:net").createServer()
      server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
        parentPort.postMessage(server.address().port)
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
      })`,
      { eval: true }
    )
    worker.once("message", (port: number) => {
      const queued = Array.from({ length: 8 }, () => net.connect(port, "127.0.0.1").on("error", () => {}))
      const close = () => {
        for (const socket of queued) socket.destroy()
        void worker.terminate()
      }
      queued[0]?.once("connect", () => resume(Effect.succeed({ port, close })))
    })
  }),
  ({ close }) => Effect.sync(close)
).pipe(Effect.map(({ port }) => `http://127.0.0.1:${port}`))

const serving = (server: net.Server, requests: ReadonlyArray<Arrived>): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Upstream & { readonly close: () => void }>((resume) => {
      const sockets = new Set<net.Socket>()
      let connections = 0
      server.on("connection", (socket: net.Socket) => {
        connections++
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          url: `http://127.0.0.1:${port}`,
          requests,
          connections: () => connections,
          open: () => sockets.size,
          close: () => {
            server.close()
            for (const socket of sockets) socket.destroy()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
