/** Composes a service, once at the start: its routes, and what its stages and theirs are made with. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Tracer from "effect/Tracer"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { onReload } from "../../internal/reload.ts"
import { textOfKey } from "../../internal/texts.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { Lifetimes } from "../../Security/SignIns.ts"
import { config as configuredCors } from "../Cors.ts"
import { shapeOf } from "../description/pathShape.ts"
import { documentPaths, isLogged } from "../description/standardEndpoints.ts"
import * as KernelConfig from "../KernelConfig.ts"
import { config as configuredRateLimits, type RateLimits } from "../RateLimits.ts"
import type { Registration } from "../registration/registration.ts"
import { type ErrorResponses, makeBadRequest, makeErrorResponses } from "../response/translatedResponses.ts"
import { implemented, type ImplementedResource, type ImplementedService, withRelations } from "../routes/implemented.ts"
import { makeRateLimiter } from "../routes/rateLimits.ts"
import type { Responding } from "../routes/route.ts"
import { routerConfig } from "../routes/routing.ts"
import { makeClientAddress } from "../server/forwardedAddress.ts"
import * as KernelLogger from "../server/kernelLogger.ts"
import type { Priority } from "../server/shedding.ts"
import * as Translations from "../Translations.ts"
import { builtInRoutes } from "./builtInRoutes.ts"
import type { ServiceParts } from "./engineParts.ts"
import { isMeasured } from "./monitored.ts"
import { registeredRoutes } from "./registeredRoutes.ts"
import { limitsOf } from "./servedDocument.ts"
import { respondingOf } from "./stages.ts"
import type { ServedRoute, ServiceSurroundings } from "./surroundings.ts"
import { unusedKeys } from "./unusedKeys.ts"

/** Composes a service. Nothing is served yet. */
export const compose = Effect.fnUntraced(function*(parts: ServiceParts) {
  const { additions, implementations, registrations } = parts
  const translations = yield* translationsOf
  for (const warning of unusedKeys(translations, registrations)) yield* Effect.logWarning(warning)
  const errorResponses = makeErrorResponses(translations)
  const respondBadRequest = makeBadRequest(translations)
  const limits = yield* KernelConfig.Limits
  const all = registrations.map((registration) =>
    withRelations(implemented(registration, implementations), registrations)
  )
  const access = yield* accessOf(parts, all, errorResponses)
  const audit = yield* auditLogOf(access !== undefined)
  const idempotency = yield* idempotencyOf(registrations, { errorResponses, limits })
  const live = registrations.some((one) => one._tag === "Resource" && isLogged(one.model)) ? yield* liveOf : undefined
  const rateLimits = limitsOf(parts.rateLimits, yield* configuredRateLimits)
  const made = {
    ...parts,
    access,
    all,
    audit,
    errorResponses,
    limits,
    live,
    rateLimits,
    respondBadRequest,
    translations
  }
  const { doors, repositories, routes: registered } = yield* registeredRoutes(made)
  const { monitoring, probeAt, routes: builtIn } = yield* builtInRoutes(made)
  const cors = yield* configuredCors
  const own = [...registered, ...builtIn]
  const respondingOf = respondingLater(() => surroundings)
  // They load the protocol, and the page.
  const mcp = parts.mcp && (yield* (yield* Effect.promise(() => import("./mcpRoutes.ts"))).mcpRoutes(
    { ...made, cors, mcp: parts.mcp, respondingOf, routes: own, services: repositories }
  ))
  const explorer = parts.explorer === undefined
    ? []
    : yield* (yield* Effect.promise(() => import("./explorerRoutes.ts"))).explorerRoutes(
      { ...made, explorer: parts.explorer, monitoring, respondingOf, routes: own }
    )
  const routes = [...own, ...mcp?.routes ?? [], ...explorer]
  // Streams end before the server waits for what it still answers.
  const endStreams = Effect.all([live?.streams.end ?? Effect.void, mcp?.end ?? Effect.void], { discard: true })
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
  const causes = parts.webhooks === undefined ? undefined : new BoundedCache<Tracer.AnySpan>(10_000)
  const surroundings: ServiceSurroundings = {
    access,
    additions,
    audit,
    causes,
    clientAddressOf: makeClientAddress(yield* KernelConfig.proxies),
    cors,
    errorFormat: yield* KernelConfig.errors,
    errorResponses,
    idempotency,
    isMeasured: yield* isMeasured,
    isTraced: (yield* Tracer.Tracer) !== Tracer.nativeTracer,
    limiter: rateLimits && (yield* reloadedLimiter(parts.rateLimits, rateLimits, routes, errorResponses)),
    limits,
    log: yield* KernelLogger.AccessLogger,
    minSize: yield* KernelConfig.compression,
    openRouter: access === undefined ? router : access.open(router),
    overload: {
      ...yield* KernelConfig.overload,
      refuse: (headers) => errorResponses.sentence("ServiceUnavailable", textOfKey("errors.Overload"), headers)
    },
    paths: pathsOfDocuments(registrations),
    priorityOf: priorities(routes),
    probeAt,
    respondBadRequest,
    responseTimeout: yield* KernelConfig.responseTimeout,
    router,
    routes
  }
  return { causes, doors, endStreams, repositories, surroundings }
})

// internal

/** The checks of access control. They load the query language and the masks of fields, which other services have no use for. */
const accessOf = Effect.fnUntraced(function*(
  { api, security }: ServiceParts,
  registrations: ReadonlyArray<ImplementedResource | ImplementedService>,
  errorResponses: ErrorResponses
) {
  if (security === undefined) return undefined
  const { accessOf } = yield* Effect.promise(() => import("./access.ts"))
  return yield* accessOf({ registrations, roles: security.roles, realm: api.id, errorResponses })
})

/** The audit log, if the configuration has one. What writes it is loaded by services that do. */
const auditLogOf = Effect.fnUntraced(function*(hasAccess: boolean) {
  const options = yield* KernelConfig.audit
  if (options.to === "none") return undefined
  if (!hasAccess) {
    yield* Effect.logWarning("The audit log is empty: nobody is known without enableSecurity")
    return undefined
  }
  const { makeAuditLog } = yield* Effect.promise(() => import("../routes/auditLog.ts"))
  return yield* makeAuditLog(options, yield* DocumentStore)
})

/** What keeps the answers to requests with a key, if a registration has such. */
const idempotencyOf = Effect.fnUntraced(function*(
  registrations: ReadonlyArray<Registration>,
  made: { readonly errorResponses: ErrorResponses; readonly limits: KernelConfig.Limits }
) {
  const hasKeys = registrations.some(({ idempotencyKeys = made.limits.idempotencyKeys }) => idempotencyKeys !== "none")
  if (!hasKeys) return undefined
  const { makeIdempotency } = yield* Effect.promise(() => import("../idempotency/idempotency.ts"))
  return yield* makeIdempotency(yield* DocumentStore, yield* KernelConfig.idempotency, made)
})

/** What streams changes. It loads the query language. */
const liveOf = Effect.gen(function*() {
  const { changesRoute } = yield* Effect.promise(() => import("../live/changesRoute.ts"))
  const { watchRoute } = yield* Effect.promise(() => import("../live/watchRoute.ts"))
  const { makeLiveStreams } = yield* Effect.promise(() => import("../live/liveStreams.ts"))
  const { revocationDelay } = yield* Lifetimes
  const options = yield* KernelConfig.live
  return {
    changesRoute,
    watchRoute,
    streams: yield* makeLiveStreams(yield* DocumentStore, { ...options, revocationDelay })
  }
})

/** How a route of the service responds to others of its routes, which are made before it is. */
const respondingLater = (surroundings: () => ServiceSurroundings) => (route: ServedRoute): Responding => {
  let responding: Responding | undefined
  return Effect.suspend(() => responding ??= respondingOf(route, surroundings()))
}

/** The limiter of rates, which takes those of a configuration that is read again. */
const reloadedLimiter = Effect.fnUntraced(function*(
  declared: RateLimits | undefined,
  limits: RateLimits,
  routes: ReadonlyArray<ServedRoute>,
  errorResponses: ErrorResponses
) {
  const limiter = yield* makeRateLimiter(limits, routes, errorResponses)
  yield* onReload(
    rateLimitKeys,
    Effect.map(configuredRateLimits, (configured) => {
      const next = limitsOf(declared, configured)
      return next === undefined
        ? { restart: rateLimitKeys, apply: Effect.void }
        : { apply: Effect.sync(() => limiter.change(next)) }
    })
  )
  return limiter
})

const rateLimitKeys = ["rate_limits.per_address", "rate_limits.per_caller"]

const priorities = (routes: ReadonlyArray<ServedRoute>): (url: string) => Priority => {
  const own = FindMyWay.make<Priority>(routerConfig)
  const paths = new Map(
    routes.flatMap(({ asked = [], path, priority = "normal" }) =>
      priority === "normal" ? [] : [path, ...asked.map(({ path }) => path)].map((path) => [shapeOf(path), priority])
    )
  )
  for (const [path, priority] of paths) own.on("GET", path, priority)
  return paths.size === 0 ? () => "normal" : (url) => own.find("GET", url)?.handler ?? "normal"
}

/** The translations of a layer, otherwise the configured ones. */
const translationsOf = Effect.gen(function*() {
  const given = yield* Translations.Translations
  if (given !== Translations.configured) return given
  return yield* Effect.provide(Translations.reloadable(Translations.config), NodeFileSystem.layer)
})

/** The paths of single documents, which exist whichever methods a resource has. */
const pathsOfDocuments = (registrations: ReadonlyArray<Registration>): ReadonlyArray<`/${string}`> =>
  registrations.flatMap(({ _tag, path }): ReadonlyArray<`/${string}`> =>
    _tag === "Service" ? [] : Array.from(documentPaths, (own): `/${string}` => `${path}${own}`)
  )
