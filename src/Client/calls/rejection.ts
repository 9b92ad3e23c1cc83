/** Answers with another status than 2xx, as failures. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { RequestHandlingException, requiredHeader } from "../ClientError.ts"
import { answerValue } from "./bodies.ts"
import type { RawAnswer, RawHeaders } from "./transport.ts"

/** The failure that an answer with another status than 2xx is. */
export const rejectedResponse = (
  { headers, status, text }: HttpClientResponse.HttpClientResponse,
  upstream: string
): Effect.Effect<never, RequestHandlingException> =>
  Effect.flatMap(
    Effect.option(text),
    (text) => rejected({ headers: { ...headers }, status }, Option.getOrUndefined(text), upstream)
  )

/** {@link rejectedResponse} of an answer whose body was read as `text`. */
export const rejected = (raw: Pick<RawAnswer, "status" | "headers">, text: string | undefined, upstream: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { headers, status } = raw
    const contentType = headers["content-type"]
    const body = text === undefined || text === ""
      ? undefined
      : answerValue(text, typeof contentType === "string" ? contentType : undefined)
    const error = Predicate.hasProperty(body, "_type") && body._type === "ErrorMessage" ? body : undefined
    const message = Predicate.hasProperty(error, "message") ? error.message : undefined
    const service = Predicate.hasProperty(error, "upstream_service") ? error.upstream_service : undefined
    const retryAfter = retryAfterOf(headers["retry-after"], now)
    const upstreamService = typeof service === "string" ? beginning(service, 100) : upstream
    return Effect.fail(
      new RequestHandlingException({
        message: typeof message === "string"
          ? beginning(message, 1_000)
          : `${upstreamService} answered with status ${status}`,
        upstreamService,
        reason: {
          _tag: "Status",
          statusCode: status,
          ...(retryAfter === undefined ? {} : { retryAfter }),
          ...requiredOf(status, headers),
          ...(body === undefined ? {} : { body })
        }
      })
    )
  })

// internal

/** At most `length` characters, and an ellipsis for what follows them: it goes on to callers and into logs. */
const beginning = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text.slice(0, /[\uD800-\uDBFF]/u.test(text.charAt(length - 1)) ? length - 1 : length)}…`

const requiredOf = (status: number, headers: RawHeaders) => {
  const name = requiredHeader.get(status)
  const value = name === undefined ? undefined : headers[name]
  // More than one field is one list.
  return name === undefined || value === undefined
    ? {}
    : { headers: { [name]: typeof value === "string" ? value : value.join(", ") } }
}

/** A service that asks for more asks for nothing sensible, in milliseconds. */
const maxRetryAfter = 86_400_000

/** Seconds, or a date of one of three forms (RFC 9110, sections 10.2.3 and 5.6.7), of which the last has no zone. */
const retryAfterOf = (value: RawHeaders[string], now: number): Duration.Duration | undefined => {
  if (typeof value !== "string") return undefined
  if (/^\d{1,9}$/u.test(value)) return Duration.millis(Math.min(Number(value) * 1_000, maxRetryAfter))
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/u.test(value)) return undefined
  const date = DateTime.make(value.endsWith("GMT") ? value : `${value} GMT`)
  if (Option.isNone(date)) return undefined
  return Duration.millis(Math.min(Math.max(0, DateTime.toEpochMillis(date.value) - now), maxRetryAfter))
}
