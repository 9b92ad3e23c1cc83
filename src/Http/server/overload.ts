/** Limits the requests that a service handles at once, and refuses the others, so that no queue grows. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"

/** Makes the response to a refused request: 503 with `Retry-After` (RFC 9110, section 10.2.3). */
export type Refusal = (
  headers: { readonly [name: string]: string }
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Counts refused requests: those of the service, those of a route, and those that waited too long. */
export const refusalsOf = (scope: "service" | "route" | "delay"): Metric.Counter<number> =>
  Metric.counter("appkernel.overload.refused", {
    description: "Requests that were refused because of overload",
    attributes: { scope },
    incremental: true
  })

/** The value of `Retry-After`. */
export const secondsOf = (time: Duration.Duration): string => String(Math.ceil(Duration.toSeconds(time)))

/** Handles at most `maximum` requests at once, and refuses the others. `scope` is an attribute of the metric. */
export const bounded = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { maximum, refuse, retryAfter, scope }: {
    readonly maximum: number
    readonly refuse: Refusal
    readonly retryAfter: Duration.Duration
    readonly scope: "service" | "route"
  }
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const refusals = refusalsOf(scope)
  const seconds = secondsOf(retryAfter)
  let active = 0
  const refused = Effect.andThen(
    Metric.update(refusals, 1),
    Effect.suspend(() => refuse({ "retry-after": seconds }))
  )
  return Effect.suspend(() => {
    if (active >= maximum) return refused
    active++
    return Effect.onExitPrimitive(handler, () => {
      active--
      return undefined
    })
  })
}
