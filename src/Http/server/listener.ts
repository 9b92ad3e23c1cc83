import { type IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Request } from "../request/bufferedRequest.ts"

/**
 * Node's server with two rules for the dispatch of requests:
 *
 * - A small body is read completely before the request is dispatched, so that its handler runs without waiting.
 * - A pipelined request waits until the previous responses on its connection are written, unless all these requests are
 *   safe (RFC 9112, section 9.3.2). The connection is paused meanwhile, so the number of waiting requests is bounded.
 *
 * @internal
 */
export class Listener<Response extends typeof OrderedResponse<IncomingMessage>> extends Server<
  typeof IncomingMessage,
  Response
> {
  constructor(options: ServerOptions<typeof IncomingMessage, Response>) {
    super({ ...options, IncomingMessage: Request })
  }

  override emit(event: string, ...values: ReadonlyArray<unknown>): boolean {
    if (event !== "request" && event !== "checkContinue") return super.emit(event, ...values)
    const [request, response] = values
    const dispatch = (): void => {
      if (response instanceof OrderedResponse) response.afterPrevious(() => super.emit(event, ...values))
      else super.emit(event, ...values)
    }
    if (event === "request" && request instanceof Request && request.isSmall) request.buffer(dispatch)
    else dispatch()
    return true
  }
}

/**
 * A response that knows when the previous responses on its connection are written.
 *
 * @internal
 */
export class OrderedResponse<R extends IncomingMessage> extends ServerResponse<R> {
  #begin: (() => void) | undefined

  /** Calls `begin` once every previous request on the connection is answered. */
  afterPrevious(begin: () => void): void {
    // Node assigns the socket to a response once the previous ones are written.
    if (this.socket !== null || !this.mustWait()) return begin()
    this.#begin = begin
    const { socket } = this.req
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    socket.pause()
  }

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket)
    const begin = this.#begin
    if (begin === undefined) return
    this.#begin = undefined
    const remaining = (waiting.get(socket) ?? 1) - 1
    waiting.set(socket, remaining)
    if (remaining === 0) socket.resume()
    begin()
  }

  private mustWait(): boolean {
    const { method, socket } = this.req
    return !isSafe(method) || (waiting.get(socket) ?? 0) > 0 || !isSafe(unwrittenResponse(socket)?.req.method)
  }
}

/** The number of waiting requests for each connection. */
const waiting = new WeakMap<Socket, number>()

/** RFC 9110, section 9.2.1. */
const isSafe = (method: string | undefined): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS"

/**
 * The first unwritten response on the connection, which Node stores in this property.
 *
 * @internal
 */
export const unwrittenResponse = (socket: Socket): ServerResponse | undefined => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse ? response : undefined
}
