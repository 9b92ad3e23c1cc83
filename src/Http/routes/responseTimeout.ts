import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { withDeadline } from "../../internal/deadline.ts"
import type { ErrorResponses } from "../response/translation.ts"

/**
 * Interrupts handlers after a time, and answers 503 in their place. Their calls to other services end a moment before, so
 * that a handler can answer something else. A body that is a stream is not limited.
 *
 * @internal
 */
export const withResponseTimeout = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  duration: Duration.Duration,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> => {
  const millis = Duration.toMillis(duration)
  return Effect.timeoutOrElse(withDeadline(handler, millis - Math.min(100, millis / 10)), {
    duration,
    orElse: () => errorResponses.sentence(503, { key: "errors.ResponseTimeout" })
  })
}
