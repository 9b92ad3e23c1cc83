/** Builds the JSON responses of the engine: error messages and operation results. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { ServerResponse } from "node:http"
import type { FieldProblem } from "../../Model/internal.ts"
import { WireResponse } from "../request/wireResponse.ts"
import type { UpstreamError } from "../UpstreamError.ts"
import { bytesOf, type WireText } from "./wireText.ts"

type Response = HttpServerResponse.HttpServerResponse

type Headers = { readonly [name: string]: string }

export const json = (text: string, status = 200, headers?: Headers): Response =>
  withHeaders(HttpServerResponse.text(text, { status, contentType: "application/json" }), headers)

/** {@link json} of a text as it is sent, whose bytes nobody has to count. */
export const wireJson = (wire: WireText, status = 200, headers?: Headers): Response => {
  const { isAscii, text } = wire
  const body = isAscii
    ? new HttpBody.Uint8Array(undefined, "application/json", text.length, text)
    : new WireBody(text)
  return withHeaders(HttpServerResponse.setBody(HttpServerResponse.empty({ status }), body), headers)
}

/** The text of a body with a character for each byte, for a server that sends it as it is. Others send its bytes. */
export const prepareWire = ({ body }: Response, request: HttpServerRequest.HttpServerRequest): void => {
  if (!(body instanceof WireBody)) return
  const response = NodeHttpServerRequest.toServerResponse(request)
  if (response instanceof WireResponse) response.sendTextOf(body)
}

/** Sends a response of {@link wireJson} as the platform does. */
export const sendWireJson = ({ body, headers, status }: Response, response: ServerResponse): void => {
  if (body instanceof WireBody && response instanceof WireResponse) response.sendTextOf(body)
  response.writeHead(status, headers)
  if (body._tag === "Uint8Array") response.end(body.text ?? body.body)
  else response.end()
}

const withHeaders = (given: Response, headers: Headers | undefined): Response => {
  let response = given
  // Setting headers one by one costs a quarter of passing them as an option.
  for (const name in headers) response = HttpServerResponse.setHeader(response, name, headers[name]!)
  return response
}

/** JSON as it is sent, whose bytes are made for who asks for them. */
class WireBody extends HttpBody.Uint8Array {
  readonly #wire: string
  #bytes: Buffer | undefined

  constructor(wire: string) {
    super(undefined, "application/json", wire.length)
    this.#wire = wire
  }

  override get body(): Uint8Array {
    return this.#bytes ??= bytesOf({ text: this.#wire })
  }

  setText(): void {
    // The text is a property of each body, which only this one has later.
    Reflect.set(this, "text", this.#wire)
  }
}

export const errorText = (code: number, message: string, more?: object): string =>
  JSON.stringify({ _type: "ErrorMessage", code, message, ...more })

export const errorMessage = (code: number, message: string, headers?: Headers): Response =>
  json(errorText(code, message), code, headers)

export const badRequest = (
  message: string,
  problems: ReadonlyArray<FieldProblem>,
  headers?: Headers,
  more?: object
): Response => {
  const errors = problems.map(({ field, message, validator }) => ({ field, validator, message }))
  return json(errorText(400, message, { ...more, errors }), 400, headers)
}

/** 429 with `Retry-After` (RFC 9110, section 10.2.3). */
export const tooManyRequests = (message: string, seconds: number, headers?: Headers): Response =>
  json(errorText(429, message, { retry_after: seconds }), 429, { ...headers, "retry-after": String(seconds) })

/** The response to a request whose call to another service failed. */
export const upstreamError = (
  message: string,
  { code, retry_after, upstream_service }: UpstreamError,
  headers?: Headers
): Response =>
  json(
    errorText(code, message, { upstream_service, ...code === 400 ? { errors: [] } : {}, retry_after }),
    code,
    retry_after === undefined ? headers : { ...headers, "retry-after": String(retry_after) }
  )

/** The response of an operation; `result` is JSON. */
export const operationResult = (result: string, status = 200, headers?: Headers): Response =>
  json(`{"_type":"OperationResult","result":${result}}`, status, headers)
