/** Answers as those of Effect's `HttpClient`, read as a whole. */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import * as Pipeable from "effect/Pipeable"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { decodedText, inUtf8 } from "./bytes.ts"
import type { RawHeaders } from "./transport.ts"

export const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  status: number,
  headers: RawHeaders,
  bytes: Uint8Array
): HttpClientResponse.HttpClientResponse => new ReadResponse(request, status, headers, bytes)

// internal

/** What nearly all calls read is made of the bytes, which are UTF-8 as all readers of Effect take it. The platform's response is made for the rest. */
class ReadResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly #bytes: Uint8Array
  readonly #raw: RawHeaders
  #headers: Headers.Headers | undefined
  #web: HttpClientResponse.HttpClientResponse | undefined

  constructor(request: HttpClientRequest.HttpClientRequest, status: number, headers: RawHeaders, bytes: Uint8Array) {
    super()
    this.request = request
    this.status = status
    this.#raw = headers
    this.#bytes = inUtf8(bytes, headers["content-type"])
  }

  get headers(): Headers.Headers {
    if (this.#headers !== undefined) return this.#headers
    const fields: { [name: string]: string } = {}
    for (const [name, value] of fieldsOf(this.#raw)) fields[name] = typeof value === "string" ? value : value.join(", ")
    // Their names are in lower case.
    return this.#headers = Headers.fromRecordUnsafe(fields)
  }

  get text(): Effect.Effect<string> {
    return Effect.sync(() => this.#text)
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError.HttpClientError> {
    return Effect.suspend(() => {
      const text = this.#text
      const value = Result.try((): Schema.Json => text === "" ? null : JSON.parse(text))
      return Result.isSuccess(value) ? Effect.succeed(value.success) : Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause: value.failure })
        })
      )
    })
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer> {
    // A copy, since the bytes may be a part of a larger buffer.
    return Effect.sync(() => new Uint8Array(this.#bytes).buffer)
  }

  get stream() {
    return this.#platform.stream
  }

  get urlParamsBody() {
    return this.#platform.urlParamsBody
  }

  get formData() {
    return this.#platform.formData
  }

  get cookies() {
    return this.#platform.cookies
  }

  get url() {
    return this.#platform.url
  }

  get remoteAddress() {
    return this.#platform.remoteAddress
  }

  get upgrade() {
    return this.#platform.upgrade
  }

  override toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  pipe() {
    return Pipeable.pipeArguments(this, arguments)
  }

  get #text(): string {
    return decodedText(this.#bytes, undefined)
  }

  get #platform(): HttpClientResponse.HttpClientResponse {
    if (this.#web !== undefined) return this.#web
    const headers: Array<[string, string]> = []
    for (const [name, value] of fieldsOf(this.#raw)) {
      for (const one of typeof value === "string" ? [value] : value) headers.push([name, one])
    }
    const body = this.#bytes.length === 0 ? null : new Uint8Array(this.#bytes)
    // A status that no `Response` has, for instance above 599, is not asked for here.
    return this.#web = HttpClientResponse.fromWeb(this.request, new Response(body, { headers }))
  }
}

/** The body is decompressed. */
const fieldsOf = (raw: RawHeaders) =>
  Object.entries(raw).flatMap(([name, value]) =>
    value === undefined || name === "content-encoding" || name === "content-length" ? [] : [[name, value] as const]
  )
