/** Compresses responses. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import type { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { codings, includesTag, withCoding } from "../request/entityTags.ts"

/**
 * Compresses responses of a size, for clients that accept it.
 *
 * The length of a compressed response tells whether a text of the caller is in it. Others can only make a browser send such a
 * text with credentials that it adds by itself: a cookie, or a name and password. Responses to these, and those that nobody
 * may store, are not compressed.
 *
 * A compressed response has a tag of its own, which preconditions know as that of the document.
 */
export const compressed = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  minSize: number
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest | HttpPlatform> => {
  // At its usual level, zstd took four times the processor time of gzip for a page: each response has tables of that level.
  const compressing = HttpMiddleware.compression({ algorithms: codings, levels: { zstd: 1 }, minSize })
  return Effect.withFiber<
    HttpServerResponse.HttpServerResponse,
    E,
    R | HttpServerRequest.HttpServerRequest | HttpPlatform
  >((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    if (headers["cookie"] !== undefined || /^(?:basic|digest|negotiate)\b/iu.test(headers["authorization"] ?? "")) {
      return handler
    }
    let etag: string | undefined
    const plain = Effect.map(handler, (response) => {
      etag = response.headers["etag"]
      return response.headers["cache-control"]?.includes("no-store") === true
        ? HttpServerResponse.setHeader(response, "content-encoding", "identity")
        : response
    })
    return compressing(Effect.suspend(() => {
      // After the handler that compresses, which the platform has just added.
      HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) => {
        const tag = etag === undefined ? undefined : tagOf(response, etag, headers["if-none-match"])
        return Effect.succeed(
          tag === response.headers["etag"] || tag === undefined
            ? response
            : HttpServerResponse.setHeader(response, "etag", tag)
        )
      })
      return plain
    }))
  })
}

// internal

/** The tag of a response in the coding that it has or, of a 304, in the one that its client has. */
const tagOf = (
  { headers, status }: HttpServerResponse.HttpServerResponse,
  etag: string,
  ifNoneMatch: string | undefined
): string => {
  // The platform makes the tags of what it compresses weak.
  const isCompressed = headers["etag"] !== etag
  const coding = codings.find((coding) =>
    isCompressed
      ? coding === headers["content-encoding"]
      : status === 304 && !includesTag(ifNoneMatch, etag) && includesTag(ifNoneMatch, withCoding(etag, coding))
  )
  return coding === undefined ? etag : withCoding(etag, coding)
}
