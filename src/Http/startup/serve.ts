/** Wires a service together: builds its routes, checks, documents, limits and middleware, and serves them. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Crypto from "effect/crypto/WebCrypto"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { identity } from "effect/Function"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import type { Endpoint } from "../../Access/AccessControl.ts"
import { ClientAddressSource } from "../../internal/clientAddress.ts"
import { ContentHashed, MayConvert } from "../../internal/passwordHash.ts"
import { onReload } from "../../internal/reload.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { ownerOf } from "../../Repository/internal.ts"
import type { Migration } from "../../Repository/Migration.ts"
import * as Repository from "../../Repository/Repository.ts"
import { Keys } from "../../Security/Keys.ts"
import { keepSignIn, Lifetimes } from "../../Security/SignIns.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { config as configuredCors } from "../Cors.ts"
import { shapeOf } from "../description/pathShape.ts"
import { documentPaths, isLogged } from "../description/standardEndpoints.ts"
import * as KernelConfig from "../KernelConfig.ts"
import type * as OpenApi from "../OpenApi.ts"
import { openApiPath } from "../openapi/documentationPaths.ts"
import { config as configuredRateLimits, type RateLimits } from "../RateLimits.ts"
import type { Registration } from "../registration/registration.ts"
import { mayConvert } from "../request/costlyValues.ts"
import { noRules, requirement, withRule } from "../resource/rules.ts"
import { cached, type Caching } from "../response/caching.ts"
import { linksBy, linksFrom } from "../response/callResponse.ts"
import { makeListResponses } from "../response/listResponse.ts"
import { ErrorFormat } from "../response/problem.ts"
import { makeResponseBudget } from "../response/responseBudget.ts"
import { makeBadRequest, makeErrorResponses } from "../response/translation.ts"
import { type CallContext, callRoute } from "../routes/callRoutes.ts"
import { withCors } from "../routes/cors.ts"
import { routed, routerConfig, withErrorResponses } from "../routes/errorBoundary.ts"
import { type Implementation, implemented, withReferences } from "../routes/implemented.ts"
import { keysRoute } from "../routes/keysRoute.ts"
import { makeRateLimiter, unlimited } from "../routes/rateLimits.ts"
import { routesOf, watchRoutes } from "../routes/resourceRoutes.ts"
import { withResponseTimeout } from "../routes/responseTimeout.ts"
import type { Route } from "../routes/route.ts"
import { accessLogged } from "../server/accessLog.ts"
import { addressOfRequest, makeClientAddress } from "../server/clientAddress.ts"
import * as KernelLogger from "../server/kernelLogger.ts"
import * as overload from "../server/overload.ts"
import { unconfirmedByClient } from "../server/sendBuffers.ts"
import { type Priority, shed } from "../server/shedding.ts"
import * as Translations from "../Translations.ts"
import * as Documentation from "./documentation.ts"
import { enabled, measuring, monitored } from "./monitored.ts"
import { RegistrationInvalid } from "./registrationInvalid.ts"
import { limitsOf, servedDocument } from "./servedDocument.ts"
import { unusedKeys } from "./unusedKeys.ts"

/** Further layers of the router: see `KernelEngine.use`. */
type Addition = Layer.Layer<never, never, HttpRouter.HttpRouter>

/** Serves registrations and further layers of the router on the current server. */
export const serve = Effect.fnUntraced(function*({ additions, implementations, openApi, registrations, ...parts }: {
  readonly api: HttpApi.Top
  readonly migrations: ReadonlyArray<Migration>
  readonly registrations: ReadonlyArray<Registration>
  readonly implementations: ReadonlyArray<Implementation>
  readonly additions: ReadonlyArray<Addition>
  readonly openApi: OpenApi.Options & Documentation.Options | undefined
  /** The roles that roles include; `undefined` without security. */
  readonly security: { readonly roles?: { readonly [role: string]: ReadonlyArray<string> } | undefined } | undefined
  /** `undefined` unless the program enables limits. */
  readonly rateLimits: RateLimits | undefined
}) {
  const store = yield* DocumentStore
  const limits = yield* KernelConfig.Limits
  const translations = yield* translationsOf
  yield* warnOfUnused(translations, registrations)
  const errorResponses = makeErrorResponses(translations)
  const respondBadRequest = makeBadRequest(translations)
  const lists = makeListResponses(
    makeResponseBudget(largePagesAtOnce * limits.maxPageBytes, limits.queryTimeout),
    limits.maxPageBytes,
    yield* unconfirmedByClient
  )
  const live = registrations.some((one) => one._tag === "Resource" && isLogged(one.model))
    ? yield* liveOf(store)
    : undefined
  let repositories = Context.empty() as Context.Context<Repository.RepositoryOf<string>> // filled below
  const all = registrations.map((registration) =>
    withReferences(implemented(registration, implementations), registrations)
  )
  const linksOf = linksBy(all)
  // It loads the query language and the masks of fields, which a service without access control has no use for.
  const access = parts.security === undefined
    ? undefined
    : yield* (yield* Effect.promise(() => import("./access.ts"))).accessOf({
      registrations: all,
      roles: parts.security.roles,
      realm: parts.api.identifier,
      audit: yield* auditLogOf(store),
      errorResponses
    })
  if (access === undefined && (yield* KernelConfig.audit).to !== "none") {
    yield* Effect.logWarning("The audit log is empty: nobody is known without enableSecurity")
  }
  const cursors = access === undefined ? {} : { secret: (yield* KernelConfig.cursorSecret) ?? (yield* randomSecret) }
  const routes: Array<EndpointRoute> = []
  for (const registration of all) {
    const { auditLog, caching, calls, headers, name, onExcessProperty, priority, rules, timeout } = registration
    const isStrict = onExcessProperty === "error"
    const common = {
      registration: name,
      isStrict,
      tellsTransactions: live !== undefined,
      limits,
      lists,
      translations,
      views: access?.views
    }
    const own = { auditLog, caching, priority, timeout, ...Object.keys(headers).length === 0 ? {} : { headers } }
    // The rules of a call are those of its name.
    const callRoutesOf = (surroundings: CallContext, resource?: Endpoint["resource"]) =>
      calls.map((call) => ({
        ...callRoute(call, surroundings),
        ...own,
        endpoint: { registration: name, rules, name: call.name, isCall: true, path: call.path, resource }
      }))
    if (registration._tag === "Service") {
      routes.push(...callRoutesOf({ ...common, linksOf, repository: undefined }))
      continue
    }
    const { model } = registration
    const conditions = AccessPolicy.conditionsOf(registration)
    if (conditions.length > 0) {
      const { rejectUnsuitable } = yield* Effect.promise(() => import("../../Repository/evaluation.ts"))
      const unsuitable = conditions.flatMap((filter) => rejectUnsuitable(filter) ?? [])[0]
      if (unsuitable !== undefined) return yield* new RegistrationInvalid({ registration: name, detail: unsuitable })
    }
    const key = Repository.key(model)
    const owner = ownerOf(model)
    const known = Context.getOption(repositories, key)
    const owned = known._tag === "Some" ? known.value : yield* Repository.make(owner)
    repositories = Context.add(repositories, key, owned)
    // An earlier form has the documents of its model.
    const repository = owner === model ? owned : yield* Repository.make(model)
    const { storeOptions } = registration
    const withOptions = storeOptions === undefined ? identity : Repository.withStoreOptions(model, storeOptions)
    const resource = access?.resourceOf(registration, repository)
    const surroundings = { cursors, limits, lists, translations, live, views: access?.views }
    routes.push(
      ...routesOf(registration, repository, store, surroundings).map((route) => ({
        ...route,
        ...own,
        handler: withOptions(route.handler),
        endpoint: { registration: name, rules, name: route.method, isCall: false, path: route.path, resource }
      })),
      ...callRoutesOf({ ...common, linksOf: linksFrom(registration, linksOf), repository }, resource).map((route) => ({
        ...route,
        handler: withOptions(route.handler)
      }))
    )
  }
  if (live !== undefined) {
    const streams = routes.filter(({ isStream }) => isStream === true)
    const watched = watchRoutes(
      live,
      streams.map((route) => ({
        name: route.endpoint?.registration ?? "",
        path: route.path,
        isAllowed: access?.isAllowed(route.endpoint) ?? Effect.succeed(true),
        respond: access === undefined
          ? withErrorResponses(route.handler, route.respondBadRequest, errorResponses)
          : access.checked(route, route.endpoint, identity, route.auditLog)
      })),
      { limits, respondBadRequest },
      errorResponses
    )
    const taken = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    routes.push(...watched.filter(({ method, path }) => !taken.has(`${method} ${path}`)))
  }
  const rateLimits = limitsOf(parts.rateLimits, yield* configuredRateLimits)
  if (openApi !== undefined) {
    const policy = AccessPolicy.make(all, access !== undefined)
    const { api } = parts
    const documentOf = servedDocument({
      api,
      registrations,
      limits,
      openApi,
      rateLimits,
      schemes: access?.schemes ?? []
    })
    const document = documentOf(policy)
    const ownDocument = access === undefined || openApi.perCaller !== true ?
      undefined :
      yield* (yield* Effect.promise(() => import("./access.ts"))).callerDocument({
        registrations: all,
        roles: parts.security?.roles,
        documentOf: (policy) => documentOf(policy, { omitsUnreachable: true }),
        unauthenticated: access.credentialsNeeded
      })
    for (const route of yield* Documentation.routes(document, openApi)) {
      const handler = route.path === openApiPath ? ownDocument ?? route.handler : route.handler
      routes.push({ ...route, handler, respondBadRequest, ...endpointOf("documentation", route.path, openApi.require) })
    }
  }
  const monitoring = yield* enabled
  const { first, pages } = yield* monitored(monitoring, parts.migrations)
  for (const { handler, path, require } of pages) {
    routes.push({ method: "GET", path, handler, respondBadRequest, ...endpointOf("monitoring", path, require) })
  }
  const keys = yield* Effect.serviceOption(Keys)
  if (keys._tag === "Some") routes.push(keysRoute(keys.value, translations))
  const { change, limitAddress, limitCaller } = rateLimits === undefined
    ? unlimited
    : yield* makeRateLimiter(rateLimits, routes, errorResponses)
  if (rateLimits !== undefined) {
    yield* onReload(
      rateLimitKeys,
      Effect.map(configuredRateLimits, (configured) => {
        const next = limitsOf(parts.rateLimits, configured)
        return next === undefined
          ? { restart: rateLimitKeys, apply: Effect.void }
          : { apply: Effect.sync(() => change(next)) }
      })
    )
  }
  const { maxDelay, maxRequests, maxRequestsPerRoute: routeMaximum, retryAfter } = yield* KernelConfig.overload
  const refuse = (headers: { readonly [name: string]: string }) =>
    errorResponses.sentence(503, { key: "errors.Overload" }, headers)
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
  yield* router.addAll(
    routes.flatMap((route) => {
      const { asked = [], auditLog, caching, endpoint, handler, headers, method, path, respondBadRequest, timeout } =
        route
      const limit = limitCaller({ method, path })
      const respond = access === undefined
        ? limit(withErrorResponses(handler, respondBadRequest, errorResponses))
        : access.checked(route, endpoint, limit, auditLog)
      const inTime = timeout === undefined ? respond : withResponseTimeout(respond, timeout, errorResponses)
      const kept = caching === undefined || method !== "GET" ? inTime : cached(inTime, caching)
      const answer = headers === undefined ? kept : Effect.map(kept, HttpServerResponse.setHeaders(headers))
      const bounded = routeMaximum === undefined ? answer : overload.bounded(answer, {
        maximum: routeMaximum,
        refuse,
        retryAfter,
        scope: "route"
      })
      return [{ method, path }, ...asked].map(({ method, path }) => HttpRouter.route(method, path, bounded))
    })
  )
  const open = access === undefined ? router : access.open(router)
  for (const addition of additions) {
    yield* Layer.build(Layer.provide(addition, Layer.succeed(HttpRouter.HttpRouter, open)))
  }
  const answered = routed({
    router,
    routes,
    paths: pathsOfDocuments(registrations),
    limits,
    respondBadRequest,
    errorResponses
  })
  const time = yield* KernelConfig.responseTimeout
  const limited = limitAddress(time === undefined ? answered : withResponseTimeout(answered, time, errorResponses))
  const cors = yield* configuredCors
  let handler = cors === undefined ? limited : withCors(limited, cors, access?.schemes ?? [])
  if (maxRequests !== undefined) {
    handler = overload.bounded(handler, { maximum: maxRequests, refuse, retryAfter, scope: "service" })
  }
  const measured = yield* measuring
  if (measured !== undefined) handler = yield* measured(handler)
  const log = yield* KernelLogger.Access
  const clientAddressOf = makeClientAddress(yield* KernelConfig.proxies)
  if (log !== undefined) handler = accessLogged(handler, log, clientAddressOf)
  if ((yield* Tracer.Tracer) !== Tracer.nativeTracer) {
    handler = (yield* Effect.promise(() => import("../monitoring/telemetry.ts"))).traced(handler)
  }
  const minSize = yield* KernelConfig.compression
  const sent = minSize === undefined
    ? handler
    : Effect.provideContext(
      (yield* Effect.promise(() => import("../server/compression.ts"))).compressed(handler, minSize),
      yield* Layer.build((yield* Effect.promise(() => import("@effect/platform-node/NodeHttpPlatform"))).layer)
    )
  const app = first.size === 0
    ? sent
    : (yield* Effect.promise(() => import("../monitoring/health.ts"))).answeredFirst(sent, first)
  const errorFormat = yield* KernelConfig.errors
  // Handlers get the context of the server's fiber.
  yield* Effect.provideContext(
    HttpServer.serveEffect(app),
    Context.add(repositories, ClientAddressSource, addressOfRequest(clientAddressOf)).pipe(
      Context.add(ContentHashed, keepSignIn),
      Context.add(MayConvert, mayConvert),
      Context.add(ErrorFormat, errorFormat),
      // For routes of `HttpRouter`.
      Context.add(HttpServerRequest.MaxBodySize, ByteSize.bytes(limits.maxBodySize))
    )
  )
  if (maxDelay !== undefined) {
    yield* shed({
      maxDelay,
      priorityOf: priorities(routes),
      probes: new Set(first.keys()),
      refusal: errorResponses.early(503, { key: "errors.Overload" }, errorFormat),
      retryAfter
    })
  }
  // Streams end before the server waits for what it still answers.
  if (live !== undefined) yield* Effect.addFinalizer(() => live.streams.end)
  return repositories
})

/** What streams changes. It loads the query language. */
const liveOf = Effect.fnUntraced(function*(store: DocumentStore["Service"]) {
  const { changesRoute } = yield* Effect.promise(() => import("../live/changesRoute.ts"))
  const { watchRoute } = yield* Effect.promise(() => import("../live/watchRoute.ts"))
  const { makeLiveStreams } = yield* Effect.promise(() => import("../live/liveStreams.ts"))
  const { revocationDelay } = yield* Lifetimes
  const options = yield* KernelConfig.live
  return {
    changesRoute,
    watchRoute,
    streams: yield* makeLiveStreams(store, { ...options, revocationDelay })
  }
})

/** The audit log, if the configuration has one. What writes it is loaded by services that do. */
const auditLogOf = Effect.fnUntraced(function*(store: DocumentStore["Service"]) {
  const options = yield* KernelConfig.audit
  if (options.to === "none") return undefined
  const { makeAuditLog } = yield* Effect.promise(() => import("../routes/auditLog.ts"))
  return yield* makeAuditLog(options, store)
})

const priorities = (routes: ReadonlyArray<EndpointRoute>): (url: string) => Priority => {
  const own = FindMyWay.make<Priority>(routerConfig)
  const paths = new Map(
    routes.flatMap(({ asked = [], path, priority = "normal" }) =>
      priority === "normal" ? [] : [path, ...asked.map(({ path }) => path)].map((path) => [shapeOf(path), priority])
    )
  )
  for (const [path, priority] of paths) own.on("GET", path, priority)
  return paths.size === 0 ? () => "normal" : (url) => own.find("GET", url)?.handler ?? "normal"
}

/** A page that not everybody gets. */
const endpointOf = (
  registration: string,
  path: `/${string}`,
  required: Documentation.Options["require"]
): Pick<EndpointRoute, "endpoint"> =>
  required === undefined ? {} : {
    endpoint: {
      registration,
      rules: withRule(noRules, requirement(required, undefined)),
      name: "GET",
      isCall: true,
      path,
      resource: undefined
    }
  }

/** A route with the endpoint that grants name it by; one without is for everybody. */
interface EndpointRoute extends Route {
  readonly endpoint?: Endpoint
  /** The headers of every answer. */
  readonly headers?: { readonly [name: string]: string }
  readonly auditLog?: Registration["auditLog"]
  /** The time for an answer. */
  readonly timeout?: Duration.Duration | undefined
  readonly priority?: Priority
  readonly caching?: Caching | undefined
}

/** The secret that signs cursors if none is configured. Such cursors are valid in this process only. */
const randomSecret = Effect.map(
  Crypto.WebCrypto,
  (crypto) => Redacted.make(Base64Url.encode(crypto.getRandomValues(new Uint8Array(32))))
)

const rateLimitKeys = ["rate_limits.per_address", "rate_limits.per_caller"]

const warnOfUnused = (translations: Translations.Translations, registrations: ReadonlyArray<Registration>) =>
  Effect.forEach(unusedKeys(translations, registrations), (warning) => Effect.logWarning(warning), { discard: true })

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

/** The number of maximum-size pages that may be in memory; others wait. */
const largePagesAtOnce = 4
