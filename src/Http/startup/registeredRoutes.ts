/** The routes of registered resources and services, and those of the changes of several collections. */
import * as Context from "effect/Context"
import * as Crypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { GuardedEndpoint } from "../../Access/AccessControl.ts"
import type * as Model from "../../Model/Model.ts"
import type * as Cursor from "../../Repository/Cursor.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { AccessDecision, ownerOf } from "../../Repository/internal.ts"
import * as Repository from "../../Repository/Repository.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { rawOf } from "../description/raw.ts"
import type { Door } from "../expansion/embeddable.ts"
import * as KernelConfig from "../KernelConfig.ts"
import type { Live } from "../live/live.ts"
import { makeListResponses } from "../response/listResponse.ts"
import { linksBy, linksFrom } from "../response/operationResponse.ts"
import { documentTags } from "../response/representation.ts"
import { makeResponseBudget } from "../response/responseBudget.ts"
import { KeptTexts } from "../response/wireText.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"
import { operationRoute, type OperationSurroundings } from "../routes/operationRoutes.ts"
import { type ResourceSurroundings, routesOf, watchRoutes } from "../routes/resourceRoutes.ts"
import { unconfirmedByClient } from "../server/sendBuffers.ts"
import { fileRoutes, uploadsFor } from "./fileRoutes.ts"
import { deletedHandlersOf, withHistory } from "./historyRoutes.ts"
import { RegistrationInvalid } from "./registrationInvalid.ts"
import { respondingOf } from "./stages.ts"
import type { Composing, ServedRoute } from "./surroundings.ts"

interface Made extends Composing {
  readonly live: Live | undefined
}

/** The routes of all registrations, and the repositories of their models. */
export const registeredRoutes = Effect.fnUntraced(function*(made: Made) {
  const { access, all, limits, live, translations } = made
  const lists = makeListResponses(
    makeResponseBudget(largePagesAtOnce * limits.maxPageBytes, limits.queryTimeout),
    limits.maxPageBytes,
    yield* unconfirmedByClient
  )
  const cursors: Cursor.Options = access === undefined
    ? {}
    : { secret: (yield* KernelConfig.cursorSecret) ?? (yield* randomSecret) }
  const texts = new KeptTexts(yield* KernelConfig.keptTexts)
  const tables = all.some((registration) => registration._tag === "Resource" && registration.tables !== undefined)
    ? yield* Effect.promise(() => import("../tables/writeTable.ts"))
    : undefined
  const doors = new Map<string, Door>()
  const surroundings = { cursors, doors, limits, lists, live, tables, texts, translations, views: access?.views }
  const linksOf = linksBy(all)
  let repositories = Context.empty() as Context.Context<Repository.RepositoryOf<string>> // filled below
  const routes: Array<ServedRoute> = []
  for (const registration of all) {
    if (registration._tag === "Service") {
      routes.push(...operationRoutesOf(registration, { ...surroundings, linksOf, repository: undefined }))
      continue
    }
    yield* rejectUnsuitable(registration)
    const { model } = registration
    // Handlers reach the documents of an earlier form as the newest ones as well.
    for (const one of new Set([ownerOf(model), model])) {
      const key = Repository.key(one)
      if (Option.isSome(Context.getOption(repositories, key))) continue
      repositories = Context.add(repositories, key, yield* Repository.make(one))
    }
    const known = Context.getUnsafe(repositories, Repository.key(model))
    // Another registration may have made the same form, with other rules.
    const repository = known.model === model ? known : yield* Repository.make(model)
    const resource = access?.resourceOf(registration, repository)
    const uploads = yield* uploadsFor(registration, limits, all)
    const { deletedHandlerOf, embeddableBy, routes: standard } = resourceRoutesOf(
      registration,
      yield* DocumentStore,
      { ...surroundings, deletedHandlers: yield* deletedHandlersOf(registration), repository, resource, uploads }
    )
    const reading = standard.find(({ method, path }) => method === "GET" && path === `${registration.path}/:id`)
    if (reading !== undefined) doors.set(registration.path, doorTo(reading, embeddableBy, made))
    const own = yield* withHistory(registration, repository, standard, {
      ...made,
      lists,
      views: surroundings.views,
      resource,
      own: ownOf(registration, limits),
      deletedHandlerOf
    })
    routes.push(
      ...own.routes,
      ...uploads === undefined ? [] : yield* fileRoutes(registration, repository, standard, {
        ...made,
        uploads,
        own: ownOf(registration, limits),
        secret: cursors.secret ?? (yield* KernelConfig.cursorSecret) ?? (yield* randomSecret),
        views: surroundings.views
      }),
      ...yield* manyRoutes(registration, repository, standard, { ...made, cursors, lists, views: surroundings.views }),
      ...operationRoutesOf(
        { ...registration, calls: own.calls },
        {
          ...surroundings,
          linksOf: linksFrom(registration, linksOf),
          repository,
          tagsFor: (fiber) => {
            const { representations, view } = embeddableBy(Context.get(fiber.context, AccessDecision)?.endpoint)
            return documentTags(model, representations, view)(fiber)
          }
        },
        resource
      )
    )
  }
  return { doors, repositories, routes: live === undefined ? routes : [...routes, ...watched(routes, live, made)] }
})

// internal

type Registered = ImplementedResource | ImplementedService

/** What a registration says of all of its routes. */
const ownOf = (
  { auditLog, caching, headers, priority, timeout, ...registration }: Registered,
  limits: Pick<KernelConfig.Limits, "idempotencyKeys">
) => {
  const { idempotencyKeys = limits.idempotencyKeys } = registration
  const options = registration._tag === "Resource" ? registration.storeOptions : undefined
  return {
    auditLog,
    caching,
    idempotencyKeys: idempotencyKeys === "none" ? undefined : idempotencyKeys,
    priority,
    timeout,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    withStoreOptions: registration._tag === "Resource" && options !== undefined
      ? Repository.withStoreOptions(registration.model, options)
      : undefined
  }
}

const resourceRoutesOf = (
  registration: ImplementedResource,
  store: DocumentStore["Service"],
  { repository, resource, ...surroundings }: ResourceSurroundings & {
    readonly repository: Repository.Repository<Model.Any>
    readonly resource: GuardedEndpoint["resource"]
  }
) => {
  const own = ownOf(registration, surroundings.limits)
  const { name, rules } = registration
  const { deletedHandlerOf, embeddableBy, routes } = routesOf(registration, repository, store, surroundings)
  /** Permissions look at the documents that the parameter of an action asks for. */
  const documentsBy = (askedBy: string | undefined) =>
    surroundings.deletedHandlers === undefined || askedBy === undefined
      ? {}
      : { documents: "include" as const, askedBy }
  return {
    deletedHandlerOf,
    embeddableBy,
    routes: routes.map((route): ServedRoute => ({
      ...route,
      ...own,
      takesForms: route.method !== "DELETE",
      endpoint: {
        registration: name,
        rules,
        name: route.method,
        isOperation: false,
        path: route.path,
        resource,
        ...documentsBy(route.method === "GET" ? "deleted" : route.method === "DELETE" ? "purge" : undefined)
      }
    }))
  }
}

/** The way to the documents that a route answers with, by what its stages would decide and do. */
const doorTo = (
  { auditLog, endpoint, withStoreOptions = (handler) => handler }: ServedRoute,
  embeddableBy: ReturnType<typeof routesOf>["embeddableBy"],
  { access, audit }: Pick<Made, "access" | "audit">
): Door => {
  if (access === undefined || endpoint === undefined) {
    const entered = { embeddable: embeddableBy(undefined), within: withStoreOptions }
    return { isForEach: false, enter: () => Effect.succeed(entered) }
  }
  const { decide, dependsOnDocument } = access.deciding({ ...endpoint, documents: undefined })
  return {
    isForEach: dependsOnDocument,
    enter: (id) =>
      Effect.map(decide(id), (decision) =>
        decision && {
          embeddable: embeddableBy(decision.endpoint),
          within: (effect) => {
            const reading = (decision: AccessDecision) =>
              Effect.provideService(withStoreOptions(effect), AccessDecision, decision)
            return audit === undefined
              ? reading(decision)
              : audit.reading(reading, decision, { ...endpoint, auditLog })
          }
        })
  }
}

const operationRoutesOf = (
  registration: Registered,
  { live, ...surroundings }:
    & Pick<OperationSurroundings, "limits" | "linksOf" | "lists" | "repository" | "tagsFor" | "translations" | "views">
    & {
      readonly live: Live | undefined
    },
  resource?: GuardedEndpoint["resource"]
): ReadonlyArray<ServedRoute> => {
  const own = ownOf(registration, surroundings.limits)
  const { calls, name, onExcessProperty, rules } = registration
  const isStrict = onExcessProperty === "error"
  return calls.map((call) => ({
    ...operationRoute(call, { ...surroundings, registration: name, isStrict, tellsTransactions: live !== undefined }),
    ...own,
    // A raw body is read by the handler.
    ...rawOf(call.options.payload) === undefined && call.options.idempotencyKeys !== "none"
      ? {}
      : { idempotencyKeys: undefined },
    // The rules of a call are those of its name.
    endpoint: {
      registration: name,
      rules,
      name: call.name,
      isOperation: true,
      path: call.path,
      resource,
      isConditional: call.method !== "GET",
      ...call.find === undefined ? {} : { documents: "include" as const }
    }
  }))
}

/** The routes of many documents. Each document is answered for within the stages of the route of a single one. */
const manyRoutes = Effect.fnUntraced(function*(
  registration: ImplementedResource,
  repository: Repository.Repository<Model.Any>,
  routes: ReadonlyArray<ServedRoute>,
  made:
    & Pick<Made, "access" | "audit" | "errorResponses" | "limits" | "respondBadRequest" | "translations">
    & Pick<ResourceSurroundings, "cursors" | "lists" | "views">
) {
  const { many, path } = registration
  if (many.length === 0) return []
  const { manyWrites, withinMany } = yield* Effect.promise(() => import("../many/handlers.ts"))
  const { access, audit, errorResponses, limits } = made
  const list = routes.find((route) => route.method === "GET" && route.path === path)?.endpoint
  const asList = <A, E>(read: Effect.Effect<A, E>) =>
    Effect.flatMap(
      AccessDecision,
      (decision) =>
        audit === undefined || decision === undefined || list === undefined ? read : audit.reading(
          (own) => Effect.provideService(read, AccessDecision, own),
          decision,
          { ...list, auditLog: registration.auditLog }
        )
    )
  const handlerFor = manyWrites({ ...made, registration, repository, asList, store: yield* DocumentStore })
  return many.flatMap((method) =>
    routes.filter((route) => route.method === method && route.path === `${path}/:id`).map((single): ServedRoute => {
      const { endpoint, handler, respondBadRequest, withStoreOptions } = single
      const respond = respondingOf(
        {
          method,
          path: single.path,
          handler: withinMany(handler),
          respondBadRequest,
          endpoint,
          withStoreOptions,
          auditLog: single.auditLog
        },
        // The request for all of them is authenticated.
        { access: access && { ...access, authenticated: (next) => next }, audit, errorResponses, limits }
      )
      return {
        ...single,
        path,
        idempotencyKeys: undefined,
        endpoint: endpoint && { ...endpoint, path },
        handler: handlerFor(method, respond)
      }
    })
  )
})

/** Fails for a condition of a rule that can't be evaluated. */
const rejectUnsuitable = Effect.fnUntraced(function*(registration: ImplementedResource) {
  const conditions = AccessPolicy.conditionsOf(registration)
  if (conditions.length === 0) return
  const { rejectUnsuitable } = yield* Effect.promise(() => import("../../Repository/evaluation.ts"))
  const unsuitable = conditions.flatMap((filter) => rejectUnsuitable(filter) ?? [])[0]
  if (unsuitable !== undefined) {
    return yield* new RegistrationInvalid({ registration: registration.name, detail: unsuitable })
  }
})

/** The routes of the changes of several collections, unless a registration has them. */
const watched = (
  routes: ReadonlyArray<ServedRoute>,
  live: Live,
  { access, audit, errorResponses, limits, respondBadRequest }: Made
): ReadonlyArray<ServedRoute> => {
  const streams = routes.filter(({ isStream }) => isStream === true).map((route) => {
    // These are of the request for all of them.
    const { caching: _caching, headers: _headers, timeout: _timeout, ...own } = route
    return {
      name: route.endpoint?.registration ?? "",
      path: route.path,
      isAllowed: access?.isAllowed(route.endpoint) ?? Effect.succeed(true),
      respond: respondingOf(own, { access, audit, errorResponses, limits })
    }
  })
  const taken = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  return watchRoutes(live, streams, respondBadRequest, errorResponses)
    .filter(({ method, path }) => !taken.has(`${method} ${path}`))
}

/** The secret that signs cursors if none is configured. Such cursors are valid in this process only. */
const randomSecret = Effect.map(
  Crypto.WebCrypto,
  (crypto) => Redacted.make(Base64Url.encode(crypto.getRandomValues(new Uint8Array(32))))
)

/** The number of maximum-size pages that may be in memory; others wait. */
const largePagesAtOnce = 4
