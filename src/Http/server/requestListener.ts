/**
 * Decides when Node's server starts to handle a request: after a small body has arrived, and in order on each
 * connection.
 */
import * as Predicate from "effect/Predicate"
import type { ServerOptions } from "node:http"
import type { Socket } from "node:net"
import process from "node:process"
import { BufferedRequest } from "../request/bufferedRequest.ts"
import { IncomingMessage, Server, ServerResponse, unwrittenResponse } from "../request/nodeHttp.ts"
import { WireResponse } from "../request/wireResponse.ts"

/** Decides when a request is handled, and may answer it otherwise. */
export interface RequestGate {
  readonly enter: (request: IncomingMessage, response: ServerResponse, handle: () => void) => void
  /** Is called for each new connection. */
  readonly connected: () => void
}

/**
 * Node's server with some rules for the dispatch of requests:
 *
 * - A small body that comes with its request is read before this is dispatched, so that its handler runs without waiting.
 * - A pipelined request waits until the previous responses on its connection are written, unless all these requests are
 *   safe (RFC 9112, section 9.3.2). The connection is paused meanwhile, so the number of waiting requests is bounded.
 * - A {@link RequestGate} decides when a request begins.
 * - What {@link RequestListener.answersAtOnce} answers is kept from the listeners of requests.
 * - Requests wait for the first request listener, where Node would leave them unanswered, and until
 *   {@link RequestListener.resumeRequests} after {@link RequestListener.pauseRequests}.
 */
export class RequestListener<Response extends typeof OrderedResponse<IncomingMessage>> extends Server<
  typeof IncomingMessage,
  Response
> {
  gate: RequestGate | undefined
  /** Answers a request before its listeners, or returns `false` and has done nothing. */
  answersAtOnce: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** The requests that wait; `undefined` while none has to. */
  #paused: Array<() => void> | undefined = []

  constructor(options: ServerOptions<typeof IncomingMessage, Response>) {
    super({ ...options, IncomingMessage: BufferedRequest })
    const resume = (event: string | symbol): void => {
      if (event !== "request") return
      this.off("newListener", resume)
      // The listener is added after this event.
      process.nextTick(() => this.resumeRequests())
    }
    this.on("newListener", resume)
  }

  /** Listeners get what is not answered at once. The event is emitted for each request: instrumentations wait for it. */
  override on(event: string, listener: (...values: ReadonlyArray<never>) => void): this {
    if (event !== "request") return Reflect.apply(super.on.bind(this), this, [event, listener])
    const listening = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.answersAtOnce?.(request, response) !== true) Reflect.apply(listener, this, [request, response])
    }
    // Node removes a listener by this property, too.
    return super.on(event, Object.assign(listening, { listener }))
  }

  pauseRequests(): void {
    this.#paused ??= []
  }

  resumeRequests(): void {
    const paused = this.#paused ?? []
    this.#paused = undefined
    for (const dispatch of paused) dispatch()
  }

  /** Whether the request of this event is handled now. If not, it was answered, or is kept for later. */
  protected admits(_event: string, _values: ReadonlyArray<unknown>): boolean {
    return true
  }

  override emit(event: string, ...values: ReadonlyArray<unknown>): boolean {
    if (event !== "request" && event !== "checkContinue") {
      return event === "upgrade" && !this.admits(event, values) || super.emit(event, ...values)
    }
    if (!this.admits(event, values)) return true
    const [request] = values
    if (event === "request" && request instanceof BufferedRequest && request.isSmall) {
      request.buffer(() => this.#enter(event, values))
    } else this.#enter(event, values)
    return true
  }

  #enter(event: string, values: ReadonlyArray<unknown>): void {
    const [request, response] = values
    if (response instanceof OrderedResponse) response.arrived()
    if (this.gate !== undefined && request instanceof IncomingMessage && response instanceof ServerResponse) {
      this.gate.enter(request, response, () => this.#dispatch(event, values))
    } else this.#dispatch(event, values)
  }

  #dispatch(event: string, values: ReadonlyArray<unknown>): void {
    const [, response] = values
    if (response instanceof OrderedResponse && response.hasToWait) {
      response.afterPrevious(() => this.#begin(event, values))
    } else this.#begin(event, values)
  }

  #begin(event: string, values: ReadonlyArray<unknown>): void {
    if (this.#paused === undefined) super.emit(event, ...values)
    else this.#paused.push(() => this.#begin(event, values))
  }
}

/** A response that knows when the previous responses on its connection are written. */
export class OrderedResponse<R extends IncomingMessage> extends WireResponse<R> {
  #begin: (() => void) | undefined
  /** The last request before on the connection that is not safe, if it may wait in a gate. */
  #unsafeBefore: ServerResponse | undefined
  #isNoted = false

  /** Notes its place among the requests of its connection, before a {@link RequestGate} changes their order. */
  arrived(): void {
    if (this.socket !== null) return
    const { method, socket } = this.req
    this.#unsafeBefore = lastUnsafe.get(socket)
    if (isSafe(method)) return
    this.#isNoted = true
    lastUnsafe.set(socket, this)
  }

  /** Whether a previous request on the connection has to be answered first. */
  get hasToWait(): boolean {
    // Node assigns the socket to a response once the previous ones are written.
    if (this.socket !== null) return false
    const { method, socket } = this.req
    return !isSafe(method) || (waiting.get(socket) ?? 0) > 0 || this.#unsafeBefore?.writableEnded === false
      || !isSafe(unwrittenResponse(socket)?.req.method)
  }

  /** Lets go of the request, which Node holds until the next one of the connection if its stream has not ended. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket)
    if (this.#isNoted && lastUnsafe.get(socket) === this) lastUnsafe.delete(socket)
    const { req } = this
    const parser: unknown = Reflect.get(socket, "parser")
    if (req.complete && Predicate.hasProperty(parser, "incoming") && parser.incoming === req) {
      Reflect.set(parser, "incoming", null)
    }
    if (req instanceof BufferedRequest) req.endForListeners()
  }

  /** Calls `begin` once every previous request on the connection is answered. */
  afterPrevious(begin: () => void): void {
    this.#begin = begin
    const { socket } = this.req
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    socket.pause()
  }

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket)
    this.#unsafeBefore = undefined
    const begin = this.#begin
    if (begin === undefined) return
    this.#begin = undefined
    const remaining = (waiting.get(socket) ?? 1) - 1
    waiting.set(socket, remaining)
    if (remaining === 0) socket.resume()
    begin()
  }
}

/** The last pipelined request of each connection that is not safe. */
const lastUnsafe = new WeakMap<Socket, ServerResponse>()

/** The number of waiting requests for each connection. */
const waiting = new WeakMap<Socket, number>()

/** RFC 9110, section 9.2.1, and RFC 10008. */
const isSafe = (method: string | undefined): boolean => method !== undefined && safe.has(method)

const safe: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "QUERY"])
