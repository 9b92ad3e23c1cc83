/**
 * The parts of Node's HTTP that servers need. An import of its ES module reads all of its exports, for one of which Node loads a client
 * (undici): a tenth of the start of a small service.
 */
import type * as Http from "node:http"
import process from "node:process"

const http = process.getBuiltinModule("node:http")

export const { IncomingMessage, STATUS_CODES, Server, ServerResponse } = http

export type IncomingMessage = Http.IncomingMessage

export type Server = Http.Server

export type ServerResponse<Request extends IncomingMessage = IncomingMessage> = Http.ServerResponse<Request>
