/** Reads JSON and URL-encoded bodies within limits, and rejects other media types, encodings and invalid Unicode. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { isUtf8 } from "node:buffer"
import type { IncomingHttpHeaders } from "node:http"
import type { Readable } from "node:stream"
import { ownValue } from "../../internal/objects.ts"
import { ownText } from "../../internal/ownText.ts"
import { formType } from "../description/operationEndpoint.ts"
import { type BadRequest, errorOf, type PayloadTooLarge, type UnsupportedMediaType } from "../HttpError.ts"
import { BufferedRequest } from "./bufferedRequest.ts"
import { isDeeper } from "./depth.ts"
import { hasMoreFields } from "./fieldCount.ts"

/** The maximum nesting of a body: deeper than any real document, and safe for recursive functions. */
export const maxDepth = 128

export type BodyError = BadRequest | PayloadTooLarge | UnsupportedMediaType

/** Reads a request's JSON body (RFC 8259, so UTF-8) of at most `limit` bytes. */
export const readJson = (
  request: HttpServerRequest.HttpServerRequest,
  types: ReadonlyArray<string>,
  limit: number
): Effect.Effect<unknown, BodyError> => readAs(request, types, limit, (bytes) => parseJson(bytes))

/** Reads a form-urlencoded body within the limits; repeated parameters are lists, empty ones are left out. */
export const readParameters = (
  request: HttpServerRequest.HttpServerRequest,
  { maxBodySize, maxFields }: { readonly maxBodySize: number; readonly maxFields: number }
): Effect.Effect<{ readonly [name: string]: string | ReadonlyArray<string> }, BodyError> =>
  readAs(request, [formType], maxBodySize, (bytes) => parametersIn(bytes, maxFields, ([, value]) => value !== ""))

/**
 * Reads the parameters of a query in a body: a JSON object of them, or form-urlencoded as in a URL. A number that JavaScript would write
 * otherwise than the body is an object without a prototype, which `JSON.stringify` writes as the body does.
 */
export const readQuery = (
  request: HttpServerRequest.HttpServerRequest,
  { maxBodySize, maxFields }: { readonly maxBodySize: number; readonly maxFields: number }
): Effect.Effect<unknown, BodyError> =>
  readAs(
    request,
    ["application/json", formType],
    maxBodySize,
    (bytes, type) => type === formType ? parametersIn(bytes, maxFields, () => true) : parseJson(bytes, asWritten)
  )

/** A function that `JSON.parse` calls with each value, and since Node 22 with its text. */
type Reviver = (...[key, value, context]: ReadonlyArray<unknown>) => unknown

// It is newer than the types of `JSON`.
const rawJson = Reflect.get(JSON, "rawJSON") as (text: string) => object

const asWritten: Reviver = (...[, value, context]) => {
  if (typeof value !== "number") return value
  const text = String(ownValue(context, "source"))
  return text === String(value) ? value : rawJson(text)
}

const parametersIn = (
  bytes: Buffer,
  maxFields: number,
  isGiven: (pair: readonly [name: string, value: string]) => boolean
): Exit.Exit<{ readonly [name: string]: string | ReadonlyArray<string> }, BadRequest | PayloadTooLarge> => {
  if (!isUtf8(bytes)) return Exit.fail(errorOf("BadRequest", "errors.BodyNotUtf8"))
  const text = bytes.toString("utf8")
  if (hasMoreFields(text, maxFields)) {
    return Exit.fail(errorOf("PayloadTooLarge", "errors.TooManyFields", { limit: maxFields }))
  }
  const values = Array.from(
    Map.groupBy(Array.from(new URLSearchParams(text)).filter(isGiven), ([name]) => name),
    ([name, pairs]) => {
      const texts = pairs.map(([, value]) => ownText(value))
      return [ownText(name), texts.length === 1 ? texts[0]! : texts] as const
    }
  )
  return Exit.succeed(Object.fromEntries(values))
}

const readAs = <A>(
  request: HttpServerRequest.HttpServerRequest,
  types: ReadonlyArray<string>,
  limit: number,
  parseAs: (bytes: Buffer, type: string) => Exit.Exit<A, BadRequest | PayloadTooLarge>
): Effect.Effect<A, BodyError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const refused = refusedType(source.headers, (type) => types.includes(type), types)
  if (refused !== undefined) return Effect.fail(refused)
  return Effect.flatMapEager(
    readBytes(request, limit),
    (bytes) => parseAs(bytes, mediaTypeOf(source.headers["content-type"] ?? ""))
  )
}

/** Reads a request's body of at most `limit` bytes. */
export const readBytes = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<Buffer, BadRequest | PayloadTooLarge> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  if (Number(source.headers["content-length"]) > limit) return Effect.fail(bodyTooLarge(limit))
  sendContinue(request)
  const buffered = source instanceof BufferedRequest ? source.body : undefined
  return buffered === undefined ? read(source, limit) : Effect.succeed(buffered)
}

/** Sends `100 Continue` to a client that waits for it, not by HTTP/1.0 (RFC 9110, section 10.1.1). */
export const sendContinue = (request: HttpServerRequest.HttpServerRequest): void => {
  const { headers, httpVersion } = NodeHttpServerRequest.toIncomingMessage(request)
  if (headers.expect === undefined || httpVersion !== "1.1") return
  const response = NodeHttpServerRequest.toServerResponse(request)
  if (!response.headersSent) response.writeContinue()
}

const read = (source: Readable, limit: number): Effect.Effect<Buffer, BadRequest | PayloadTooLarge> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    // The listeners are released with the request. Only the first result counts.
    source.on("data", (chunk: Buffer) => {
      const before = size
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else if (before <= limit) {
        chunks.length = 0
        resume(Effect.fail(bodyTooLarge(limit)))
      }
    })
    source.on("end", () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    source.on("error", () => resume(Effect.fail(errorOf("BadRequest", "errors.BodyUnreadable"))))
  })

/** The type in a `Content-Type` header, without its parameters. */
export const mediaTypeOf = (contentType: string): string => {
  const end = contentType.indexOf(";")
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/** The error for a body of an unsupported type, or with a content coding (RFC 9110, section 8.4), since none is decoded. */
export const refusedType = (
  { "content-encoding": coding, "content-type": type }: IncomingHttpHeaders,
  isAccepted: (type: string) => boolean,
  types: ReadonlyArray<string>
): UnsupportedMediaType | undefined =>
  type === undefined || !isAccepted(mediaTypeOf(type))
    ? otherType(types)
    : coding === undefined || coding.trim().toLowerCase() === "identity"
    ? undefined
    : errorOf("UnsupportedMediaType", "errors.BodyEncoding")

/** The error for a body of an unsupported type. */
export const otherType = (types: ReadonlyArray<string>): UnsupportedMediaType =>
  errorOf("UnsupportedMediaType", "errors.BodyType", { types: types.join(", ") })

/** The error for a body of more than `limit` bytes. */
export const bodyTooLarge = (limit: number): PayloadTooLarge =>
  errorOf("PayloadTooLarge", "errors.BodyTooLarge", { limit })

/** The value of a JSON text, revived if it has numbers that may be rounded. It is an `Exit`, which the caller can use synchronously. */
export const parseJson = (bytes: Buffer, revive?: Reviver): Exit.Exit<unknown, BadRequest> => {
  if (!isUtf8(bytes)) return Exit.fail(errorOf("BadRequest", "errors.BodyNotUtf8"))
  if (isDeeper(bytes, maxDepth)) {
    return Exit.fail(errorOf("BadRequest", "errors.BodyTooDeep", { depth: maxDepth }))
  }
  const text = bytes.toString("utf8")
  try {
    const value: unknown = revive !== undefined && inexact.test(text) ? JSON.parse(text, revive) : JSON.parse(text)
    return escapedSurrogate.test(text) && !isWellFormed(value)
      ? Exit.fail(errorOf("BadRequest", "errors.BodyNotUnicode"))
      : Exit.succeed(value)
  } catch (cause) {
    return Exit.fail(errorOf("BadRequest", "errors.BodyNotJson", { reason: reasonOf(cause) }))
  }
}

/** A number with many digits, a fraction or an exponent. */
const inexact = /\d(?:\d{15}|[.eE])|-0/u

const escapedSurrogate = /\\u[dD][89a-fA-F]/u

/** RFC 8259, section 8.2: an unpaired surrogate is no Unicode text, and a store would change it. */
const isWellFormed = (value: unknown): boolean =>
  typeof value === "string"
    ? value.isWellFormed()
    : typeof value !== "object" || value === null ||
      (Array.isArray(value)
        ? value.every((item) => isWellFormed(item))
        : Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item)))

// The parser's message may quote the body, which must not be repeated.
const reasonOf = (cause: unknown): string => {
  const position = cause instanceof Error ? /at position \d+/u.exec(cause.message)?.[0] : undefined
  return position === undefined ? "it ends too early or has a wrong character" : `wrong character ${position}`
}
