import type * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { ErrorResponses } from "../response/translation.ts"
import type { Authenticator } from "./authentication.ts"
import type { Authorizer, RuledEndpoint } from "./authorization.ts"
import { withErrorResponses } from "./errorBoundary.ts"
import type { Route } from "./route.ts"

type Responding = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest
>

type Needs = DocumentStore | HttpServerRequest.HttpServerRequest

/**
 * The checks before a route of a service with access control: who calls, and whether they may. A route without an endpoint is
 * for everybody.
 *
 * @internal
 */
export interface Access {
  readonly secured: (
    route: Route,
    endpoint: RuledEndpoint | undefined,
    /** Runs once it is known who calls. */
    around: (response: Responding) => Responding
  ) => Responding
  /** A router whose routes are for everybody. Their handlers know who calls, and their repositories have the caller's rights. */
  readonly open: (router: HttpRouter.HttpRouter) => HttpRouter.HttpRouter
  /** The 401 for a request that has no credentials and needs some. */
  readonly credentialsNeeded: Authenticator["credentialsNeeded"]
}

/** @internal */
export const makeAccess = ({ authenticator, authorizer, errorResponses }: {
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly errorResponses: ErrorResponses
}): Access => {
  const { authenticated, credentialsNeeded } = authenticator
  const respond = ({ handler, respondBadRequest }: Pick<Route, "handler" | "respondBadRequest">) =>
    withErrorResponses(handler, respondBadRequest, errorResponses)
  return {
    secured: (route, endpoint, around) => {
      if (endpoint === undefined) {
        return withStore(authenticated(around(respond(route))))
      }
      const handler = authorizer.authorized(endpoint, route.handler, credentialsNeeded)
      return withStore(authenticated(around(respond({ ...route, handler }))))
    },
    credentialsNeeded,
    open: (router) => openRouter(router, authenticated, authorizer.unruled)
  }
}

const withStore = (response: Effect.Effect<HttpServerResponse.HttpServerResponse, never, Needs>): Responding =>
  // The server's fiber, whose context requests get, has the store.
  // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
  response as Responding

/** The router of an application's own layers, whose routes are not described. */
const openRouter = (
  router: HttpRouter.HttpRouter,
  authenticated: Authenticator["authenticated"],
  unruled: Authorizer["unruled"]
): HttpRouter.HttpRouter => {
  const addAll: HttpRouter.HttpRouter["addAll"] = (routes) =>
    router.addAll(
      // The errors and services of an application's own routes are not known.
      // @effect-diagnostics-next-line anyUnknownInErrorContext:off
      routes.map((route) => ({ ...route, handler: authenticated(unruled(route.handler as never)) })) as never
    )
  return {
    ...router,
    addAll,
    // Effect's router adds a single route by its own `addAll`.
    add: (method, path, handler, options) => addAll([HttpRouter.route(method, path, handler, options)]),
    prefixed: (prefix) => openRouter(router.prefixed(prefix), authenticated, unruled)
  }
}
