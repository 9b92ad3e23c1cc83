/** Compresses responses. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { varyWith } from "../../internal/vary.ts"
import { codings, includesTag, weightsOf, withCoding } from "../request/entityTags.ts"

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
  const usual = compressors(minSize)
  const always = compressors(0)
  const compressing = Effect.flatMap(handler, (response) =>
    Effect.withFiber<Response, never, Needs>(({ context }) => {
      let etag: string | undefined
      const accepted = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest).headers["accept-encoding"]
      const { algorithms } = Context.getUnsafe(context, HttpPlatform).compression
      const weight = weightsOf(accepted)
      const known: ReadonlyArray<Coding> = [...codings.filter((one) => algorithms.has(one)), "identity"]
      const best = known.reduce((best, one) => weight(one) > weight(best) ? one : best)
      // A client that refuses all of them gets what there is.
      const coding = weight(best) > 0 ? best : "identity"
      const compress = (weight("identity") > 0 ? usual : always)[coding]
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
          // RFC 9110, section 15.4.5: it has the headers of its 200.
          const varied = response.status === 304
            ? HttpServerResponse.setHeader(response, "vary", varyWith(response.headers["vary"], ["Accept-Encoding"]))
            : response
          if (etag === undefined) return Effect.succeed(varied)
          const tag = tagOf(response, etag, headers["if-none-match"], coding)
          return Effect.succeed(
            tag === response.headers["etag"] ? varied : HttpServerResponse.setHeader(varied, "etag", tag)
          )
        }))
      )
    }))
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

type Response = HttpServerResponse.HttpServerResponse

type Needs = HttpServerRequest.HttpServerRequest | HttpPlatform

type Coding = (typeof codings)[number] | "identity"

/** What compresses by each coding. All of them say that the response depends on what its client accepts. */
const compressors = (minSize: number) => {
  // At its usual level, zstd took four times the processor time of gzip for a page: each response has tables of that level.
  const by = (...algorithms: ReadonlyArray<(typeof codings)[number]>) =>
    HttpMiddleware.compression({ algorithms, levels: { zstd: 1 }, minSize })
  return { zstd: by("zstd"), br: by("br"), gzip: by("gzip"), identity: by() }
}

/**
 * The tag of a response in the coding that it has or, of a 304, in the one of its 200: that which the client has, if this is one
 * that the client accepts. Whether an uncompressed one is small is not known.
 */
const tagOf = (
  { headers, status }: Response,
  etag: string,
  ifNoneMatch: string | undefined,
  coding: Coding
): string => {
  // The platform makes the tags of what it compresses weak.
  const isCompressed = headers["etag"] !== etag
  const isKnown = status === 304 && coding !== "identity" &&
    (includesTag(ifNoneMatch, withCoding(etag, coding)) || !includesTag(ifNoneMatch, etag))
  return isCompressed || isKnown ? withCoding(etag, coding) : etag
}
