/** Compresses responses. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import type { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * Compresses responses of a size, for clients that accept it.
 *
 * The length of a compressed response tells whether a text of the caller is in it. Others can only make a browser send such a
 * text with credentials that it adds by itself: a cookie, or a name and password. Responses to these, and those that nobody
 * may store, are not compressed.
 */
export const compressed = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  minSize: number
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest | HttpPlatform> => {
  // At its usual level, zstd took four times the processor time of gzip for a page: each response has tables of that level.
  const compressing = HttpMiddleware.compression({ algorithms: ["zstd", "br", "gzip"], levels: { zstd: 1 }, minSize })(
    Effect.map(handler, (response) =>
      response.headers["cache-control"]?.includes("no-store") === true
        ? HttpServerResponse.setHeader(response, "content-encoding", "identity")
        : response)
  )
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
