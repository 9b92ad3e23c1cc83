/**
 * Cross-origin requests: answers preflights, and adds the headers that let scripts of allowed origins read responses.
 */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { varyWith } from "../../internal/vary.ts"
import type { Scheme } from "../../Security/Authentication.ts"
import type { Cors } from "../Cors.ts"

type Headers = { readonly [name: string]: string }

/**
 * Answers preflight requests, and lets scripts of allowed origins read responses. `schemes` name the headers of
 * credentials. Effect's `HttpMiddleware.cors` does not serve here: it also answers an `OPTIONS` that is no preflight, whose
 * response needs an `Allow`, and it sends a single allowed origin to requests of all origins.
 */
export const withCors = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { credentials, headers, maxAge, methods, origins }: Cors,
  schemes: ReadonlyArray<Scheme>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const isForAll = origins.includes("*")
  const varying = isForAll ? [] : ["Origin"]
  const shared = credentials ? { "access-control-allow-credentials": "true" } : {}
  const exposing = { ...shared, "access-control-expose-headers": exposed.join(", ") }
  const allowing = {
    ...shared,
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": (headers ?? namesOf([...readableHeaders, ...schemes.map(({ header }) => header)]))
      .join(", "),
    "access-control-max-age": String(Math.floor(Duration.toSeconds(maxAge)))
  }
  const allowed = new Map(origins.map((origin) => [origin, { "access-control-allow-origin": origin }]))
  const originOf = (origin: string): Headers | undefined => allowed.get(isForAll ? "*" : origin)

  const preflight = (origin: string): HttpServerResponse.HttpServerResponse => {
    const own = originOf(origin)
    return HttpServerResponse.empty({
      status: 204,
      headers: {
        vary: varyWith(undefined, [...varying, "Access-Control-Request-Method", "Access-Control-Request-Headers"]),
        ...(own === undefined ? {} : { ...own, ...allowing })
      }
    })
  }
  const readable = (response: HttpServerResponse.HttpServerResponse, origin: string | undefined) => {
    // What is for all is also sent to who names no origin: a cache may give it to a script (Fetch, "CORS protocol and HTTP caches").
    const own = origin === undefined && !isForAll ? undefined : originOf(origin ?? "*")
    return HttpServerResponse.setHeaders(response, {
      ...(isForAll ? {} : { vary: varyWith(response.headers["vary"], varying) }),
      ...(own === undefined ? {} : { ...own, ...exposing })
    })
  }

  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const { origin } = request.headers
    return origin !== undefined && request.method === "OPTIONS" && "access-control-request-method" in request.headers
      ? Effect.succeed(preflight(origin))
      : Effect.map(handler, (response) => readable(response, origin))
  })
}

/** Removes names that differ from an earlier one only in case. */
const namesOf = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  Arr.dedupeWith(names, (a, b) => a.toLowerCase() === b.toLowerCase())

/** The headers that requests may have. Any client of Effect sends those of traces. */
export const readableHeaders = [
  "Authorization",
  "X-API-Key",
  "Content-Type",
  "Content-Disposition",
  "Accept-Language",
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
  "Range",
  "Idempotency-Key",
  "Prefer",
  "Tus-Resumable",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "X-HTTP-Method-Override",
  "Last-Event-ID",
  "X-Request-Id",
  "traceparent",
  "tracestate",
  "b3"
]

/** The response headers that scripts of other origins may read. */
export const exposed = [
  "ETag",
  "Location",
  "Content-Location",
  "Preference-Applied",
  "X-Total-Count",
  "X-Unreadable-Count",
  "X-Request-Id",
  "Idempotency-Replayed",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Resumable",
  "Tus-Version",
  "Upload-Expires",
  "Upload-Length",
  "Upload-Offset",
  "Retry-After",
  "WWW-Authenticate",
  "Allow",
  "Accept-Patch",
  "Accept-Query",
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Range",
  "RateLimit",
  "RateLimit-Policy",
  "Stream-Next-Offset",
  "Stream-Up-To-Date",
  "Stream-Cursor",
  "Stream-Txid"
]
