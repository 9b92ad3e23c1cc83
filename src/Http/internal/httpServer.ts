import * as Duration from "effect/Duration"
import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse
} from "node:http"
import type { Socket } from "node:net"
import process from "node:process"
import { quote } from "../../Model/internal/serialiser.ts"
import { batch } from "./batchedSocket.ts"
import { Listener } from "./listener.ts"

/** Longer than clients and proxies keep an idle connection, so that it is they who close it, not we under their hands. */
const idleTimeout = Duration.seconds(75)

/** A head is some hundred bytes. */
const longestHead = Duration.seconds(20)

/** How long a connection stays open for the caller to read why it is refused, in milliseconds. */
const linger = 1_000

/**
 * Node's server with time limits against callers who send slowly or nothing, whose refusals are all `ErrorMessage`s, and
 * which doesn't wait for connections without a request when it closes.
 *
 * @internal
 */
export interface HttpServer extends Server {
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>
  /** For how many milliseconds it has been closing. */
  readonly closingFor: () => number
}

/** @internal */
export const makeServer = (requestTimeout: Duration.Duration): HttpServer => {
  let closing: number | undefined
  const sockets = new Set<Socket>()

  class Response<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(code: number, reason?: string | Headers, headers?: Headers): this {
      if (closing !== undefined) this.shouldKeepAlive = false
      // Only Node itself gives a list: where it refuses an HTTP/1.1 request without a host, with an empty body.
      if (Array.isArray(reason)) return refuse(this, 400, "The request has no Host header")
      return typeof reason === "string"
        ? super.writeHead(code, reason, headers)
        : super.writeHead(code, reason ?? headers)
    }
  }
  // The length of every answer is counted from its text; for counting it again, Node writes each in two parts.
  Object.defineProperty(Response.prototype, "strictContentLength", { get: () => false, set: () => {} })

  class Closing extends Listener<typeof Response> {
    readonly sockets: ReadonlySet<Socket> = sockets
    readonly closingFor = (): number => closing === undefined ? 0 : (process.uptime() - closing) * 1000
    override close(callback?: (error?: Error) => void): this {
      closing ??= process.uptime()
      // What becomes idle from now on closes at once; Node also waits for what never sent anything.
      this.keepAliveTimeout = 1
      Reflect.set(this, "keepAliveTimeoutBuffer", 0)
      super.close(callback)
      for (const socket of sockets) {
        if (socket.bytesRead === 0 || refused.has(socket)) socket.destroy()
      }
      return this
    }
  }

  const timeout = Duration.toMillis(requestTimeout)
  const server = new Closing({
    ServerResponse: Response,
    requestTimeout: timeout,
    headersTimeout: Math.min(timeout, Duration.toMillis(longestHead)),
    keepAliveTimeout: Duration.toMillis(idleTimeout),
    connectionsCheckingInterval: Math.max(50, Math.min(timeout / 4, 5_000))
  })
  server.on("connection", (socket: Socket) => {
    batch(socket)
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  // What arrives before anybody answers requests waits for who does: Node would leave it without an answer.
  const early: Array<readonly [IncomingMessage, ServerResponse]> = []
  const wait = (request: IncomingMessage, response: ServerResponse): void => {
    early.push([request, response])
  }
  server.on("request", wait)
  server.on("newListener", (event, answer: typeof wait) => {
    if (event !== "request") return
    server.off("request", wait)
    process.nextTick(() => {
      for (const [request, response] of early.splice(0)) answer.call(server, request, response)
    })
  })
  server.on("clientError", refuseConnection)
  server.on("checkExpectation", (_: IncomingMessage, response: ServerResponse) => {
    refuse(response, 417, "The server can't do what the Expect header asks for")
  })
  return server
}

type Headers = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

const bodyOf = (code: number, message: string): string =>
  `{"_type":"ErrorMessage","code":${code},"message":${quote(message)}}`

const refuse = <R extends ServerResponse>(response: R, code: number, message: string): R => {
  const body = bodyOf(code, message)
  ServerResponse.prototype.writeHead.call(response, code, {
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close"
  })
  return response.end(body)
}

interface Refusal {
  readonly code: number
  readonly reason: string
  readonly message: string
}

const badRequest: Refusal = { code: 400, reason: "Bad Request", message: "The request is not valid HTTP" }

const refusals: ReadonlyMap<string | undefined, Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", {
    code: 431,
    reason: "Request Header Fields Too Large",
    message: "The head of the request is too large"
  }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", {
    code: 413,
    reason: "Payload Too Large",
    message: "The extensions of a chunk are too large"
  }],
  ["ERR_HTTP_REQUEST_TIMEOUT", {
    code: 408,
    reason: "Request Timeout",
    message: "The request took too long to arrive"
  }]
])

const refused = new WeakSet<Socket>()

/** Of what Node's parser refuses, or got too late, there is no request to answer, only a connection. */
const refuseConnection = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // Whatever else arrives while the caller reads the answer.
  if (refused.has(socket)) return
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  refused.add(socket)
  const { code, message, reason } = refusals.get(error.code) ?? badRequest
  const body = bodyOf(code, message)
  socket.end(
    `HTTP/1.1 ${code} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      + `Connection: close\r\n\r\n${body}`
  )
  // To close while something unread arrives would take the answer back (RFC 9112, section 9.6).
  socket.setTimeout(linger, () => socket.destroy())
}

/** Whether an answer has begun, into which another one can't be written. Node's own handler looks at the same place. */
const isAnswering = (socket: Socket): boolean => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse && response.headersSent
}
