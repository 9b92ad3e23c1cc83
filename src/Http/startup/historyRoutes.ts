/** The routes of resources that show their history or deleted documents, by the actions of `History`. */
import * as Effect from "effect/Effect"
import type { GuardedEndpoint } from "../../Access/AccessControl.ts"
import type * as Model from "../../Model/Model.ts"
import { AccessDecision, identifierOf } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { filterNamesOf } from "../description/queryParameters.ts"
import * as History from "../History.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { ImplementedOperation, ImplementedResource } from "../routes/implemented.ts"
import type { DeletedHandlers, ResourceSurroundings } from "../routes/resourceRoutes.ts"
import { jsonRoute, withoutParameters, withParameters } from "../routes/route.ts"
import { RegistrationInvalid } from "./registrationInvalid.ts"
import type { RouteSurroundings, ServedRoute } from "./surroundings.ts"

interface Made
  extends
    Pick<RouteSurroundings, "access" | "limits">,
    Pick<ResourceSurroundings, "lists" | "live" | "views">,
    Pick<ServedRoute, "respondBadRequest">
{
  readonly resource: GuardedEndpoint["resource"]
  /** What the registration says of all of its routes. */
  readonly own: Partial<ServedRoute>
  readonly deletedHandlerOf: (name: keyof DeletedHandlers) => ResponseEffect
}

/** What makes the handlers of a resource's actions on deleted documents, loaded by those that have some. */
export const deletedHandlersOf = Effect.fnUntraced(function*({ calls }: Pick<ImplementedResource, "calls">) {
  return calls.some(({ options }) => History.isOfDeleted(History.nameOf(options)))
    ? (yield* Effect.promise(() => import("../history/deletedHandlers.ts"))).deletedHandlers
    : undefined
})

/** The routes and actions of a resource that shows its history: those of others are returned unchanged. */
export const withHistory = Effect.fnUntraced(function*(
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  routes: ReadonlyArray<ServedRoute>,
  made: Made
) {
  const { calls } = registration
  const shown = new Map(calls.flatMap((call) => {
    const name = History.nameOf(call.options)
    return name === undefined ? [] : [[name, call] as const]
  }))
  if (shown.size === 0) return { calls, routes }
  const problem = problemOf(registration, shown)
  if (problem !== undefined) {
    return yield* new RegistrationInvalid({ registration: registration.name, detail: problem })
  }
  const deleted = withDeleted(registration, routes, shown, made)
  return yield* withStates({ ...registration, calls: deleted.calls }, repository, deleted.routes, shown, made)
})

// internal

type Shown = ReadonlyMap<History.Name, ImplementedOperation>

/** What keeps a resource from having the actions, in a sentence. */
const problemOf = ({ methods, model }: ImplementedResource, shown: Shown): string | undefined =>
  shown.has("restore_revision") && !methods.includes("PATCH")
    ? "a restore is a PATCH, which is not among the methods"
    : shown.has("purge") && !methods.includes("DELETE")
    ? "a purge is a DELETE, which is not among the methods"
    : shown.has("deleted") && !methods.includes("GET")
    ? "deleted documents are answered to a GET, which is not among the methods"
    : shown.has("deleted") && filterNamesOf(model).includes("deleted")
    ? `the parameter "deleted" filters by the field of ${model.modelName}, and can't ask for deleted documents`
    : undefined

const permittedBy =
  ({ access }: Made) => (handler: ResponseEffect, endpoint: GuardedEndpoint | undefined): ResponseEffect =>
    access === undefined || endpoint === undefined ? handler : access.permitted(handler, endpoint)

/** An action on deleted documents, as grants name it. */
const deletedEndpoint = (
  { name: registration, rules }: Pick<ImplementedResource, "name" | "rules">,
  { name, path }: ImplementedOperation,
  { resource }: Made,
  more: Partial<GuardedEndpoint>
): GuardedEndpoint => ({
  registration,
  rules,
  name,
  isOperation: true,
  path,
  resource,
  documents: "include",
  ...more
})

/** Adds what is asked by a parameter of a standard endpoint to its route, and the route that restores. */
const withDeleted = (
  { calls, name, path, rules }: ImplementedResource,
  routes: ReadonlyArray<ServedRoute>,
  shown: Shown,
  made: Made
): { readonly calls: ReadonlyArray<ImplementedOperation>; readonly routes: ReadonlyArray<ServedRoute> } => {
  const { deletedHandlerOf, live, own, respondBadRequest: respondOtherwise } = made
  const permitted = permittedBy(made)
  /** The route that answers requests with the parameter by the action's own handler, to those who may call it as well. */
  const asking = (route: ServedRoute, action: "deleted" | "purge", handler: ResponseEffect): ServedRoute => {
    const call = shown.get(action)
    if (call === undefined) return route
    const { handler: otherwise, method, path } = route
    const asked = permitted(handler, deletedEndpoint({ name, rules }, call, made, { asMethod: method, path }))
    return { ...route, handler: withParameters((parameters) => action in parameters ? asked : otherwise) }
  }
  const restore = shown.get("restore")
  const respondBadRequest = routes[0]?.respondBadRequest ?? respondOtherwise
  return {
    calls: calls.filter(({ options }) => !History.isOfDeleted(History.nameOf(options))),
    routes: [
      ...routes.map((route) => {
        const { method, path: place } = route
        return method === "GET" && place === path
          ? asking(route, "deleted", deletedHandlerOf("deletedList"))
          : method === "GET" && place === `${path}/:id`
          ? asking(route, "deleted", deletedHandlerOf("deletedGet"))
          : method === "DELETE" && place === `${path}/:id`
          ? asking(route, "purge", deletedHandlerOf("purge"))
          : route
      }),
      ...restore === undefined ? [] : [{
        ...jsonRoute({
          method: restore.method,
          path: restore.path,
          handler: withoutParameters(deletedHandlerOf("restore"), respondBadRequest),
          respondBadRequest
        }),
        ...own,
        tellsTransaction: live !== undefined,
        endpoint: deletedEndpoint({ name, rules }, restore, made, { documents: "only" })
      }]
    ]
  }
}

/** Finds documents, and deleted ones for those who may also call the action that shows them, within the rows of both. */
const findingDeleted = (
  repository: Repository<Model.Any>,
  { access }: Made,
  endpoint: GuardedEndpoint
): NonNullable<ImplementedOperation["find"]> => {
  const decide = access?.deciding(endpoint).decide
  const { print } = identifierOf(repository.model)
  return (id) => {
    // Only models with soft deletion have the action.
    const deleted = repository.findById(id, { deleted: "only" as never })
    return Effect.catchTag(
      repository.findById(id),
      "DocumentNotFound",
      (error) =>
        decide === undefined ? deleted : Effect.flatMap(decide(print(id)), (decision) =>
          decision === undefined
            ? Effect.fail(error)
            : Effect.andThen(Effect.provideService(deleted, AccessDecision, decision), deleted))
    )
  }
}

/** Adds the handlers of former states, and `as_of`. */
const withStates = Effect.fnUntraced(function*(
  { calls, hooks, model, name, path, rules }: ImplementedResource,
  repository: Repository<Model.Any>,
  routes: ReadonlyArray<ServedRoute>,
  shown: Shown,
  made: Made
) {
  if ([...shown.keys()].every(History.isOfDeleted)) return { calls, routes }
  const { limits, lists, respondBadRequest, views } = made
  const { historyHandlers } = yield* Effect.promise(() => import("../history/historyHandlers.ts"))
  const permitted = permittedBy(made)
  const patch = routes.find((route) => route.method === "PATCH" && route.path === `${path}/:id`)
  const { asOf, handlers } = historyHandlers({
    model,
    path,
    repository,
    lists,
    respondBadRequest,
    hooks,
    limits,
    views,
    patch: patch && permitted(patch.handler, patch.endpoint)
  })
  const deleted = shown.get("deleted")
  const find = deleted === undefined
    ? undefined
    : { find: findingDeleted(repository, made, deletedEndpoint({ name, rules }, deleted, made, { asMethod: "GET" })) }
  return {
    calls: calls.map((call) => {
      const own = History.nameOf(call.options)
      return own === undefined || History.isOfDeleted(own)
        ? call
        : { ...call, handler: handlers[own], responds: true, ...own === "restore_revision" ? {} : find }
    }),
    routes: routes.map((route) => {
      const { endpoint, handler } = route
      return route.method !== "GET" || route.path !== `${path}/:id` || !shown.has("revision") ? route : {
        ...route,
        handler: asOf(
          handler,
          (own) =>
            permitted(own, endpoint && { ...endpoint, name: "revision", isOperation: true, documents: undefined })
        )
      }
    })
  }
})
