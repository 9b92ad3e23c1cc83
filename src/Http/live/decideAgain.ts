/**
 * How a request with an open stream is decided again; `watchRights` says when.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { withNewDeadline } from "../../internal/deadline.ts"
import type { AccessDecision } from "../../Repository/internal.ts"
import { Lifetimes } from "../../Security/SignIns.ts"
import type { LiveStreams } from "./liveStreams.ts"

/** The decision on a request, or the answer that the request would get. */
export type Decided =
  | { readonly decision: AccessDecision }
  | { readonly response: HttpServerResponse.HttpServerResponse }

/**
 * Decides again on the request that a stream answers, with its credentials. `undefined`: there is no access control.
 */
export const DecideAgain = Context.Reference<
  Effect.Effect<Decided, never, HttpServerRequest.HttpServerRequest> | undefined
>("appkernel/Http/live/DecideAgain", { defaultValue: () => undefined })

/** The decision on the request at a later time, by facts of then. The context of its fiber is another one then. */
export const decideLater = (
  { context }: Fiber.Fiber<unknown, unknown>,
  { decisionInterval }: LiveStreams
): Effect.Effect<Decided> | undefined => {
  const again = Context.get(context, DecideAgain)
  if (again === undefined) return undefined
  const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  const lifetimes = { ...Context.get(context, Lifetimes), revocationDelay: decisionInterval }
  // What rules have decided on a request is known by its object, so each decision has another one.
  return Effect.suspend(() =>
    Effect.provideContext(
      // The request had to be answered by its own.
      withNewDeadline(again, Duration.toMillis(decisionInterval)),
      context.pipe(
        Context.add(HttpServerRequest.HttpServerRequest, request.modify({})),
        Context.add(Lifetimes, lifetimes)
      )
    )
  )
}
