/**
 * Answers that are made without a fiber: those to plain requests for one document or a page, which wait for nothing. Whatever these
 * depend on has a second form here; what has none leaves the request to its fiber.
 */
import type * as Clock from "effect/Clock"
import type * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { IncomingMessage } from "node:http"

/** A request that may be answered without a fiber: a `GET` with no other headers than {@link isPlain} knows. */
interface PlainRequest {
  readonly message: IncomingMessage
  /** The pattern of its route. */
  readonly route: string
  readonly params: { readonly [name: string]: string | undefined }
  /** The parameters of the query. */
  readonly parameters: { readonly [name: string]: string | ReadonlyArray<string> }
  /** The clock of the server's fiber. */
  readonly clock: Clock.Clock
}

/** Answers a request at once, or leaves it to its fiber by `undefined`, and then has done nothing. */
export type AtOnce = (request: PlainRequest) => HttpServerResponse.HttpServerResponse | undefined

/** A stage that does nothing with what is answered at once. */
export const unchanged = (inner: AtOnce): AtOnce => inner

/** Whether nothing of a request asks for more than its path says. */
export const isPlain = ({ headers, httpVersion, method, url = "" }: IncomingMessage): boolean => {
  if (method !== "GET" || httpVersion !== "1.1" || !plainPath.test(url)) return false
  for (const name in headers) if (!plainHeaders.has(name)) return false
  return true
}

/** The handler, with the form of it that needs no fiber. Whoever wraps the handler has a handler without one. */
export const withAtOnce = <H extends Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, unknown>>(
  handler: H,
  atOnce: AtOnce | undefined
): H => {
  if (atOnce !== undefined) known.set(handler, atOnce)
  return handler
}

/** The form of a handler that needs no fiber, if it has one. */
export const atOnceOf = (handler: object): AtOnce | undefined => known.get(handler)

// internal

const known = new WeakMap<object, AtOnce>()

/** Segments without escapes, and without those that have a meaning. A query has no other escapes than of ASCII. */
const plainPath = /^(?:\/[\w-][\w.~-]*)+(?:\?(?:[\w.~!$'()*+,:=&@/<>[\]-]|%[0-7][\da-fA-F])*)?$/u

/** What no route of a document reads, or what the stages read that answer at once. */
const plainHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "forwarded",
  "host",
  "referer",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "user-agent",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id"
])
