/** Resources and services whose handlers and hooks implement their description apart from it. */
import type { HttpApiEndpoint } from "effect/http-api"
import { type Model, Resource, Service } from "../../src/index.ts"

/** Implements the description of a resource by the resource's own handlers and hooks. */
export const implementedResource = <
  M extends Model.Any,
  Methods extends Resource.Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends Resource.Endpoint.ByMethod.Errors,
  R
>(
  { description, handlers, hooks, transactional }: Resource.Implementation<M, Methods, Actions, E, R>
): Resource.Implementation<M, Methods, Actions, E, R> => {
  const implemented: object = Resource.implement(description, Object.fromEntries(handlers) as never, { transactional })
  return hooks.reduce((current, { hook, name }) => Reflect.get(current, name)(hook), implemented) as never
}

/** Implements the description of a service by the service's own handlers. */
export const implementedService = <Name extends string, Endpoints extends HttpApiEndpoint.Constraint, R>(
  { description, handlers }: Service.Implementation<Name, Endpoints, R>
): Service.Implementation<Name, Endpoints, R> =>
  Service.implement(description, Object.fromEntries(handlers) as never) as never
