/**
 * The way of a request: what it meets in the service, and then in its route, in this order. Its response passes the same
 * stages backwards. Both lists are folded once, at the start, and what is off is not in them then.
 */
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { folded, foldedAtOnce, type Stage } from "../../internal/stages.ts"
import { textOfKey } from "../../internal/texts.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import { type AtOnce, atOnceOf, unchanged } from "../request/atOnce.ts"
import { hasMoreFields } from "../request/fieldCount.ts"
import { askedByBody } from "../response/askedByBody.ts"
import { cached } from "../response/caching.ts"
import { withCors } from "../routes/cors.ts"
import { withErrorResponses } from "../routes/errorBoundary.ts"
import { withResponseTimeout } from "../routes/responseTimeout.ts"
import { type Responding, withAccepted, withTransaction } from "../routes/route.ts"
import { routed } from "../routes/routing.ts"
import { accessLogged, accessLoggedAtOnce } from "../server/accessLog.ts"
import { bounded } from "../server/overload.ts"
import { shed } from "../server/shedding.ts"
import { withMeasuring } from "./monitored.ts"
import type { Answer, RouteSurroundings, ServedRoute, ServiceSurroundings } from "./surroundings.ts"

type Started = Effect.Effect<void, never, DocumentStore | HttpServer.HttpServer | Scope.Scope>

/** Starts to serve, by what serves an answer until the scope ends. */
type Serving = (serve: (answer: Answer) => Started) => Started

export const serviceStages: ReadonlyArray<Stage<ServiceSurroundings, Serving, AtOnce>> = [
  {
    name: "queue",
    does: "Lets a request wait while the processor is busy, and answers 503 to one that has waited too long.",
    when: "`overload.max_delay`",
    before: { probes: "it is a gate of Node's server, before a request has a fiber; probes pass it at once" },
    wrap: ({ errorFormat, errorResponses, overload: { maxDelay, retryAfter }, priorityOf, probeAt }) =>
      using(maxDelay, (maxDelay) => {
        const refusal = errorResponses.early("ServiceUnavailable", textOfKey("errors.Overload"), errorFormat)
        const options = { maxDelay, priorityOf, probeAt, refusal, retryAfter }
        // After the server serves, so that it ends before the server waits for its last responses.
        return (inner) => (serve) => Effect.andThen(inner(serve), shed(options))
      }),
    atOnce: () => unchanged
  },
  {
    name: "probes",
    does: "Answers `/health/live` and `/health/ready`.",
    when: "`health.enabled`, or a layer of `Monitoring`",
    before: {
      "access log": "probes would fill it",
      metrics: "probes are no work of the service",
      concurrency: "a probe is answered while all places are taken",
      "rate by address": "a probe is not refused for coming often"
    },
    wrap: ({ probeAt }) =>
      using(
        probeAt,
        (probeAt) =>
          loading(() => import("../monitoring/health.ts"), ({ answeredFirst }, next) => answeredFirst(next, probeAt))
      ),
    atOnce: ({ probeAt }) =>
      using(
        probeAt,
        (probeAt) => (inner) => (request) =>
          probeAt(request.message.url ?? "") === undefined ? inner(request) : undefined
      )
  },
  {
    name: "compression",
    does: "Compresses the response, for a client that accepts it.",
    when: "`compression.enabled`",
    before: { "access log": "the time in the log is that of the answer, without its compression" },
    wrap: ({ minSize }) =>
      using(minSize, (minSize) => (inner) => (serve) =>
        Effect.gen(function*() {
          const { compressed } = yield* Effect.promise(() => import("../server/compression.ts"))
          const platform = yield* Layer.build(NodeHttpPlatform.layer)
          yield* inner((next) => serve(Effect.provideContext(compressed(next, minSize), platform)))
        }))
  },
  {
    name: "trace",
    does: "Names the span of the request by its route, and keeps the trace of a failure.",
    when: "`telemetry.endpoint`, with `traces` among `telemetry.signals`",
    before: { concurrency: "what is refused has a trace, too" },
    wrap: ({ isTraced }) =>
      isTraced ? loading(() => import("../monitoring/telemetry.ts"), ({ traced }, next) => traced(next)) : undefined
  },
  {
    name: "access log",
    does: "Writes a line of the log: route, status, time and caller.",
    when: "the layer of the engine, which `launch` runs",
    before: { concurrency: "what is refused has a line, too", CORS: "a preflight has a line, too" },
    wrap: ({ clientAddressOf, log }) => using(log, (log) => pure((next) => accessLogged(next, log, clientAddressOf))),
    atOnce: ({ clientAddressOf, log }) =>
      using(log, (log) => (inner) => accessLoggedAtOnce(inner, log, clientAddressOf))
  },
  {
    name: "metrics",
    does: "Counts and times the response, by method, route and status.",
    when: "`metrics.enabled`, or `telemetry.endpoint` with `metrics` among `telemetry.signals`",
    before: { concurrency: "what is refused counts, too", CORS: "a preflight counts, too" },
    wrap: ({ isMeasured }) =>
      isMeasured ? (inner) => (serve) => inner((next) => Effect.flatMap(withMeasuring(next), serve)) : undefined
  },
  {
    name: "concurrency",
    does: "Handles so many requests at once, and answers 503 to the others.",
    when: "`overload.max_requests`",
    before: { "rate by address": "what is refused here takes nothing of a rate" },
    wrap: ({ overload: { maxRequests, ...options } }) =>
      using(maxRequests, (maximum) => pure((next) => bounded(next, { ...options, maximum, scope: "service" })))
  },
  {
    name: "CORS",
    does: "Answers preflights, and lets scripts of the allowed origins read the response.",
    when: "`cors.origins`",
    before: {
      "rate by address": "a preflight takes nothing of a rate, and a script can read the 429",
      "time limit": "a script can read the 503",
      routing: "no path has a route for preflights"
    },
    wrap: ({ access, cors }) => using(cors, (cors) => pure((next) => withCors(next, cors, access?.schemes ?? [])))
  },
  {
    name: "rate by address",
    does: "Answers 429 to an address that asks too often, and adds the headers `RateLimit`.",
    when: "`enableRateLimits`, or a key of `rate_limits`",
    before: { "time limit": "it is before all that takes time", routing: "requests for unknown paths count, too" },
    wrap: ({ limiter }) => using(limiter, ({ limitAddress }) => pure((next) => limitAddress(next)))
  },
  {
    name: "time limit",
    does: "Interrupts what takes too long, and answers 503.",
    when: "`server.response_timeout`",
    before: { routing: "all that follows has this time together" },
    wrap: ({ errorResponses, responseTimeout }) =>
      using(responseTimeout, (time) => pure((next) => withResponseTimeout(next, time, errorResponses))),
    atOnce: () => unchanged
  },
  {
    name: "routing",
    does:
      "Answers 400 to a URL that can't be read or has too many parameters, 404, 405 and `OPTIONS`, and 500 for a header that can't be sent.",
    when: "always",
    before: { "layers of use": "their failures become responses" },
    wrap: (service) => pure((next) => routed(next, service)),
    // The route is found before.
    atOnce: ({ limits: { maxFields } }) => (inner) => (request) => {
      const { url = "" } = request.message
      const query = url.indexOf("?")
      return query >= 0 && hasMoreFields(url, maxFields, query + 1) ? undefined : inner(request)
    }
  },
  {
    name: "layers of use",
    does: "Runs the global middleware of an application's own layers, which may have routes of their own.",
    when: "`use`",
    wrap: ({ additions, openRouter }) => {
      const given = Layer.succeed(HttpRouter.HttpRouter, openRouter)
      // The router answers by what it has when it is asked to.
      return additions.length === 0 ? undefined : (inner) => (serve) =>
        Effect.andThen(
          Effect.forEach(additions, (addition) => Layer.build(Layer.provide(addition, given))),
          inner(serve)
        )
    }
  }
]

/** A route with what it is served with. */
interface Served {
  readonly route: ServedRoute
  readonly service: RouteSurroundings
}

export const routeStages: ReadonlyArray<Stage<Served, Answer, AtOnce>> = [
  {
    name: "concurrency",
    does: "Handles so many requests of the route at once, and answers 503 to the others.",
    when: "`overload.max_requests_per_route`",
    before: { authentication: "the check of credentials takes time, too" },
    wrap: ({ route: { delegates }, service: { overload } }) =>
      overload && delegates !== true
        ? using(overload.maxRequestsPerRoute, (maximum) => (next) =>
          bounded(next, { ...overload, maximum, scope: "route" }))
        : undefined
  },
  {
    name: "headers",
    does: "Adds `Deprecation` and `Sunset`, and to a challenge of an MCP server where its issuers are.",
    when: "`deprecated` or `sunset` of the registration, or `enableMcp`",
    before: { "time limit": "every answer has them", authentication: "every answer has them" },
    wrap: ({ route: { headers } }) =>
      using(headers, (headers) => (next) =>
        typeof headers !== "function"
          ? Effect.map(next, HttpServerResponse.setHeaders(headers))
          : Effect.flatMap(
            HttpServerRequest.HttpServerRequest,
            (request) =>
              Effect.map(next, (response) => HttpServerResponse.setHeaders(response, headers(request, response)))
          ))
  },
  {
    name: "caching",
    does: "Adds `Cache-Control` and the entity tag of a page, and answers 304 to a client that has it.",
    when: "`cacheControl` or `pageTags` of the registration, for `GET`",
    before: { authentication: "what authentication marks as the caller's stays private" },
    wrap: ({ route: { caching, method } }) =>
      method === "GET" ? using(caching, (caching) => (next) => cached(next, caching)) : undefined
  },
  {
    name: "time limit",
    does: "Interrupts what takes too long, and answers 503.",
    when: "`timeout` of the registration",
    before: { authentication: "the check of credentials is part of this time" },
    wrap: ({ route: { timeout }, service: { errorResponses } }) =>
      using(timeout, (timeout) => (next) => withResponseTimeout(next, timeout, errorResponses)),
    atOnce: () => unchanged
  },
  {
    name: "audit",
    does: "Records what callers do, and what they are denied.",
    when: "`audit.to`, with `enableSecurity`",
    before: { authentication: "wrong credentials are denied, too", "error responses": "it records the status" },
    wrap: ({ route: { auditLog, endpoint, isWatch, method, path }, service: { audit } }) => {
      const own = isWatch === true
        ? { registration: path, name: method, isOperation: false, resource: undefined }
        : endpoint
      return audit && own && ((next) => audit.audited(next, { ...own, auditLog }))
    }
  },
  {
    name: "authentication",
    does: "Finds out by the credentials who calls, and answers 401 to wrong ones.",
    when: "`enableSecurity`",
    before: { "rate by caller": "it counts the requests of a caller", permission: "it is the caller who may" },
    wrap: ({ service: { access } }) => using(access, ({ authenticated }) => (next) => authenticated(next))
  },
  {
    name: "rate by caller",
    does: "Answers 429 to a caller that asks too often, and adds the headers `RateLimit`.",
    when: "`enableRateLimits`, or a key of `rate_limits`",
    before: { permission: "what a caller is denied counts, too" },
    wrap: ({ route, service: { limiter } }) => using(limiter, ({ limitCaller }) => (next) => limitCaller(route)(next))
  },
  {
    name: "error responses",
    does: "Turns every failure and defect of what follows into a response.",
    when: "always",
    before: { permission: "it fails for a caller who may not", accept: "it fails for a type that is not there" },
    wrap: ({ route: { respondBadRequest }, service: { errorResponses } }) => (next) =>
      withErrorResponses(next, respondBadRequest, errorResponses),
    // What fails has a fiber.
    atOnce: () => unchanged
  },
  {
    name: "permission",
    does: "Decides what the caller may do: 403 for one who may nothing here, or 401 without credentials.",
    when: "`enableSecurity`, except for what is for everybody",
    before: {
      "decision again": "it decides first",
      "idempotency key": "an answer is given again to a caller who still may",
      accept: "a caller who may not learns nothing of the route",
      "parameters of the body": "nobody else has a body parsed"
    },
    wrap: ({ route: { endpoint }, service: { access } }) =>
      access && endpoint && ((next) => access.permitted(next, endpoint))
  },
  {
    name: "decision again",
    does: "Lets a stream ask, while it is sent, whether its caller still may.",
    when: "`enableSecurity`, for streams of changes",
    wrap: ({ route, service: { access, errorResponses, limits } }) =>
      access && route.endpoint && route.isStream === true
        ? (next) =>
          access.decidingAgain(next, (handler) => {
            const { endpoint, method, path, respondBadRequest } = route
            const again = { method, path, respondBadRequest, handler, endpoint }
            return respondingOf(again, { access, errorResponses, limits })
          })
        : undefined
  },
  {
    name: "store options",
    does: "Has the handler read and write by the options of the registration.",
    when: "`storeOptions` of the registration",
    wrap: ({ route: { withStoreOptions } }) => using(withStoreOptions, (withOptions) => (next) => withOptions(next))
  },
  {
    name: "accept",
    does: "Answers 406 to a client that accepts no type of the response.",
    when: "the endpoints of registrations",
    before: { "parameters of the body": "no body is parsed for nothing" },
    wrap: ({ route: { accepted } }) => using(accepted, (accepted) => (next) => withAccepted(next, accepted)),
    atOnce: ({ route: { accepted } }) =>
      using(
        accepted,
        ({ includes }) => (inner) => (request) => includes(request.message.headers.accept) ? inner(request) : undefined
      )
  },
  {
    name: "parameters of the body",
    does: "Reads the parameters of a `QUERY`, or of a `POST` that asks the same.",
    when: "the endpoints of registrations, for `GET`",
    wrap: ({ route: { asked }, service: { limits } }) => using(asked, () => (next) => askedByBody(next, limits)),
    atOnce: () => unchanged
  },
  {
    name: "transaction number",
    does: "Adds `Stream-Txid`, by which a client finds its write among the changes.",
    when: "writes, if changes of a model are recorded",
    before: { "idempotency key": "the transaction has its number once it is committed" },
    wrap: ({ route: { tellsTransaction }, service: { causes } }) =>
      tellsTransaction === true ? (next) => withTransaction(next, causes) : undefined
  },
  {
    name: "idempotency key",
    does: "Runs a write and keeps its answer in one transaction, and answers a repeated request with what is kept.",
    when: "`idempotencyKeys` of the registration, or `idempotency.keys`; for writes",
    wrap: ({ route, service: { idempotency } }) => {
      const { idempotencyKeys, method } = route
      return idempotency && idempotencyKeys && method !== "GET"
        ? (next) => idempotency.answeredOnce(next, { ...route, idempotencyKeys })
        : undefined
    }
  }
]

/** How a route responds: its handler, in the stages that are on. */
export const respondingOf = (route: ServedRoute, service: RouteSurroundings): Responding =>
  // The error responses are always on, and requests inherit the context of the server's fiber, which has the store.
  // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
  folded<Served, Answer>(routeStages, { route, service }, route.handler) as Responding

/** How a route responds to plain requests; `undefined` if its handler, or a stage that is on, needs a fiber. */
export const respondingAtOnceOf = (route: ServedRoute, service: ServiceSurroundings): AtOnce | undefined => {
  const handler = atOnceOf(route.handler)
  const responding = handler && foldedAtOnce(routeStages, { route, service }, handler)
  return responding && foldedAtOnce(serviceStages, service, responding)
}

/** Starts a service: its router, in the stages that are on. */
export const servingOf = (service: ServiceSurroundings): Serving =>
  folded<ServiceSurroundings, Serving>(serviceStages, service, (serve) =>
    // It fails if no route matches, and with the errors of the routes of layers, whose types are unknown.
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off unsafeEffectTypeAssertion:off
    Effect.suspend(() => serve(service.router.asHttpEffect() as Answer)))

// internal

/** The wrapper that a value makes, if there is one. */
const using = <A, Wrap>(value: A | undefined, wrap: (value: A) => Wrap): Wrap | undefined =>
  value === undefined ? undefined : wrap(value)

/** A wrapper that loads nothing. */
const pure = (wrap: (next: Answer) => Answer) => (inner: Serving): Serving => (serve) =>
  inner((next) => serve(wrap(next)))

/** A wrapper that loads a module for it. */
const loading =
  <A>(load: () => Promise<A>, wrap: (loaded: A, next: Answer) => Answer) => (inner: Serving): Serving => (serve) =>
    Effect.flatMap(Effect.promise(load), (loaded) => inner((next) => serve(wrap(loaded, next))))
