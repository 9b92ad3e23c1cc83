/**
 * The stage that finds the route: it answers 404 and 405, and what a route of any kind fails with. Responses that Node could not
 * write are 500, and what cuts a body is logged.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import { textOfKey } from "../../internal/texts.ts"
import { shapeOf } from "../description/pathShape.ts"
import { type BadRequest, errorOf, failures, isHttpError } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { hasMoreFields } from "../request/fieldCount.ts"
import { unreadableOf } from "../request/rawBody.ts"
import { requestIdOf } from "../request/requestId.ts"
import { withoutSecrets } from "../request/requestPath.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { prepareWire } from "../response/json.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translatedResponses.ts"
import { isServiceError } from "../ServiceError.ts"
import { allowedOf, type Route } from "./route.ts"

import { defectResponse, withErrorResponses } from "./errorBoundary.ts"
export const routerConfig: Partial<FindMyWay.RouterConfig> = {
  caseSensitive: true,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  // Longer parameters exceed Node's limit for a request head.
  maxParamLength: 16_384
}

/**
 * Answers what a router leaves open: 404 if no route matches, and 405 if the path has routes for other
 * methods only. It answers `OPTIONS` with `Allow`, and with `Accept-Patch` as 405 and 415 do (RFC 5789, section 3.1). `paths` are never 404, even without a method.
 */
export const routed = <E, R>(
  router: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { errorResponses, limits, paths, respondBadRequest, routes }: {
    readonly routes: ReadonlyArray<Route>
    readonly paths: ReadonlyArray<`/${string}`>
    readonly limits: Limits
    /** Words the problems of fields for routes of `HttpRouter`. */
    readonly respondBadRequest: BadRequestResponder
    readonly errorResponses: ErrorResponses
  }
) => {
  const allowed = allowedByPath(routes, paths)
  const handled = Effect.catchCause(
    router,
    (cause): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> => {
      const failure = Cause.findErrorOption(cause)
      const error: unknown = failure._tag === "Some" ? failure.value : undefined
      const unreadable = unreadableOf(error, limits.maxBodySize)
      return HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
        ? unrouted(allowed, errorResponses)
        : unreadable !== undefined
        ? errorResponses.failure(unreadable)
        : isOfEngine(error)
        ? withErrorResponses(Effect.fail(error), respondBadRequest, errorResponses)
        : HttpServerRespondable.isRespondable(error)
        ? Effect.catchCause(HttpServerRespondable.toResponse(error), (cause) => defectResponse(cause, errorResponses))
        : Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : defectResponse(cause, errorResponses)
    }
  )
  return Effect.withFiber<HttpServerResponse.HttpServerResponse, never, Effect.Services<typeof handled>>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const query = request.url.indexOf("?")
    if (query >= 0 && hasMoreFields(request.url, limits.maxFields, query + 1)) {
      return errorResponses.failure(errorOf("BadRequest", "errors.TooManyParameters", { limit: limits.maxFields }))
    }
    if (mayBeBadlyEncoded.test(request.url) && Option.isNone(decoded(request.url))) {
      return errorResponses.failure(badlyEncoded(request.url))
    }
    // RFC 3986, section 3.3: a semicolon is part of its segment. The router would begin the query at it.
    const answered = request.url.includes(";")
      ? Effect.provideService(
        handled,
        HttpServerRequest.HttpServerRequest,
        request.modify({ url: escaped(request.url) })
      )
      : handled
    return Effect.flatMap(answered, (response) => {
      prepareWire(response, request)
      const header = unsendableIn(response.headers)
      return header === undefined
        ? Effect.succeed(
          response.status === 415 && request.method === "PATCH"
            ? HttpServerResponse.setHeaders(response, allowed.byPath.find("GET", request.url)?.handler.accepting ?? {})
            : response.body._tag === "Stream"
            ? withLoggedBody(response, response.body, request)
            : response
        )
        : defectResponse(
          Cause.die(new Error(`The header ${header} of the response has characters that no header can have`)),
          errorResponses
        )
    })
  })
}

/** Logs what cuts a body: its status is sent by then. */
const withLoggedBody = (
  response: HttpServerResponse.HttpServerResponse,
  { contentLength, stream }: HttpBody.Stream,
  request: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse => {
  const logged = Stream.tapCause(stream, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.annotateLogs(
        Effect.logError(`The response to ${request.method} ${withoutSecrets(request.url)} broke off`, cause),
        "request_id",
        requestIdOf(request)
      ))
  const { "content-length": length, "content-type": type } = response.headers
  // What a route has set, or left out, stays.
  const kept = length === undefined ? undefined : contentLength ?? Number(length)
  const body = HttpBody.stream(withPiecesOf(stream, logged), type, kept)
  return HttpServerResponse.setBody(response, body)
}

/** The first header that Node would refuse to write: it would send an empty response in the place of this one. */
const unsendableIn = (headers: HttpServerResponse.HttpServerResponse["headers"]): string | undefined => {
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? ""
    // Most responses have no others.
    if (name === "content-type" && value === "application/json") continue
    if (unsendable.test(value) || name !== "content-length" && !fieldName.test(name)) return JSON.stringify(name)
  }
  return undefined
}

/** RFC 9110, sections 5.1 and 5.5. */
const fieldName = /^[\w!#$%&'*+.^`|~-]+$/u
const unsendable = /[^\t\x20-\x7e\x80-\xff]/u

/** Whether a route of `HttpRouter` failed with an error of the engine or of a service. */
const isOfEngine = (error: unknown): error is HandlerFailure =>
  isServiceError(error) || (hasTag(error) && (isHttpError(error) || Object.hasOwn(failures, error._tag)))

const hasTag = (error: unknown): error is { readonly _tag: string } =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"

/** RFC 3986, section 2.5: percent-encoded octets are UTF-8. */
const decoded = Option.liftThrowable(decodeURIComponent)

/** Encoded ASCII needs no look at how it goes on. */
const mayBeBadlyEncoded = /%(?![0-7][\da-fA-F])/u

const badlyEncoded = (url: string): BadRequest => {
  const [path = "", query = ""] = url.split("?", 2)
  if (Option.isNone(decoded(path))) return errorOf("BadRequest", "errors.BadlyEncodedPath")
  const parameter = query.split("&").find((pair) => Option.isNone(decoded(pair)))
  const name = Option.getOrUndefined(decoded(parameter?.split("=", 1)[0] ?? ""))
  return name === undefined
    ? errorOf("BadRequest", "errors.BadlyEncodedName")
    : errorOf("BadRequest", "errors.BadlyEncodedValue", { name })
}

const escaped = (url: string): string => {
  const end = url.indexOf("?")
  const path = end === -1 ? url : url.slice(0, end)
  return path.replaceAll(";", "%3B") + url.slice(path.length)
}

/** What can be done at a path. */
interface Allowed {
  readonly methods: ReadonlyArray<string>
  /** What `OPTIONS` tells beside them. */
  readonly told: { readonly [header: string]: string }
  /** The content types of the bodies that methods take. */
  readonly accepting: { readonly [header: string]: string }
}

const allowedByPath = (
  routes: ReadonlyArray<Route>,
  always: ReadonlyArray<`/${string}`>
): {
  readonly byPath: FindMyWay.Router<Allowed>
  /** The methods of some path: what the server knows (RFC 9110, section 9.3.7). */
  readonly any: Allowed
} => {
  const byPath = new Map<`/${string}`, Array<Asked>>(always.map((path) => [shapeOf(path), []]))
  for (const route of routes.flatMap(({ asked = [], ...route }): ReadonlyArray<Asked> => [route, ...asked])) {
    const path = shapeOf(route.path)
    byPath.set(path, [...byPath.get(path) ?? [], route])
  }
  const paths = FindMyWay.make<Allowed>(routerConfig)
  for (const [path, own] of byPath) paths.on("GET", path, allowedIn(own))
  return { byPath: paths, any: { ...allowedIn([...byPath.values()].flat()), accepting: {}, told: {} } }
}

type Asked = Pick<Route, "path" | "patchTypes" | "told"> & { readonly method: string }

const allowedIn = (routes: ReadonlyArray<Asked>): Allowed => {
  const types = routes.flatMap(({ patchTypes = [] }) => patchTypes)
  const methods = allowedOf(routes.map(({ method }) => method))
  return {
    methods,
    told: Object.assign({}, ...routes.map(({ told }) => told)),
    accepting: {
      ...types.length === 0 ? {} : { "accept-patch": types.join(", ") },
      // RFC 10008, section 3.
      ...methods.includes("QUERY") ? { "accept-query": "application/json, application/x-www-form-urlencoded" } : {}
    }
  }
}

const unrouted = (allowed: ReturnType<typeof allowedByPath>, errorResponses: ErrorResponses) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse>((fiber) => {
    const { method, url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const [path = "/"] = url.split("?", 1)
    const found = url === "*" && method === "OPTIONS" ? allowed.any : allowed.byPath.find("GET", url)?.handler
    if (found === undefined) return errorResponses.sentence("NotFound", textOfKey("errors.Route", { path }))
    const { accepting, methods, told } = found
    return method === "OPTIONS"
      ? Effect.succeed(
        HttpServerResponse.empty({ status: 204, headers: { allow: methods.join(", "), ...accepting, ...told } })
      )
      : Effect.map(errorResponses.notAllowed(method, path, methods), HttpServerResponse.setHeaders(accepting))
  })
