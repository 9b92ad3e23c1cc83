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
  const compress = HttpMiddleware.compression({ algorithms: codings, levels: { zstd: 1 }, minSize })
  const compressing = Effect.flatMap(handler, (response) => {
    let etag: string | undefined
    // Such handlers run in the order in which they are added: those of the route, as that of tokens, are before these.
    return HttpEffect.appendPreResponseHandler((_, response) => {
      etag = response.headers["etag"]
      return Effect.succeed(
        response.headers["cache-control"]?.includes("no-store") === true
          ? HttpServerResponse.setHeader(response, "content-encoding", "identity")
          : response
      )
    }).pipe(
      Effect.andThen(compress(Effect.succeed(response))),
      Effect.tap(HttpEffect.appendPreResponseHandler(({ headers }, response) => {
        if (etag === undefined) return Effect.succeed(response)
        const tag = tagOf(response, etag, headers["if-none-match"])
        return Effect.succeed(
          tag === response.headers["etag"] ? response : HttpServerResponse.setHeader(response, "etag", tag)
        )
      }))
    )
  })
  return Effect.withFiber<
    HttpServerResponse.HttpServerResponse,
    E,
    R | HttpServerRequest.HttpServerRequest | HttpPlatform
  >((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return headers["cookie"] !== undefined || /^(?:basic|digest|negotiate)\b/iu.test(headers["authorization"] ?? "")
      ? handler
      : compressing
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
