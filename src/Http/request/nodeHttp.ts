/**
 * The parts of Node's HTTP that servers need. An import of its ES module reads all of its exports, for one of which Node loads a client
 * (undici): a tenth of the start of a small service. Instrumentations that replace `require` see this one.
 */
import type * as Http from "node:http"
import { createRequire } from "node:module"
import type { Socket } from "node:net"

const http: typeof Http = createRequire(import.meta.url)("node:http")

export const { IncomingMessage, STATUS_CODES, Server, ServerResponse } = http

export type IncomingMessage = Http.IncomingMessage

export type Server = Http.Server

export type ServerResponse<Request extends IncomingMessage = IncomingMessage> = Http.ServerResponse<Request>

/** The first unwritten response on the connection, which Node stores in this property. */
export const unwrittenResponse = (socket: Socket): ServerResponse | undefined => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse ? response : undefined
}
