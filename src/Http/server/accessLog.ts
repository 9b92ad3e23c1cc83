import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { lastRequestIdOf } from "../request/requestId.ts"

/**
 * A request that has been answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessEntry {
  /** When it was answered, in milliseconds since 1970. */
  readonly time: number
  readonly requestId: string
  readonly method: string
  /** The pattern of the route; `undefined` where there is none. */
  readonly route: string | undefined
  /** 499 where the caller has gone before the answer. */
  readonly status: number
  /** Milliseconds until the answer was ready. */
  readonly duration: number
}

/**
 * Where requests are logged.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessLog {
  /** Returns at once, and never fails. */
  readonly write: (entry: AccessEntry) => void
}

/** What nginx writes when the caller has gone before the answer; no answer has it. */
const callerGone = 499

/**
 * The same answers, and for each a line in the log. The route is the one that the router found: it leaves it in the
 * context of the fiber.
 *
 * @internal
 */
export const accessLogged = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  log: AccessLog
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.currentTimeNanosUnsafe()
    return Effect.onExitPrimitive(handler, (exit) => {
      log.write({
        time: clock.currentTimeMillisUnsafe(),
        requestId: lastRequestIdOf(request),
        method: request.method,
        route: Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path,
        status: Exit.isSuccess(exit) ? exit.value.status : callerGone,
        duration: Number(clock.currentTimeNanosUnsafe() - start) / 1_000_000
      })
      return undefined
    })
  })
