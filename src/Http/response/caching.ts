/** The `Cache-Control` and the entity tags of a registration's responses (RFC 9111). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { hash } from "node:crypto"
import { includesTag } from "../request/entityTags.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface Caching {
  /** The `Cache-Control` of responses to `GET`. */
  readonly cacheControl: string | undefined
  /** Whether pages have an entity tag. */
  readonly pageTags: boolean
}

/** Adds the headers to responses of `GET`, and answers 304 if the client has it. A private response stays so. */
export const cached = <E, R>(
  handler: Effect.Effect<Response, E, R>,
  { cacheControl, pageTags }: Caching
): Effect.Effect<Response, E, R> => {
  const forCaller = cacheControl === undefined ? undefined : privately(cacheControl)
  return Effect.flatMap(handler, (response) => {
    if (!controlledStatuses.has(response.status)) return Effect.succeed(response)
    const known = response.headers["cache-control"]
    const control = known === undefined ? cacheControl : known === anyCaller ? forCaller : undefined
    const controlled = control === undefined
      ? response
      : HttpServerResponse.setHeader(response, "cache-control", control)
    return pageTags ? unlessPosted(tagged(controlled), controlled) : Effect.succeed(controlled)
  })
}

// internal

const controlledStatuses: ReadonlySet<number> = new Set([200, 206, 304])

/** The value that `makeCallerHeaders` sets. */
const anyCaller = "private, no-cache"

/** The directives without those for shared caches, and with `private`. */
const privately = (control: string): string =>
  [
    "private",
    ...control.split(",").map((part) => part.trim()).filter((part) => !/^(?:public|private|s-maxage)\b/iu.test(part))
  ]
    .join(", ")

const isUnstored = (headers: Response["headers"]): boolean => headers["cache-control"]?.includes("no-store") === true

/** RFC 9110, section 13.1.2: an answer to `POST` has no 304, so a tag would be of no use. */
const unlessPosted = (tagged: Effect.Effect<Response>, response: Response): Effect.Effect<Response> =>
  Effect.withFiber((fiber) =>
    Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest).method === "POST"
      ? Effect.succeed(response)
      : tagged
  )

/** Tags a response by a hash of its bytes. The tag is weak, since the response may be compressed. */
const tagged = (response: Response): Effect.Effect<Response> =>
  Effect.withFiber((fiber) => {
    const { body, headers: { "content-length": _length, "content-type": _type, ...headers }, status } = response
    if (status !== 200 || body._tag !== "Uint8Array" || headers["etag"] !== undefined || isUnstored(headers)) {
      return Effect.succeed(response)
    }
    const etag = `W/"${hash("sha1", body.body).slice(0, 27)}"`
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.succeed(
      includesTag(request.headers["if-none-match"], etag)
        ? HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } })
        : HttpServerResponse.setHeader(response, "etag", etag)
    )
  })
