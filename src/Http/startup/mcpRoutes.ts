/** The routes of an MCP server. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Permission from "../../Access/Permission.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import type { Cors } from "../Cors.ts"
import { type McpAt, metadataPath, metadataPaths } from "../mcp/options.ts"
import { hasToolsPlainly } from "../mcp/tools.ts"
import { apiOf } from "../registration/group.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { type Responding, withoutParameters } from "../routes/route.ts"
import { pageEndpoint } from "./builtInRoutes.ts"
import { RegistrationInvalid } from "./registrationInvalid.ts"
import { servedDocument } from "./servedDocument.ts"
import type { Composing, ServedRoute } from "./surroundings.ts"

interface Made extends Composing {
  readonly cors: Cors | undefined
  readonly mcp: McpAt
  readonly respondingOf: (route: ServedRoute) => Responding
  readonly routes: ReadonlyArray<ServedRoute>
  /** The repositories of the service. */
  readonly services: Context.Context<never>
}

/** Makes the routes of the server, and of what clients with OAuth find its issuers by (RFC 9728). */
export const mcpRoutes = Effect.fnUntraced(function*(
  { access, all, api, cors, mcp: options, respondBadRequest, ...made }: Made
) {
  const { authorizationServers = [], expose, path, require = Permission.Authenticated } = options
  const { guards, id: name } = api
  const names = Array.isArray(expose) ? expose : Object.values(expose).flat()
  const exposed = made.registrations.filter((one) => names.some((name) => `${name}.`.startsWith(`${one.name}.`)))
  const documentOf = servedDocument({
    ...made,
    // The tools follow from the document of what is exposed.
    api: { api: apiOf(name, exposed, guards) },
    openApi: made.openApi ?? { title: name, version: "1.0.0" },
    schemes: access?.schemes ?? []
  })
  // It loads the protocol.
  const server = Effect.gen(function*() {
    const { makeMcp } = yield* Effect.promise(() => import("../mcp/mcp.ts"))
    return yield* makeMcp<ServedRoute>({
      ...made,
      document: documentOf(AccessPolicy.make(all, access !== undefined)),
      name,
      options,
      mayAskFrom: (origin, host) =>
        cors?.origins.includes(origin) === true ||
        (isLocal.test(host) && isLocal.test(origin.replace(/^https?:\/\//u, ""))),
      mayAsk: ({ endpoint }) => {
        if (access === undefined || endpoint === undefined) return Effect.succeed(true)
        const { decide, dependsOnDocument } = access.deciding(endpoint)
        return dependsOnDocument
          ? Effect.succeed(true)
          : Effect.map(Effect.orDie(decide(undefined)), (decision) => decision !== undefined)
      }
    })
  })
  // A start fails for a name that is not there, and builds the layers of the program.
  const isLater = options.registrations === undefined && hasToolsPlainly(exposed, names)
  const { end, handler } = isLater
    ? yield* asked(server)
    : yield* Effect.mapError(server, (detail) => new RegistrationInvalid({ registration: name, detail }))
  const urlOf = ({ headers: { host = "" } }: HttpServerRequest.HttpServerRequest) =>
    URL.parse(options.url ?? `${isLocal.test(host) ? "http" : "https"}://${host}${path}`)
  const scopes = Array.isArray(expose) ? [] : Object.keys(expose)
  const metadata = Effect.withFiber<HttpServerResponse.HttpServerResponse>(({ context }) => {
    const url = urlOf(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest))
    return Effect.succeed(HttpServerResponse.jsonUnsafe({
      resource: url?.href,
      resource_name: name,
      ...authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers },
      ...scopes.length === 0 ? {} : { scopes_supported: scopes },
      bearer_methods_supported: ["header"]
    }))
  })
  const challenged: ServedRoute["headers"] = (request, { headers, status }) => {
    const challenge = status === 401 ? headers["www-authenticate"] : undefined
    const url = challenge === undefined ? null : urlOf(request)
    if (challenge === undefined || url === null) return {}
    const parameters = [
      `resource_metadata="${url.origin}${metadataPath}${url.pathname}"`,
      ...scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]
    ]
    return {
      "www-authenticate": challenge.replace(/Bearer realm="[^"]*"/u, (bearer) => [bearer, ...parameters].join(", "))
    }
  }
  const own = [
    ...(["POST", "GET", "DELETE"] as const).map((method): ServedRoute => ({
      method,
      path,
      handler,
      respondBadRequest,
      headers: challenged,
      // The routes of the tools do the work, and tell what is done.
      delegates: true,
      auditLog: "off",
      endpoint: pageEndpoint("mcp", method, path, require)
    })),
    ...(access === undefined ? [] : metadataPaths(options)).map((path): ServedRoute => ({
      method: "GET",
      path,
      handler: withoutParameters(metadata, respondBadRequest),
      respondBadRequest
    }))
  ]
  return { routes: own, end }
})

// internal

interface Server {
  readonly handler: ResponseEffect
  readonly end: Effect.Effect<void>
}

/** A server that is made with the first request for it, by a fiber that has nothing of that request. */
const asked = Effect.fnUntraced(function*(make: Effect.Effect<Server, string, Scope.Scope>) {
  const first = yield* Deferred.make<void>()
  let isEnding = false
  const fiber = yield* Deferred.await(first).pipe(
    Effect.andThen(Effect.orDie(make)),
    Effect.tap(({ end }) => isEnding ? end : Effect.void),
    Effect.forkScoped
  )
  const handler: ResponseEffect = Effect.andThen(
    Deferred.succeed(first, undefined),
    Effect.flatMap(Fiber.join(fiber), ({ handler }) => handler)
  )
  const end = Effect.suspend(() => {
    isEnding = true
    const exit = fiber.pollUnsafe()
    return exit !== undefined && Exit.isSuccess(exit) ? exit.value.end : Effect.void
  })
  return { handler, end }
})

/** Hosts that need no TLS: of this machine alone. */
const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/u
