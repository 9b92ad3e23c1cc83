/** What a server rejects of HTTP before a handler has the request. */
import type { IncomingMessage } from "../request/nodeHttp.ts"

export interface ProtocolError {
  readonly code: number
  readonly message: string
}

/** Rejects too many headers, and what Node accepts against RFC 9112, sections 3.2 and 6.1. `undefined`: there is nothing to reject. */
export const protocolErrorOf = (
  { headers, rawHeaders }: IncomingMessage,
  maxFields: number
): ProtocolError | undefined => {
  if (rawHeaders.length > 2 * maxFields) return tooManyHeaders(maxFields)
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length !== 4 || name.toLowerCase() !== "host") continue
    if (!validHost.test(rawHeaders[i + 1] ?? "")) return invalidHost
    hosts++
  }
  if (hosts > 1) return twoHosts
  const coding = headers["transfer-encoding"]
  return coding === undefined || coding.toLowerCase() === "chunked" ? undefined : unknownCoding
}

const tooManyHeaders = (maximum: number): ProtocolError => ({
  code: 431,
  message: `The request has more than ${maximum} headers`
})

const twoHosts: ProtocolError = { code: 400, message: "The request has more than one Host header" }

const invalidHost: ProtocolError = { code: 400, message: "The Host header is no name or address of a host" }

/** RFC 3986, section 3.2.2, and a port. It is empty in requests without a host. */
const validHost = /^(?:\[[\w.:~!$&'()*+,;=-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/iu

const unknownCoding: ProtocolError = {
  code: 501,
  message: "The only Transfer-Encoding that the server knows is chunked"
}

const badRequest: ProtocolError = { code: 400, message: "The request is not valid HTTP" }

const protocolErrors: ReadonlyMap<string | undefined, ProtocolError> = new Map([
  ["HPE_HEADER_OVERFLOW", { code: 431, message: "The head of the request is too large" }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", { code: 413, message: "The extensions of a chunk are too large" }],
  ["ERR_HTTP_REQUEST_TIMEOUT", { code: 408, message: "The request took too long to arrive" }]
])

export const notImplemented: ProtocolError = { code: 501, message: "The server is no proxy: it does not know CONNECT" }

/** What the parser's error is answered as. */
export const errorOfParser = (error: NodeJS.ErrnoException): ProtocolError =>
  isUnknownCoding(error) ? unknownCoding : protocolErrors.get(error.code) ?? badRequest

/** The parser uses the same code for a request with both a length and a transfer coding; only the message differs. */
const isUnknownCoding = (error: NodeJS.ErrnoException): boolean =>
  error.code === "HPE_INVALID_TRANSFER_ENCODING" && error.message.includes("nvalid `Transfer-Encoding`")
