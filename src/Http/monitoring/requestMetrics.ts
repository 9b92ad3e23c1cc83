/** Metrics of requests, with the names and units of OpenTelemetry's conventions for HTTP servers. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpMethod from "effect/http/HttpMethod"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import { callerGone } from "../server/accessLog.ts"

/** Counts and times responses by method, route and status. Unknown paths count as one, and so do unknown methods. */
export const measured = Effect.fnUntraced(function*<E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) {
  const context = yield* Effect.context<never>()
  let active = 0
  const activeRequests = Metric.registerUnsafe(
    Metric.gauge("http.server.active_requests", {
      description: "Requests that are handled",
      attributes: { unit: "{request}" }
    }),
    context,
    { get: () => ({ value: active }), update: () => {}, modify: () => {} }
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => activeRequests.remove()))
  const known = new Map<string, Series>()
  const seriesOf = (method: string, route: string | undefined, status: number): Series => {
    const key = `${status} ${method} ${route ?? ""}`
    return getOrMake(known, key, () =>
      makeSeries({
        "http.request.method": method,
        "http.response.status_code": String(status),
        ...route === undefined ? {} : { "http.route": route },
        ...status >= 500 ? { "error.type": String(status) } : {}
      }))
  }
  return Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.monotonicTimeNanosUnsafe()
    active++
    return Effect.onExitPrimitive(handler, (exit) => {
      active--
      const route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path
      const method = methods.has(request.method) ? request.method : "_OTHER"
      const series = seriesOf(method, route, Exit.isSuccess(exit) ? exit.value.status : callerGone)
      series.duration.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9, context)
      const received = Number(request.headers["content-length"] ?? NaN)
      if (received >= 0) series.requestSize.updateUnsafe(received, context)
      const body = Exit.isSuccess(exit) ? exit.value.body : undefined
      const sent = body === undefined || body._tag === "Empty" ? undefined : body.contentLength
      if (sent !== undefined) series.responseSize.updateUnsafe(sent, context)
      return undefined
    })
  })
})

interface Series {
  readonly duration: Metric.Histogram<number>
  readonly requestSize: Metric.Histogram<number>
  readonly responseSize: Metric.Histogram<number>
}

const makeSeries = (attributes: { readonly [name: string]: string }): Series => {
  const size = (name: string, description: string) =>
    Metric.histogram(name, { description, attributes: { ...attributes, unit: "By" }, boundaries: sizes })
  return {
    duration: Metric.histogram("http.server.request.duration", {
      description: "How long requests took",
      attributes: { ...attributes, unit: "s" },
      boundaries: durations
    }),
    requestSize: size("http.server.request.body.size", "The size of the bodies of requests"),
    responseSize: size("http.server.response.body.size", "The size of the bodies of responses, if it is known before")
  }
}

/** In seconds, as the conventions say. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const sizes = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

/** The methods that the conventions know. */
const methods: ReadonlySet<string> = new Set<string>(HttpMethod.all).add("CONNECT")
