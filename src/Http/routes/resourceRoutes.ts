/** All routes of a resource, with handlers for each set of grants, since callers with other grants see other fields. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constant, memoize } from "effect/Function"
import * as Result from "effect/Result"
import type * as Views from "../../Access/internal.ts"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { isAmongFields } from "../../Model/internal.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import * as Metadata from "../../Model/Metadata.ts"
import type * as Model from "../../Model/Model.ts"
import type * as Cursor from "../../Repository/Cursor.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import { AccessDecision } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { listTypes } from "../description/listTypes.ts"
import { watchPathOf } from "../description/pathShape.ts"
import { schemaParameters } from "../description/queryParameters.ts"
import { endpointsOf, type Name, type StandardEndpoint } from "../description/standardEndpoints.ts"
import type { Doors, Embeddable } from "../expansion/embeddable.ts"
import type { Uploads } from "../files/uploads.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Live } from "../live/live.ts"
import type { Watchable } from "../live/watchRoute.ts"
import { queryReader } from "../query/parameterReader.ts"
import { atOnceOf, withAtOnce } from "../request/atOnce.ts"
import { expectations, inputFields, parameters as parametersOf, shownFields } from "../response/fieldResolver.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { withoutProperties } from "../response/hiddenNames.ts"
import * as responses from "../response/json.ts"
import type { ListResponses } from "../response/listResponse.ts"
import { representationsOf } from "../response/representation.ts"
import { type Served, servesOf } from "../response/serves.ts"
import {
  type BadRequestResponder,
  type ErrorResponses,
  labelledCall,
  makeBadRequest,
  makeErrorResponses,
  metadataResponse
} from "../response/translatedResponses.ts"
import { wholeView } from "../response/wholeView.ts"
import type { KeptTexts } from "../response/wireText.ts"
import type * as Tables from "../tables/writeTable.ts"
import type { Translations } from "../Translations.ts"
import type { ImplementedResource } from "./implemented.ts"
import { readRoutes, type ReadSurroundings } from "./readRoutes.ts"
import {
  acceptedRoute,
  allowedOf,
  jsonRoute,
  type Route,
  withIdParameter,
  withoutParameters,
  withParameters
} from "./route.ts"
import { patchTypes } from "./writeRequest.ts"
import { writeRoutes } from "./writeRoutes.ts"

/** The routes of a model. They prepare all that does not depend on a request once. */
export const routesOf = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  surroundings: ResourceSurroundings
): {
  readonly routes: ReadonlyArray<Route>
  /** The documents for callers with the grants; for all without access control. */
  readonly embeddableBy: (grants: Views.Grants | undefined) => Embeddable
  /** The handlers of actions on deleted documents, where the resource has them. */
  readonly deletedHandlerOf: (name: keyof DeletedHandlers) => ResponseEffect
} => {
  const { model, path } = registration
  const { translations, views } = surroundings
  const respondBadRequest = makeBadRequest(translations, inputFields(model))
  const handlersBy = views === undefined
    ? constant(handlersOf(registration, repository, store, { ...surroundings, view: wholeView(model) }))
    : byGrants(viewedHandlers(registration, repository, store, { ...surroundings, views }), views.noGrants)
  const handlerOf = views === undefined ? ofName(handlersBy(undefined)) : callersHandler(handlersBy)
  const endpoints = endpointsOf(registration)
  const routes = endpoints.flatMap(({ asks, isMany, method, name, path: own }): ReadonlyArray<Route> => {
    // The route of the endpoint that it asks includes it, and those of many documents are made of these.
    if (asks !== undefined || isMany) return []
    // The endpoints that ask no other one are all but `query`.
    const handler = handlerOf(name as Asked)
    const handled = { method, path: `${path}${own}` as const, handler, respondBadRequest }
    if (name === "changes") return [{ ...acceptedRoute(handled, changesTypes), isStream: true }]
    // A hook may write what is recorded, too.
    const typed = name === "list" && registration.tables !== undefined
      ? acceptedRoute(handled, listTypes)
      : jsonRoute(handled)
    const route = { ...typed, tellsTransaction: surroundings.live !== undefined && method !== "GET" }
    const others = endpoints.filter((other) => other.asks === name)
      .map(({ path: other }) => ({ method: "POST", path: `${path}${other}` }) as const)
    return [{
      ...route,
      ...name === "patch"
        ? { patchTypes: surroundings.uploads === undefined ? patchTypes : [...patchTypes, "multipart/form-data"] }
        : {},
      ...others.length === 0 ? {} : { asked: [...route.asked ?? [], ...others] }
    }]
  })
  return { routes, embeddableBy: (grants) => handlersBy(grants).embeddable, deletedHandlerOf: handlerOf }
}

const changesTypes = ["application/json", "text/event-stream"]

/** The routes of the changes of several collections, one for the collections that are side by side. */
export const watchRoutes = (
  live: Live,
  streams: ReadonlyArray<Watchable & { readonly name: string }>,
  respondBadRequest: BadRequestResponder,
  errorResponses: ErrorResponses
): ReadonlyArray<Route> => {
  const byPath = Map.groupBy(streams, ({ path }) => watchPathOf(path))
  return Array.from(byPath, ([path, beside]) => {
    const collections = new Map(beside.map((stream) => [stream.name, stream]))
    const handler = withParameters(live.watchRoute(collections, respondBadRequest, errorResponses))
    return { ...acceptedRoute({ method: "GET", path, handler, respondBadRequest }, changesTypes), isWatch: true }
  })
}

const ofName = (handlers: Handlers) => (name: HandlerName): ResponseEffect => handlers[name] ?? noHandler

// No route has the name of an action that its resource lacks.
const noHandler: ResponseEffect = Effect.die(new Error("The resource has no such action"))

type HandlersBy = (grants: Views.Grants | undefined) => Handlers

/** The handlers for grants. Requests with the same row filters share one object of grants, by which they are memoised. */
const byGrants = (handlersFor: (grants: Views.Grants) => Handlers, noGrants: Views.Grants): HandlersBy => {
  const handlersOf = memoize(handlersFor)
  return (grants) => handlersOf(grants ?? noGrants)
}

/** The handler for the grants of the caller of the request. */
const callersHandler = (handlersBy: HandlersBy) => (name: HandlerName): ResponseEffect =>
  Effect.withFiber((fiber) => handlersBy(Context.get(fiber.context, AccessDecision)?.endpoint)[name] ?? noHandler)

export interface ResourceSurroundings {
  readonly limits: Limits
  readonly lists: ListResponses
  /** The texts of records, of all resources. */
  readonly texts: KeptTexts
  readonly translations: Translations
  readonly cursors: Cursor.Options
  /** `undefined` if no changes are recorded. */
  readonly live: Live | undefined
  /** What answers lists as tables, where a registration has them. */
  readonly tables: typeof Tables | undefined
  /** The ways to the documents that others refer to. */
  readonly doors: Doors
  /** Makes the handlers of actions on deleted documents, where the resource has them. */
  readonly deletedHandlers: MakeDeletedHandlers | undefined
  /** What takes the files of the model; `undefined` if it has none. */
  readonly uploads: Uploads | undefined
  /** What callers see of models, on which the handlers then depend; `undefined` without access control. */
  readonly views: typeof Views | undefined
}

/** The names of endpoints with handlers that the grants of the caller select. */
export type Asked = Exclude<Name, "query" | "replace_many" | "patch_many" | "delete_many">

/** The handlers of actions on deleted documents. */
export interface DeletedHandlers {
  readonly deletedGet: ResponseEffect
  readonly deletedList: ResponseEffect
  readonly purge: ResponseEffect
  readonly restore: ResponseEffect
}

export type MakeDeletedHandlers = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  surroundings: ReadSurroundings & Pick<ResourceSurroundings, "views"> & {
    readonly respondBadRequest: BadRequestResponder
  }
) => DeletedHandlers

type HandlerName = Asked | keyof DeletedHandlers

/** The handlers of a resource's endpoints, by name, and its documents for the expansion of others. */
type Handlers = { readonly [N in Asked]: ResponseEffect } & Partial<DeletedHandlers> & {
  readonly embeddable: Embeddable
}

/**
 * The handlers by the grants of a caller, kept for the last 64 sets of grants. Grants that hide no field share the read
 * handlers that callers without restrictions get.
 */
export const viewedHandlers = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  surroundings: ResourceSurroundings & { readonly views: typeof Views }
): (grants: Views.Grants) => Handlers => {
  const { model } = registration
  const { hasAllFields, keyOf, modelView } = surroundings.views
  const handlersFor = (view: Views.ModelView) => handlersOf(registration, repository, store, { ...surroundings, view })
  const plain = handlersFor(wholeView(model))
  const compiled = new BoundedCache<Handlers>(maxViews)
  return (grants) => {
    const isPlain = grants.read.length > 0 && hasAllFields(grants)
    if (isPlain && grants.read.every(({ rows }) => rows === undefined)) return plain
    return compiled.getOrMake(keyOf(grants), () => {
      const viewed = handlersFor(modelView(model, grants))
      // Writes depend on the grants even if no field is hidden: a write may move a document out of the caller's rows.
      return isPlain
        ? {
          ...viewed,
          list: plain.list,
          get: plain.get,
          aggregate: plain.aggregate,
          changes: plain.changes
        }
        : viewed
    })
  }
}

const maxViews = 64

const handlersOf = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  surroundings: ResourceSurroundings & { readonly view: Views.ModelView }
): Handlers => {
  const { model, path } = registration
  const { translations, view } = surroundings
  const representations = representationsOf(registration, repository, {
    view,
    texts: surroundings.texts,
    isViewed: surroundings.views !== undefined
  })
  const places = shownFields(model, view.hidden)
  const respondBadRequest = makeBadRequest(translations, inputFields(model))
  const errorResponses = makeErrorResponses(translations)
  const handlers: Handlers = {
    ...readRoutes(registration, repository, representations, { ...surroundings, places }),
    ...writeRoutes(registration, repository, store, representations, { ...surroundings, respondBadRequest }),
    ...surroundings.deletedHandlers?.(registration, repository, store, { ...surroundings, places, respondBadRequest }),
    schema: schemaOf(view, translations),
    meta: metadataOf(registration, view, translations)
  }
  const endpoints = endpointsOf(registration)
  const finished = endpoints.flatMap((endpoint): ReadonlyArray<readonly [string, ResponseEffect]> => {
    const { asks, hasQuery, isMany, name } = endpoint
    if (asks !== undefined || isMany) return []
    // The endpoints that ask no other one are all but `query`.
    const handler = unlessReserved(handlers[name as Asked], endpoint, { endpoints, path, errorResponses })
    return [[name, hasQuery ? handler : withoutParameters(handler, respondBadRequest)]]
  })
  return { ...handlers, ...Object.fromEntries(finished) }
}

/** Answers 405 for an identifier that is the path of another endpoint, such as `PUT …/schema`: no document has it. */
const unlessReserved = (
  handler: ResponseEffect,
  { method, path: own }: StandardEndpoint,
  { endpoints, path, errorResponses }: {
    readonly endpoints: ReadonlyArray<StandardEndpoint>
    readonly path: string
    readonly errorResponses: ErrorResponses
  }
): ResponseEffect => {
  // The router prefers paths without parameters, so requests with the methods of such an endpoint don't get here.
  const others = endpoints.filter((other) => other.reserved !== undefined && other.method !== method)
  if (own !== "/:id" || others.length === 0) return handler
  const allowed = new Map(
    others.map((other) => [other.reserved, allowedOf(other.method === "GET" ? ["GET", "QUERY"] : [other.method])])
  )
  const atOnce = atOnceOf(handler)
  return withAtOnce(
    withIdParameter((id) => {
      const methods = allowed.get(id)
      return methods === undefined ? handler : errorResponses.notAllowed(method, `${path}/${id}`, methods)
    }),
    atOnce && ((request) => allowed.has(request.params["id"] ?? "") ? undefined : atOnce(request))
  )
}

/** The metadata, which says what else the registration serves to its caller. */
const metadataOf = (
  registration: ImplementedResource,
  { hidden, model }: Views.ModelView,
  translations: Translations
): ResponseEffect => {
  const metadata = Metadata.make(model)
  const { calls, name } = registration
  const described = calls.map((call) =>
    labelledCall(name, call, (field, part) => part !== registration.model || !isAmongFields(field, hidden))
  )
  const responseTo = ({ actions, members }: Served) =>
    metadataResponse(translations, metadata, {
      model: registration.model,
      calls: described.filter(({ name }) => actions.includes(name))
    }, members)
  const serves = servesOf(registration)
  if (serves === undefined) return responseTo({ actions: [], members: {} })
  const built = new Map<string, ReturnType<typeof metadataResponse>>()
  return Effect.flatMap(
    serves,
    (served) => getOrMake(built, JSON.stringify(served), () => responseTo(served))
  )
}

/** Builds each variant of the schema at the first request for it, so that a start does not wait for all models. */
const schemaOf = ({ hidden, model }: Views.ModelView, translations: Translations): ResponseEffect => {
  const responseOf = (mongoCompatibility: boolean, additionalProperties: boolean) => {
    const schema = JsonSchema.make(model, { additionalProperties, mongoCompatibility })
    // The schema for MongoDB describes stored documents, which have fields that the wire form omits.
    return responses.json(JSON.stringify(mongoCompatibility ? withoutProperties(schema, hidden) : schema))
  }
  const built = new Map<string, ReturnType<typeof responseOf>>()
  const respondBadRequest = makeBadRequest(translations, parametersOf(expectations(schemaParameters)))
  const read = queryReader(schemaParameters, "is not a parameter of the schema")
  return withParameters((parameters) => {
    const query = read(parameters)
    if (Result.isFailure(query)) return respondBadRequest(query.failure)
    const { additional_properties = "true", mongo = "false" } = query.success
    return Effect.sync(() => {
      const variant = `${mongo} ${additional_properties}`
      return getOrMake(built, variant, () => responseOf(mongo === "true", additional_properties === "true"))
    })
  })
}
