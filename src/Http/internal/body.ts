import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { isUtf8 } from "node:buffer"
import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from "../HttpError.ts"

/** @internal */
export type BodyError = BadRequest | PayloadTooLarge | UnsupportedMediaType

/**
 * Reads a request's JSON body (RFC 8259, so UTF-8) in one step, at most `limit` bytes of it.
 *
 * @internal
 */
export const readJson = (
  request: HttpServerRequest.HttpServerRequest,
  types: ReadonlyArray<string>,
  limit: number
): Effect.Effect<unknown, BodyError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const contentType = source.headers["content-type"]
  if (contentType === undefined || !isOneOf(contentType, types)) {
    return Effect.fail(new UnsupportedMediaType({ message: `The body must be ${types.join(" or ")}` }))
  }
  if (Number(source.headers["content-length"]) > limit) return Effect.fail(tooLarge(limit))
  // RFC 9110, section 10.1.1: who waits for the word sends its body after it.
  if (source.headers.expect !== undefined) NodeHttpServerRequest.toServerResponse(request).writeContinue()
  return Effect.callback<unknown, BodyError>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    // The listeners go with the request, and only the first result counts.
    source.on("data", (chunk: Buffer) => {
      const before = size
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else if (before <= limit) {
        chunks.length = 0
        resume(Effect.fail(tooLarge(limit)))
      }
    })
    source.on("end", () => resume(parse(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    source.on("error", () => resume(Effect.fail(new BadRequest({ message: "The body can't be read", errors: [] }))))
  })
}

const isOneOf = (contentType: string, types: ReadonlyArray<string>): boolean => {
  const end = contentType.indexOf(";")
  const type = (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
  return types.includes(type)
}

const tooLarge = (limit: number) =>
  new PayloadTooLarge({ message: `The body is larger than the ${limit} bytes that are accepted` })

const parse = (bytes: Buffer): Effect.Effect<unknown, BadRequest> =>
  isUtf8(bytes)
    ? Effect.try({
      try: (): unknown => JSON.parse(bytes.toString("utf8")),
      catch: (cause) => new BadRequest({ message: `The body is not valid JSON: ${reasonOf(cause)}`, errors: [] })
    })
    : Effect.fail(new BadRequest({ message: "The body is not valid UTF-8", errors: [] }))

// The parser's message may quote the body, of which nothing is repeated.
const reasonOf = (cause: unknown): string => {
  const position = cause instanceof Error ? /at position \d+/u.exec(cause.message)?.[0] : undefined
  return position === undefined ? "it ends too early or has a wrong character" : `wrong character ${position}`
}
