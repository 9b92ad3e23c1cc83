/** A request that the service makes to a route of its own, for the caller of another request. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Headers from "effect/http/Headers"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { BufferedRequest } from "./bufferedRequest.ts"
import { requestIdOf } from "./requestId.ts"

/** A request of a tool, on the connection of its caller. */
export class InnerRequest extends BufferedRequest {
  /** The name of the tool, for the audit log. */
  readonly tool: string

  constructor(outer: IncomingMessage, { body, headers, method, tool, url }: InnerOptions & {
    readonly headers: IncomingHttpHeaders
  }) {
    super(outer.socket)
    this.tool = tool
    Object.assign(this, { method, url, headers, httpVersion: "1.1", complete: true })
    this.keep(body ?? Buffer.alloc(0))
  }
}

interface InnerOptions {
  readonly method: string
  /** The path with the query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** A body in JSON. */
  readonly body: Buffer | undefined
  readonly tool: string
}

/**
 * Makes the request: with the credentials, the language and the address of the other one, and with nothing that its own body,
 * cache or protocol has to do with.
 */
export const innerRequest = (
  outer: HttpServerRequest.HttpServerRequest,
  options: InnerOptions
): HttpServerRequest.HttpServerRequest => {
  // It is a request over HTTP/1.1, as all that the server gets.
  const source = NodeHttpServerRequest.toIncomingMessage(outer) as IncomingMessage
  const inherited = Object.entries(source.headers).filter(([name]) => !own.test(name))
  const headers: IncomingHttpHeaders = {
    ...Object.fromEntries(inherited),
    accept: "application/json",
    "x-request-id": requestIdOf(outer),
    ...options.body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(options.body.length) },
    ...options.headers
  }
  const inner = new InnerRequest(source, { ...options, headers })
  const request = outer.modify({ url: options.url, headers: Headers.fromInput(headers) })
  // What `modify` returns is a new object, which has the message of the other request.
  Reflect.set(request, "source", inner)
  return request
}

// internal

/** The headers that are about the message of a request, and not about who sends it. */
const own =
  /^(?:accept|accept-encoding|connection|content-.*|expect|idempotency-key|if-.*|last-event-id|mcp-.*|origin|prefer|range|transfer-encoding)$/u
