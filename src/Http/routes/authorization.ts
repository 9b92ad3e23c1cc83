/**
 * The stages of a route in a service with access control: who calls, a 401, and whether they may, a 403. A document outside of the
 * caller's rows is a 404, since the repository does not find it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { type AccessControl, type GuardedEndpoint, withAllData } from "../../Access/AccessControl.ts"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import { AccessDecision } from "../../Repository/internal.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { errorOf } from "../HttpError.ts"
import { DecideAgain } from "../live/decideAgain.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import { CurrentTrail } from "./auditLog.ts"
import type { Authenticator } from "./authentication.ts"
import type { Responding } from "./route.ts"

type Answered<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, R>

type Needs = DocumentStore | HttpServerRequest.HttpServerRequest

export interface Authorization extends Authenticator, Pick<AccessControl, "withIncluded"> {
  /** Decides before the handler of an endpoint: 403 for who may not, or 401 without credentials. */
  readonly permitted: <R>(handler: Answered<R>, endpoint: GuardedEndpoint) => Answered<R>
  /** Lets a stream decide on its request again. `checked` runs a handler after all checks. */
  readonly decidingAgain: <R>(
    handler: Answered<R>,
    checked: (probe: ResponseEffect) => Responding
  ) => Answered<R>
  /** Whether the caller of the request may use an endpoint, which leaves nothing in a log. */
  readonly isAllowed: (
    endpoint: GuardedEndpoint | undefined
  ) => Effect.Effect<boolean, HandlerFailure>
  /** Decides within a request for another endpoint whether its caller may use this one, and on which documents. */
  readonly deciding: (endpoint: GuardedEndpoint) => {
    readonly dependsOnDocument: boolean
    readonly decide: (id: string | undefined) => Effect.Effect<AccessDecision | undefined, HandlerFailure>
  }
  /** A router whose routes are for everybody. Handlers know the caller, and repositories apply the caller's row filters. */
  readonly open: (router: HttpRouter.HttpRouter) => HttpRouter.HttpRouter
  /** The decision on what nobody asks an endpoint for: repositories apply the row filters of the user. */
  readonly openTo: AccessControl["open"]
}

export const makeAuthorization = (access: AccessControl, authenticator: Authenticator): Authorization => {
  const { authenticated, credentialsNeeded } = authenticator
  return {
    ...authenticator,
    permitted: (handler, endpoint) => authorized(access, endpoint, handler, credentialsNeeded),
    decidingAgain: (handler, checked) => Effect.provideService(handler, DecideAgain, decidingAgain(checked)),
    isAllowed: (endpoint) =>
      endpoint === undefined
        ? Effect.succeed(true)
        : Effect.map(decidingAt(access, endpoint).decide(undefined), (decided) => decided !== undefined),
    deciding: (endpoint) => decidingAt(access, endpoint),
    openTo: access.open,
    withIncluded: access.withIncluded,
    open: (router) => openRouter(router, (handler) => authenticated(deciding(access, handler)))
  }
}

// internal

const decidingAt = (access: AccessControl, endpoint: GuardedEndpoint): ReturnType<Authorization["deciding"]> => {
  const { decide, dependsOnDocument } = access.at(endpoint)
  return {
    dependsOnDocument,
    decide: (id) =>
      Effect.withFiber(({ context }) => {
        const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
        return withAllData(decide(Context.getOrUndefined(context, CurrentUser), request, id))
      })
  }
}

/** Decides before the handler: 403 for who may not, or `unauthenticated` without credentials. */
const authorized = <R>(
  access: AccessControl,
  endpoint: GuardedEndpoint,
  handler: Answered<R>,
  unauthenticated: ResponseEffect
): Answered<R> => {
  const { decide, needs, origin } = access.at(endpoint)
  // Only the log names the missing permissions.
  const forbidden = Effect.andThen(
    Effect.annotateLogs(Effect.logInfo("The caller may not do this"), { ...origin, needs }),
    Effect.suspend(() => Effect.fail(errorOf("Forbidden", "errors.Denied")))
  )
  return Effect.withFiber<HttpServerResponse.HttpServerResponse, HandlerFailure, R>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    const user = Context.getOrUndefined(fiber.context, CurrentUser)
    const decision = decide(user, request, params["id"])
    const trail = fiber.getRef(CurrentTrail)
    const enter = (decision: AccessDecision | undefined): Answered<R> => {
      if (decision === undefined) return user === undefined ? unauthenticated : forbidden
      if (trail === undefined) return withDecision(handler, decision)
      trail.decision = decision
      return withDecision(handler, { ...decision, trail })
    }
    return Effect.flatMapEager(Exit.isExit(decision) ? decision : withAllData(decision), enter)
  })
}

/** Decides on a request again. `checked` runs a handler after all checks. */
const decidingAgain = (checked: (probe: ResponseEffect) => Responding) =>
  Effect.suspend(() => {
    let decision: AccessDecision | undefined
    const probe = Effect.map(AccessDecision, (decided) => {
      decision = decided
      return HttpServerResponse.empty()
    })
    return Effect.map(checked(probe), (response) => decision === undefined ? { response } : { decision })
  })

/** Runs the handler of a route that no grant names: for everybody, with the row filters of the caller. */
const deciding = <E, R>(access: AccessControl, handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) =>
    withDecision(
      handler,
      access.open(
        Context.getOrUndefined(fiber.context, CurrentUser),
        Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      )
    )
  )

/** Provides the decision to the handler, and to a streamed body, which the server reads after the handler has ended. */
const withDecision = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  decision: AccessDecision
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.map(Effect.provideService(handler, AccessDecision, decision), (response) => {
    const { body } = response
    if (body._tag !== "Stream") return response
    const { trail } = decision
    const audited = trail === undefined ? body.stream : Stream.ensuring(body.stream, trail.flush)
    const stream = Stream.provideService(audited, AccessDecision, decision)
    const sent = withPiecesOf(body.stream, stream)
    return HttpServerResponse.setBody(response, HttpBody.stream(sent, body.contentType, body.contentLength))
  })

/** The router for the routes of an application's own layers, which no endpoint describes. */
const openRouter = (
  router: HttpRouter.HttpRouter,
  around: (handler: Responding) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Needs>
): HttpRouter.HttpRouter => {
  const addAll: HttpRouter.HttpRouter["addAll"] = (routes) =>
    router.addAll(
      // The types of the router leave the errors and services of added routes open.
      // @effect-diagnostics-next-line anyUnknownInErrorContext:off
      routes.map((route) => ({ ...route, handler: around(route.handler as never) })) as never
    )
  return {
    ...router,
    addAll,
    // Effect's router adds a single route by its own `addAll`.
    add: (method, path, handler, options) => addAll([HttpRouter.route(method, path, handler, options)]),
    prefixed: (prefix) => openRouter(router.prefixed(prefix), around)
  }
}
