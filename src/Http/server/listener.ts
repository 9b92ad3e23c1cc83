import { type IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Request } from "../request/heldBody.ts"

/**
 * Node's server with two rules for when a request is handed on:
 *
 * - A small body is read before, so that whoever answers the request does so in one go.
 * - A request that follows others on its connection before they are answered waits for them, unless all of them are safe
 *   (RFC 9112, section 9.3.2). The connection is not read meanwhile, so that what waits is bounded.
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
 * An answer that knows when the answers before it on its connection are written.
 *
 * @internal
 */
export class OrderedResponse<R extends IncomingMessage> extends ServerResponse<R> {
  #begin: (() => void) | undefined

  /** Calls `begin` at once, or when everything before it on the connection has been answered. */
  afterPrevious(begin: () => void): void {
    // Node gives the connection to an answer when those before it are written.
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

/** How many requests of a connection wait. */
const waiting = new WeakMap<Socket, number>()

/** RFC 9110, section 9.2.1. */
const isSafe = (method: string | undefined): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS"

/**
 * The first answer of the connection that is not written yet. Node keeps it in the same place.
 *
 * @internal
 */
export const unwrittenResponse = (socket: Socket): ServerResponse | undefined => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse ? response : undefined
}
