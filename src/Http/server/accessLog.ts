/**
 * The access log: one entry for each response, with route, status, duration and caller.
 *
 * @since 0.1.0
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { AtOnce } from "../request/atOnce.ts"
import { lastRequestIdOf } from "../request/requestId.ts"
import type { ClientAddressOf } from "./forwardedAddress.ts"

/**
 * An entry of the access log.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessEntry {
  /** The time of the response, in milliseconds since 1970. */
  readonly time: number
  readonly requestId: string
  readonly method: string
  /** The address of the client; `undefined` if the client disconnected first. */
  readonly address: string | undefined
  /** The pattern of the route; `undefined` if no route matched. */
  readonly route: string | undefined
  /** The status of the response; 499 if the client disconnected first. */
  readonly status: number
  /** The milliseconds until the response was ready. */
  readonly duration: number
  /** The subject of the caller; `undefined` if the caller is not known. */
  readonly subject: string | undefined
}

/**
 * The destination of access log entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessLog {
  /** Returns immediately and never fails. */
  readonly write: (entry: AccessEntry) => void
}

/** nginx's code for a client that disconnects before the response. It is never sent. @internal */
export const callerGone = 499

/**
 * Logs every response of a handler. The router leaves the matched route in the fiber's context, and
 * authentication the caller.
 *
 * @internal
 */
export const accessLogged = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  log: AccessLog,
  clientAddressOf: ClientAddressOf
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const address = clientAddressOf(NodeHttpServerRequest.toIncomingMessage(request))
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.monotonicTimeNanosUnsafe()
    return Effect.onExitPrimitive(handler, (exit) => {
      log.write({
        time: clock.currentTimeMillisUnsafe(),
        requestId: lastRequestIdOf(request),
        method: request.method,
        address,
        route: Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path,
        status: Exit.isSuccess(exit) ? exit.value.status : callerGone,
        duration: Number(clock.monotonicTimeNanosUnsafe() - start) / 1_000_000,
        subject: currentUserIdOf(fiber)
      })
      return undefined
    })
  })

/**
 * {@link accessLogged} for what is answered without a fiber, whose callers are not known.
 *
 * @internal
 */
export const accessLoggedAtOnce =
  (inner: AtOnce, log: AccessLog, clientAddressOf: ClientAddressOf): AtOnce => (request) => {
    const { clock, message, route } = request
    const start = clock.monotonicTimeNanosUnsafe()
    const response = inner(request)
    if (response === undefined) return undefined
    log.write({
      time: clock.currentTimeMillisUnsafe(),
      requestId: lastRequestIdOf({ headers: message.headers, source: message }),
      method: "GET",
      address: clientAddressOf(message),
      route,
      status: response.status,
      duration: Number(clock.monotonicTimeNanosUnsafe() - start) / 1_000_000,
      subject: undefined
    })
    return response
  }
