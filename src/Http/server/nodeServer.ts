import * as Duration from "effect/Duration"
import {
  IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse
} from "node:http"
import type { AddressInfo, ListenOptions, Socket } from "node:net"
import process from "node:process"
import type { Duplex } from "node:stream"
// Not the global ones, which tests may replace.
import { clearInterval, setImmediate, setInterval, setTimeout } from "node:timers"
import { quote } from "../../internal/json.ts"
import { batch } from "./batchedSocket.ts"
import { Listener, OrderedResponse, unwrittenResponse } from "./listener.ts"

/** Longer than clients and proxies keep an idle connection, so that it is they who close it, not we under their hands. */
const idleTimeout = Duration.seconds(75)

/** A head is some hundred bytes. */
const headTimeout = Duration.seconds(20)

/** How long a connection stays open for the caller to read why it is refused, in milliseconds. */
const lingerMillis = 1_000

/** How long a server that closes goes on to accept the connections that wait for it, in seconds. */
const maxArrivalSeconds = 1

/** How often a caller who has closed its side of the connection is asked whether it is still there, in milliseconds. */
const probeInterval = 250

/**
 * Node's server with these differences:
 *
 * - It can be told where to listen before it does.
 * - It has time limits against callers who send slowly or nothing.
 * - What it refuses is answered with an `ErrorMessage`.
 * - A caller who closes its sending side gets its answer.
 * - When it closes, it first reads what has arrived. It doesn't wait for connections without a request, and answers 503 to
 *   the requests that take longer than the time for shutting down.
 *
 * @internal
 */
export interface HttpServer extends Server {
  /** Has `listen` only say where: the platform asks for it when nobody answers requests yet. */
  readonly hold: () => void
  /** Begins to listen there, and says so, or what keeps it from that. */
  readonly open: (done: (error?: Error) => void) => void
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>
  /** How many requests were answered 503, or cut in the middle of an answer, because they took too long to finish. */
  readonly cutRequests: () => number
}

/** @internal */
export interface HttpServerOptions {
  readonly requestTimeout: Duration.Duration
  readonly shutdownTimeout: Duration.Duration
}

/** @internal */
export const makeServer = ({ requestTimeout, shutdownTimeout }: HttpServerOptions): HttpServer => {
  let closing = false
  let cutCount = 0
  let accepted = 0
  const sockets = new Set<Socket>()

  class Response<R extends IncomingMessage> extends OrderedResponse<R> {
    override writeHead(code: number, reason?: string | Headers, headers?: Headers): this {
      if (closing) this.shouldKeepAlive = false
      // Only Node itself gives a list: where it refuses an HTTP/1.1 request without a host, with an empty body.
      if (Array.isArray(reason)) return reject(this, 400, "The request has no Host header")
      return typeof reason === "string"
        ? super.writeHead(code, reason, headers)
        : super.writeHead(code, reason ?? headers)
    }
  }
  // The length of every answer is counted from its text; for counting it again, Node writes each in two parts.
  Object.defineProperty(Response.prototype, "strictContentLength", { get: () => false, set: () => {} })

  class DrainingServer extends Listener<typeof Response> {
    readonly sockets: ReadonlySet<Socket> = sockets
    readonly cutRequests = (): number => cutCount
    #isHeld = false
    #address: ListenOptions = {}
    readonly hold = (): void => {
      this.#isHeld = true
    }
    override listen(...options: ReadonlyArray<unknown>): this {
      if (!this.#isHeld) return Reflect.apply(super.listen.bind(this), this, options)
      const [listenAddress, done] = options
      this.#address = Object(listenAddress)
      if (typeof done === "function") process.nextTick(done)
      return this
    }
    readonly open = (done: (error?: Error) => void): void => {
      this.once("error", done)
      super.listen(this.#address, () => {
        this.off("error", done)
        done()
      })
    }
    override address(): AddressInfo | string | null {
      const { host, port = 0 } = this.#address
      return super.address() ?? (host === undefined ? null : { address: host, port, family: "" })
    }
    override emit(event: string, ...values: ReadonlyArray<unknown>): boolean {
      if (event === "request" || event === "checkContinue") {
        const [request, response] = values
        const protocolError = request instanceof IncomingMessage ? protocolErrorOf(request) : undefined
        if (protocolError !== undefined && response instanceof ServerResponse) {
          reject(response, protocolError.code, protocolError.message)
          return true
        }
      }
      return super.emit(event, ...values)
    }
    override close(callback?: (error?: Error) => void): this {
      closing = true
      this.afterArrivals(process.uptime() + maxArrivalSeconds, () => this.closeNow(callback))
      return this
    }
    /** Calls `then` after two turns of the event loop without a new connection: a turn accepts one, the next reads it. */
    private afterArrivals(latest: number, then: () => void, quietTurns = 0): void {
      const previousAccepted = accepted
      setImmediate(() => {
        const turns = accepted === previousAccepted ? quietTurns + 1 : 0
        if (turns > 2 || process.uptime() > latest) then()
        else this.afterArrivals(latest, then, turns)
      })
    }
    private closeNow(callback?: (error?: Error) => void): void {
      // What becomes idle from now on closes at once; Node also waits for what never sent anything.
      this.keepAliveTimeout = 1
      Reflect.set(this, "keepAliveTimeoutBuffer", 0)
      super.close(callback)
      for (const socket of sockets) {
        if (socket.bytesRead === 0 || rejected.has(socket)) socket.destroy()
      }
      // Node closes this server, not a fiber.
      // @effect-diagnostics-next-line globalTimers:off
      setTimeout(() => {
        for (const socket of sockets) cutCount += endConnection(socket)
      }, Duration.toMillis(shutdownTimeout)).unref()
    }
  }

  const timeout = Duration.toMillis(requestTimeout)
  const server = new DrainingServer({
    ServerResponse: Response,
    requestTimeout: timeout,
    headersTimeout: Math.min(timeout, Duration.toMillis(headTimeout)),
    keepAliveTimeout: Duration.toMillis(idleTimeout),
    connectionsCheckingInterval: Math.max(50, Math.min(timeout / 4, 5_000))
  })
  server.on("connection", (socket: Socket) => {
    accepted++
    batch(socket)
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    socket.once("end", () => probe(socket))
  })
  // Not in the types, and as old as Node: what a caller sent before it closed its side is answered.
  Reflect.set(server, "httpAllowHalfOpen", true)
  // What arrives before anybody answers requests waits for who does: Node would leave it without an answer.
  const earlyRequests: Array<readonly [IncomingMessage, ServerResponse]> = []
  const enqueue = (request: IncomingMessage, response: ServerResponse): void => {
    earlyRequests.push([request, response])
  }
  server.on("request", enqueue)
  server.on("newListener", (event, listener: typeof enqueue) => {
    if (event !== "request") return
    server.off("request", enqueue)
    process.nextTick(() => {
      for (const [request, response] of earlyRequests.splice(0)) listener.call(server, request, response)
    })
  })
  server.on("clientError", rejectConnection)
  server.on("connect", (_: IncomingMessage, socket: Duplex) => writeError(socket, notImplemented))
  server.on("checkExpectation", (_: IncomingMessage, response: ServerResponse) => {
    reject(response, 417, "The server can't do what the Expect header asks for")
  })
  return server
}

type Headers = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

const bodyOf = (code: number, message: string): string =>
  `{"_type":"ErrorMessage","code":${code},"message":${quote(message)}}`

const reject = <R extends ServerResponse>(response: R, code: number, message: string): R => {
  const body = bodyOf(code, message)
  rejected.add(response.req.socket)
  ServerResponse.prototype.writeHead.call(response, code, {
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close"
  })
  return response.end(body)
}

interface ProtocolError {
  readonly code: number
  readonly reason: string
  readonly message: string
}

/** RFC 9112, sections 3.2 and 6.1: what Node lets through. */
const protocolErrorOf = ({ headers, rawHeaders }: IncomingMessage): ProtocolError | undefined => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  if (hosts > 1) return twoHosts
  const coding = headers["transfer-encoding"]
  return coding === undefined || coding.toLowerCase() === "chunked" ? undefined : unknownCoding
}

const twoHosts: ProtocolError = {
  code: 400,
  reason: "Bad Request",
  message: "The request has more than one Host header"
}

const unknownCoding: ProtocolError = {
  code: 501,
  reason: "Not Implemented",
  message: "The only Transfer-Encoding that the server knows is chunked"
}

const badRequest: ProtocolError = { code: 400, reason: "Bad Request", message: "The request is not valid HTTP" }

const protocolErrors: ReadonlyMap<string | undefined, ProtocolError> = new Map([
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

const notImplemented: ProtocolError = {
  code: 501,
  reason: "Not Implemented",
  message: "The server is no proxy: it does not know CONNECT"
}

/** Their connections are closed when the caller has read why. */
const rejected = new WeakSet<Socket>()

/** Of what Node's parser refuses, or got too late, there is no request to answer, only a connection. */
const rejectConnection = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // Whatever else arrives while the caller reads the answer.
  if (rejected.has(socket)) return
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const unwritten = unwrittenResponse(socket)
  // The requests before this one are answered first.
  if (unwritten?.req.complete === true) {
    unwritten.once("close", () => rejectConnection(error, socket))
    return
  }
  // An answer has begun, into which another one can't be written.
  if (unwritten?.headersSent === true) {
    socket.destroy()
    return
  }
  rejected.add(socket)
  writeError(socket, isUnknownCoding(error) ? unknownCoding : protocolErrors.get(error.code) ?? badRequest)
  // To close while something unread arrives would take the answer back (RFC 9112, section 9.6).
  socket.setTimeout(lingerMillis, () => socket.destroy())
}

/** The parser has the same code for a request with both a length and a coding, and says in words which of the two it is. */
const isUnknownCoding = (error: NodeJS.ErrnoException): boolean =>
  error.code === "HPE_INVALID_TRANSFER_ENCODING" && error.message.includes("nvalid `Transfer-Encoding`")

const writeError = (socket: Duplex, { code, message, reason }: ProtocolError): void => {
  const body = bodyOf(code, message)
  socket.end(
    `HTTP/1.1 ${code} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      + `Connection: close\r\n\r\n${body}`
  )
}

/**
 * A caller that has closed its sending side may still wait for its answer, or be gone: both look the same until something
 * is written. An interim answer (RFC 9110, section 15.2) tells, and a caller that is there passes over it.
 */
const probe = (socket: Socket): void => {
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalTimers:off
  const timer = setInterval(() => {
    const unwritten = unwrittenResponse(socket)
    if (unwritten === undefined || socket.destroyed) clearInterval(timer)
    else if (!unwritten.headersSent && unwritten.req.httpVersion === "1.1") unwritten.writeProcessing()
  }, probeInterval).unref()
}

/** Answers 503 where no answer has begun, and ends the connection; how many requests that were. */
const endConnection = (socket: Socket): number => {
  const unwritten = unwrittenResponse(socket)
  if (unwritten === undefined || unwritten.headersSent) {
    socket.destroy()
    return unwritten === undefined ? 0 : 1
  }
  reject(unwritten, 503, "The service is shutting down: the request took too long")
  return 1
}
