/** The time limit of handlers, and the deadline that their calls to other services inherit. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { withEarlierDeadline } from "../../internal/deadline.ts"
import { textOfKey } from "../../internal/texts.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import type { ErrorResponses } from "../response/translatedResponses.ts"

/**
 * Interrupts handlers after a time, and answers 503 in their place. Calls to other services end a tenth of that time
 * earlier, at most 100 ms, so that a handler can still answer. A streamed body has no limit.
 */
export const withResponseTimeout = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  duration: Duration.Duration,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> => {
  const millis = Duration.toMillis(duration)
  return Effect.withFiber((outer) => {
    // The handler runs in a fiber of its own. The log and the metrics read the route and the caller of the outer fiber.
    const told = Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((inner) =>
      Effect.onExitPrimitive(handler, () => {
        const route = Context.getOrUndefined(inner.context, HttpRouter.RouteContext)
        const user = Context.getOrUndefined(inner.context, CurrentUser)
        if (route !== undefined) outer.setContext(Context.add(outer.context, HttpRouter.RouteContext, route))
        if (user !== undefined) outer.setContext(Context.add(outer.context, CurrentUser, user))
        return undefined
      })
    )
    return Effect.timeoutOrElse(withEarlierDeadline(told, millis - Math.min(100, millis / 10)), {
      duration,
      orElse: () => errorResponses.sentence("ServiceUnavailable", textOfKey("errors.ResponseTimeout"))
    })
  })
}
