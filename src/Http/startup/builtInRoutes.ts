/** The routes that a service has beside those of its registrations: documentation, monitoring, and public keys. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Keys } from "../../Security/Keys.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { keysPath } from "../description/pathShape.ts"
import { openApiPath } from "../openapi/documentationPaths.ts"
import { noRules, requirement, withRule } from "../resource/rules.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { withoutParameters } from "../routes/route.ts"
import * as Documentation from "./documentation.ts"
import { enabled, monitored } from "./monitored.ts"
import { type MonitoringPage, servedDocument } from "./servedDocument.ts"
import type { Composing, ServedRoute } from "./surroundings.ts"

/** These routes, and the probes, which are answered before everything else. */
export const builtInRoutes = Effect.fnUntraced(function*(made: Composing) {
  const { migrations, respondBadRequest } = made
  const { pages, probeAt } = yield* monitored(yield* enabled, migrations)
  const keys = yield* Effect.serviceOption(Keys)
  const monitoring = pages.map(({ handler, path, require }): ServedRoute => ({
    method: "GET",
    path,
    handler,
    respondBadRequest,
    endpoint: pageEndpoint("monitoring", "GET", path, require)
  }))
  const documentation = yield* documentationRoutes({ ...made, monitoring })
  const routes: ReadonlyArray<ServedRoute> = [
    ...documentation.map((route) => ({ ...route, respondBadRequest })),
    ...monitoring,
    ...keys._tag === "Some" ? [keysRoute(keys.value, respondBadRequest)] : []
  ]
  return { monitoring, probeAt, routes }
})

/** What grants name a path by that not everybody gets. */
export const pageEndpoint = (
  registration: string,
  name: string,
  path: `/${string}`,
  required: Documentation.Options["require"]
): ServedRoute["endpoint"] =>
  required && {
    registration,
    rules: withRule(noRules, requirement(required, undefined)),
    name,
    isOperation: true,
    path,
    resource: undefined
  }

// internal

/** The public keys as a JSON web key set (RFC 7517). */
const keysRoute = (keys: Keys["Service"], respondBadRequest: BadRequestResponder): ServedRoute => {
  // Read for each request: another pair of keys may replace the first.
  const response = Effect.sync(() =>
    HttpServerResponse.text(JSON.stringify(keys.jwks), {
      contentType: "application/jwk-set+json",
      headers: { "cache-control": "public, max-age=300" }
    })
  )
  return {
    method: "GET",
    path: keysPath,
    handler: withoutParameters(response, respondBadRequest),
    respondBadRequest
  }
}

/** The OpenAPI document, and the pages that show it. */
const documentationRoutes = Effect.fnUntraced(function*(
  { access, all, monitoring, openApi, security, ...made }: Composing & {
    readonly monitoring: ReadonlyArray<MonitoringPage>
  }
) {
  if (openApi === undefined) return []
  const documentOf = servedDocument({ ...made, openApi, schemes: access?.schemes ?? [] })
  const document = yield* Effect.cached(Effect.sync(() => documentOf(AccessPolicy.make(all, access !== undefined))))
  const own = access === undefined || openApi.perCaller !== true
    ? undefined
    : yield* (yield* Effect.promise(() => import("./access.ts"))).callerDocument({
      registrations: all,
      monitoring,
      roles: security?.roles,
      documentOf: (policy) => documentOf(policy, { omitsUnreachable: true }),
      unauthenticated: access.credentialsNeeded
    })
  return (yield* Documentation.routes(document, openApi)).map((route) => ({
    ...route,
    handler: route.path === openApiPath ? own ?? route.handler : route.handler,
    endpoint: pageEndpoint("documentation", "GET", route.path, openApi.require)
  }))
})
