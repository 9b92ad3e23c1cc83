/** Node's HTTP server with timeouts for slow clients, answers to protocol errors, and an orderly shutdown. */
import * as Duration from "effect/Duration"
import { type AddressInfo, type ListenOptions, Server as NetServer, Socket } from "node:net"
import process from "node:process"
import type { Duplex } from "node:stream"
// Tests may replace the global timers.
import { clearInterval, setImmediate, setInterval, setTimeout } from "node:timers"
import { defaultOf } from "../../internal/configurationKeys.ts"
import { quote } from "../../internal/json.ts"
import { BufferedRequest } from "../request/bufferedRequest.ts"
import { IncomingMessage, type Server, ServerResponse, STATUS_CODES, unwrittenResponse } from "../request/nodeHttp.ts"
import { withoutSecrets } from "../request/requestPath.ts"
import { limitUpload } from "../request/uploading.ts"
import type { ResponseHeaders } from "../request/wireResponse.ts"
import { batch } from "./batchedSocket.ts"
import { errorOfParser, notImplemented, type ProtocolError, protocolErrorOf } from "./protocolErrors.ts"
import { OrderedResponse, type RequestGate, RequestListener } from "./requestListener.ts"

/** The milliseconds that a connection stays open for the client to read why its request is rejected. */
const lingerMillis = 1_000

/** The seconds that an accepted connection has for its first request before a closing server closes it. */
const silentSeconds = 5

/** The share of the shutdown timeout for which a closing server continues to accept connections that wait. */
const arrivalShare = 0.25

/** The seconds without a new connection after which a closing server expects no more of them. */
const quietSeconds = 0.05

/** The milliseconds between probes of a client that has closed its side of the connection. */
const probeInterval = 250

/**
 * Node's server with these differences:
 *
 * - The address to listen on is set before the server listens. With port 0 it listens at once, and its requests wait.
 * - Timeouts limit clients that send slowly or nothing.
 * - Protocol errors are answered with an `ErrorMessage`.
 * - A client that closes its sending side gets its response.
 * - On close, the server first accepts the connections that wait, and reads the requests that have arrived. It closes
 *   idle connections, and new ones without a request after a moment. It answers 503 to requests that exceed the
 *   shutdown timeout.
 */
export interface HttpServer extends Server {
  gate: RequestGate | undefined
  answersAtOnce: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** Makes `listen` only store the address, unless its port is 0, since the platform calls it before any route is ready. */
  readonly hold: () => void
  /** Starts to listen on the stored address, and to answer requests, and reports the result. */
  readonly open: (done: (error?: Error) => void) => void
  /** The open connections, with the seconds since the start of the process at which they were accepted. */
  readonly sockets: ReadonlyMap<Socket, number>
  /** The number of requests beyond the shutdown timeout: answered 503, or cut off. */
  readonly cutRequests: () => number
}

export interface HttpServerOptions {
  readonly requestTimeout: Duration.Duration
  readonly headerTimeout?: Duration.Duration | undefined
  readonly shutdownTimeout: Duration.Duration
  readonly idleTimeout?: Duration.Duration | undefined
  readonly maxConnections?: number | undefined
  readonly maxFields?: number | undefined
  /** Is told what is wrong with a response. */
  readonly report?: ((problem: string) => void) | undefined
}

export const makeServer = (
  {
    headerTimeout = defaultOf("server.header_timeout"),
    idleTimeout = defaultOf("server.idle_timeout"),
    maxConnections,
    maxFields = defaultOf("server.max_fields"),
    report = () => {},
    requestTimeout,
    shutdownTimeout
  }: HttpServerOptions
): HttpServer => {
  let closing = false
  let cutCount = 0
  const closeTime = Duration.toMillis(shutdownTimeout)
  const arrivalSeconds = closeTime / 1_000 * arrivalShare
  let lastAccepted = 0
  const sockets = new Map<Socket, number>()
  // Listeners that connections share: one made for each would cost a good part of what a small request costs.
  const forget = function(this: Socket): void {
    sockets.delete(this)
  }

  class Response<R extends IncomingMessage> extends OrderedResponse<R> {
    override writeHead(code: number, reason?: string | ResponseHeaders, headers?: ResponseHeaders): this {
      if (closing) this.shouldKeepAlive = false
      // Node itself passes an array when it rejects an HTTP/1.1 request without a Host header.
      if (Array.isArray(reason)) return reject(this, 400, "The request has no Host header")
      // Browsers take an answer as what its content type says. A literal costs less than setting the header.
      const all = { "x-content-type-options": "nosniff", ...typeof reason === "string" ? headers : reason ?? headers }
      // It keeps a response from being compressed, and says nothing to a client (RFC 9110, section 8.4.1).
      if ("content-encoding" in all && all["content-encoding"] === "identity") delete all["content-encoding"]
      return typeof reason === "string" ? super.writeHead(code, reason, all) : super.writeHead(code, all)
    }
    protected override mismatched(length: number, written: number): void {
      const { method, url = "" } = this.req
      const found = written > length ? "is longer" : `has ${written}`
      report(`Cut the response to ${method} ${withoutSecrets(url)}: it says ${length} bytes, and its body ${found}`)
    }
  }
  // With Node's own check of the length, each response would be written in two parts.
  Object.defineProperty(Response.prototype, "strictContentLength", { get: () => false, set: () => {} })

  class DrainingServer extends RequestListener<typeof Response> {
    readonly sockets: ReadonlyMap<Socket, number> = sockets
    readonly cutRequests = (): number => cutCount
    #isPaused = false
    #address: ListenOptions = {}
    /** The requests that arrive at a paused server that listens already. */
    readonly #early: Array<readonly [string, ReadonlyArray<unknown>]> = []
    readonly hold = (): void => {
      this.#isPaused = true
    }
    override listen(...options: ReadonlyArray<unknown>): this {
      const [listenAddress, done] = options
      this.#address = Object(listenAddress)
      // A port that the system chooses has to be known before the service is ready.
      if (!this.#isPaused || this.#address.port === 0) return Reflect.apply(super.listen.bind(this), this, options)
      if (typeof done === "function") process.nextTick(done)
      return this
    }
    readonly open = (done: (error?: Error) => void): void => {
      this.#isPaused = false
      for (const [event, values] of this.#early.splice(0)) this.emit(event, ...values)
      if (this.listening) return done()
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
    protected override admits(event: string, values: ReadonlyArray<unknown>): boolean {
      if (this.#isPaused) {
        this.#early.push([event, values])
        return false
      }
      const [request, response] = values
      // Its framing may be faulty (RFC 9112, section 6.1).
      if (
        request instanceof IncomingMessage && request.httpVersion === "1.0" &&
        request.headers["transfer-encoding"] !== undefined && response instanceof ServerResponse
      ) response.shouldKeepAlive = false
      const protocolError = request instanceof IncomingMessage ? protocolErrorOf(request, maxFields) : undefined
      // A request that opens a WebSocket has its connection instead.
      if (response instanceof Socket) closeOnceEnded(response)
      if (request instanceof BufferedRequest && request.losesNext && response instanceof ServerResponse) {
        response.shouldKeepAlive = false
        // What comes later may be the rest of what is lost.
        request.socket.pause()
      }
      if (protocolError === undefined) return true
      if (response instanceof ServerResponse) reject(response, protocolError.code, protocolError.message)
      else if (response instanceof Socket) writeError(response, protocolError)
      return false
    }
    override close(callback?: (error?: Error) => void): this {
      closing = true
      // Clients that wait for their answers open no further connections meanwhile, and accepting takes all the time.
      this.pauseRequests()
      this.afterArrivals(process.uptime(), () => this.closeNow(callback))
      // Node closes this server, not a fiber.
      // @effect-diagnostics-next-line globalTimers:off
      setTimeout(() => {
        for (const socket of sockets.keys()) cutCount += endConnection(socket)
      }, closeTime).unref()
      return this
    }
    /**
     * Calls `then` after a time without a new connection, the shorter the longer this takes. A turn of the event loop
     * accepts only one connection, and what connects after a turn looked for one is lost at its end: the last one has to
     * be short. Between looks it sleeps: connections wake it.
     */
    private afterArrivals(since: number, then: () => void): void {
      const begin = process.uptime()
      setImmediate(() => {
        const end = process.uptime()
        const quiet = end - Math.max(since, lastAccepted)
        const waited = (end - since) / arrivalSeconds
        const rest = quietSeconds * (1 - waited) - quiet
        if (waited > 1 || (rest < 0 && end - begin < quiet / 10)) then()
        // @effect-diagnostics-next-line globalTimers:off
        else setTimeout(() => this.afterArrivals(since, then), Math.max(0, rest * 1_000))
      })
    }
    private closeNow(callback?: (error?: Error) => void): void {
      // Connections that become idle now close immediately.
      this.keepAliveTimeout = 1
      Reflect.set(this, "keepAliveTimeoutBuffer", 0)
      // Node would close idle connections before it stops to listen.
      NetServer.prototype.close.call(this, callback)
      super.close()
      this.resumeRequests()
      // Node would wait for connections that never sent a request.
      for (const [socket, acceptedAt] of sockets) closeSilent(socket, acceptedAt)
    }
  }

  const timeout = Duration.toMillis(requestTimeout)
  const server = new DrainingServer({
    ServerResponse: Response,
    requestTimeout: timeout,
    headersTimeout: Math.min(timeout, Duration.toMillis(headerTimeout)),
    keepAliveTimeout: Duration.toMillis(idleTimeout),
    connectionsCheckingInterval: Math.max(50, Math.min(timeout / 4, 5_000))
  })
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  // Node would leave out the headers beyond a number. Their bytes are limited.
  server.maxHeadersCount = 0
  server.on("connection", (socket: Socket) => {
    lastAccepted = process.uptime()
    server.gate?.connected()
    batch(socket)
    sockets.set(socket, lastAccepted)
    socket.on("close", forget)
    socket.on("end", probeWaiting)
  })
  // Node has this option without declaring it: a request is answered even if the client closed its sending side.
  Reflect.set(server, "httpAllowHalfOpen", true)
  answerProtocolErrors(server, timeout)
  closeStalled(server, timeout)
  return server
}

/**
 * Closes connections whose clients take nothing of their response for so many milliseconds: it would stay in memory. A
 * client that takes little is seen when the system's buffer has room again.
 */
const closeStalled = (server: HttpServer, millis: number): void => {
  let before = new Map<Socket, string>()
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalTimers:off
  const timer = setInterval(() => {
    const waiting = new Map<Socket, string>()
    for (const socket of server.sockets.keys()) {
      if (socket.writableLength === 0) continue
      const state = `${socket.bytesWritten} ${Reflect.get(Object(Reflect.get(socket, "_handle")), "writeQueueSize")}`
      if (before.get(socket) === state) socket.destroy()
      else waiting.set(socket, state)
    }
    before = waiting
  }, millis).unref()
  server.once("close", () => clearInterval(timer))
}

/** Closes a connection that Node has handed over a moment after the server has ended it, even if the client does not. */
const closeOnceEnded = (socket: Duplex): void => {
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalTimers:off
  socket.once("finish", () => setTimeout(() => socket.destroy(), lingerMillis).unref())
}

/** Closes a connection that sends nothing in the time since its acceptance that it has for a request. */
const closeSilent = (socket: Socket, acceptedAt: number): void => {
  if (socket.bytesRead > 0) return
  const remaining = Math.max(0, acceptedAt + silentSeconds - process.uptime())
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalTimers:off
  setTimeout(() => {
    // What arrived while the event loop was busy is read before.
    setImmediate(() => {
      if (socket.bytesRead === 0) socket.destroy()
    })
  }, remaining * 1_000).unref()
}

const answerProtocolErrors = (server: Server, timeout: number): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const rejectIt = () => rejectConnection(error, socket)
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT" || !limitUpload(socket, timeout, rejectIt)) rejectIt()
  })
  server.on("connect", (_: IncomingMessage, socket: Duplex) => {
    closeOnceEnded(socket)
    writeError(socket, notImplemented)
  })
  server.on("checkExpectation", (_: IncomingMessage, response: ServerResponse) => {
    reject(response, 417, "The server can't do what the Expect header asks for")
  })
}

const bodyOf = (code: number, message: string): string =>
  `{"_type":"ErrorMessage","code":${code},"message":${quote(message)}}`

const reject = <R extends ServerResponse>(response: R, code: number, message: string): R => {
  const body = bodyOf(code, message)
  rejected.add(response.req.socket)
  ServerResponse.prototype.writeHead.call(response, code, {
    "x-content-type-options": "nosniff",
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close"
  })
  return response.end(body)
}

/** The connections that close once the client has read why its request is rejected. */
const rejected = new WeakSet<Socket>()

/** Node's parser reports its errors and timeouts for a connection, without a request to answer. */
const rejectConnection = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // Ignores further data while the client reads the response.
  if (rejected.has(socket)) return
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const unwritten = unwrittenResponse(socket)
  // The previous requests are answered first.
  if (unwritten?.req.complete === true) {
    unwritten.once("close", () => rejectConnection(error, socket))
    return
  }
  // Another response can't be written into one that has started.
  if (unwritten?.headersSent === true) {
    socket.destroy()
    return
  }
  rejected.add(socket)
  writeError(socket, errorOfParser(error))
  // Closing a connection with unread data would discard the response (RFC 9112, section 9.6).
  socket.setTimeout(lingerMillis, () => socket.destroy())
}

const writeError = (socket: Duplex, { code, message }: ProtocolError): void => {
  const body = bodyOf(code, message)
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalDate:off
  const date = new Date().toUTCString()
  socket.end(
    `HTTP/1.1 ${code} ${
      STATUS_CODES[code]
    }\r\nDate: ${date}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      + `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  )
}

/**
 * Finds out whether a client that closed its side, and waits for a response, has gone: only a write shows it, and clients ignore a
 * 1xx.
 */
function probeWaiting(this: Socket): void {
  if (unwrittenResponse(this) === undefined) return
  // A connection is no fiber.
  // @effect-diagnostics-next-line globalTimers:off
  const timer = setInterval(() => {
    const unwritten = unwrittenResponse(this)
    if (unwritten === undefined || this.destroyed) clearInterval(timer)
    else if (!unwritten.headersSent && unwritten.req.httpVersion === "1.1") unwritten.writeProcessing()
  }, probeInterval).unref()
}

/** Ends the connection, with a 503 if no response has started. Returns the number of requests cut off. */
const endConnection = (socket: Socket): number => {
  const unwritten = unwrittenResponse(socket)
  if (unwritten === undefined || unwritten.headersSent) {
    socket.destroy()
    return unwritten === undefined ? 0 : 1
  }
  reject(unwritten, 503, "The service is shutting down: the request took too long")
  return 1
}
