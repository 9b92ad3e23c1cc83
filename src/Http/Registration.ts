/**
 * Where a resource or a service is exposed, and what of it the description of the whole service says.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import type * as Repository from "../Repository/Repository.ts"
import type * as Action from "./Action.ts"
import { endpointOf } from "./description/callEndpoint.ts"
import { describe, endpointsOf } from "./description/standardEndpoints.ts"
import { Tags } from "./description/tags.ts"
import type * as Endpoint from "./Endpoint.ts"
import { Wire } from "./HttpError.ts"
import type * as Operation from "./Operation.ts"
import * as Resource from "./Resource.ts"
import type * as Service from "./Service.ts"
import { wireOf } from "./ServiceError.ts"

/**
 * How a resource or a service is exposed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Name extends string> {
  /** What stands before the own segment: `/api/v1`. Defaults to nothing. */
  readonly urlBase?: string | undefined
  /** Stand first among the tags of every operation in the OpenAPI document. Default to the segment. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Whether documents carry `_links`; pages always link to one another. Defaults to true. */
  readonly enableHateoas?: boolean | undefined
  /**
   * What becomes of keys that a body should not have, at any depth, in documents as in the payloads of actions and
   * operations: they are ignored, or a 400 that names them. Defaults to `ignore`. What a caller sees of a model and can't
   * set, `_links` included, is ignored either way. What a query should not have is a 400 in any case.
   */
  readonly onExcessProperty?: "ignore" | "error" | undefined
  /** The segment of the path. Defaults to the name in the plural: {@link segmentOf}. */
  readonly segment?: string | undefined
  /**
   * The name in the description of the whole service and in its clients. Defaults to the one that the segment has by
   * default. Two versions of one model differ by it.
   */
  readonly name?: Name | undefined
}

/**
 * What can be registered.
 *
 * @category models
 * @since 0.1.0
 */
export type Target = Model.Any & Resource.Hookless | Resource.Any | Service.Any

/**
 * The name of what is registered: that of the model, or of the service.
 *
 * @category models
 * @since 0.1.0
 */
export type NameOf<T> = T extends { readonly modelName: infer Name extends string } ? Name
  : T extends { readonly model: { readonly modelName: infer Name extends string } } ? Name
  : T extends { readonly name: infer Name extends string } ? Name
  : never

/**
 * The options for what is registered: a model's resource is made on the way.
 *
 * @category models
 * @since 0.1.0
 */
export type OptionsFor<T, Methods extends ReadonlyArray<Resource.Method>, Name extends string> = T extends
  { readonly modelName: string } ? Resource.Options<Methods> & Options<Name> : Options<Name>

/**
 * The endpoints of what is registered.
 *
 * @category models
 * @since 0.1.0
 */
export type GroupOf<T, Methods extends Resource.Method, Name extends string> = T extends
  Resource.Resource<infer M, infer Own, infer Actions, infer E, infer _R> ? ResourceGroup<Name, M, Own, Actions, E>
  : T extends Service.Service<infer _Name, infer Endpoints, infer _R> ? HttpApiGroup.HttpApiGroup<Name, Endpoints>
  : T extends Model.Any ? ResourceGroup<Name, T, Methods, never, Endpoint.ByMethod.NoErrors>
  : never

/**
 * The repository of the model that is registered.
 *
 * @category models
 * @since 0.1.0
 */
export type RepositoriesOf<T> = T extends { readonly modelName: infer Name extends string }
  ? Repository.RepositoryOf<Name>
  : T extends { readonly model: { readonly modelName: infer Name extends string } } ? Repository.RepositoryOf<Name>
  : never

/**
 * What the handlers and hooks of what is registered need.
 *
 * @category models
 * @since 0.1.0
 */
export type RequirementsOf<T> = T extends
  Resource.Resource<infer _M, infer _Methods, infer _Actions, infer _E, infer R> ? R
  : T extends Service.Service<infer _Name, infer _Endpoints, infer R> ? R
  : never

/**
 * The path segment of a name: in lower case, without `Service`, `Controller` or `Resource` at its end, in the plural by
 * English rule.
 *
 * @category models
 * @since 0.1.0
 */
export type Segment<Name extends string> = Plural<Lowercase<WithoutSuffix<Name>>>

/**
 * The path segment of a name, as its type says.
 *
 * **Example** (Plurals)
 *
 * ```ts
 * import { Registration } from "appkernel"
 *
 * Registration.segmentOf("Category") // => "categories"
 * Registration.segmentOf("UserController") // => "users"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const segmentOf = <const Name extends string>(name: Name): Segment<Name> => {
  const stem = name.replace(/(?<=.)(?:Service|Controller|Resource)$/u, "").toLowerCase()
  const plural = /[^aeiou]y$/u.test(stem)
    ? `${stem.slice(0, -1)}ies`
    : /(?:s|x|z|ch|sh)$/u.test(stem)
    ? `${stem}es`
    : `${stem}s`
  return plural as Segment<Name> // the rules of the type, applied to the value
}

/**
 * The endpoints of a resource, under the name of its registration.
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceGroup<
  Name extends string,
  M extends Model.Any,
  Methods extends Endpoint.Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends Endpoint.ByMethod.Errors
> = HttpApiGroup.HttpApiGroup<
  Name,
  Endpoint.ByMethod<M, E>[Methods] | Endpoint.JsonSchema | Endpoint.Meta | Actions
>

/**
 * An action or an operation at its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly name: string
  readonly method: Endpoint.Method
  readonly path: `/${string}`
  readonly options: Action.Options
  readonly handler: Operation.Any["handler"]
}

/**
 * A resource at its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceInfo {
  readonly _tag: "Resource"
  readonly name: string
  readonly model: Model.Any
  readonly path: `/${string}`
  readonly methods: ReadonlyArray<Endpoint.Method>
  readonly enableHateoas: boolean
  readonly onExcessProperty: "ignore" | "error"
  readonly transactional: boolean
  readonly hooks: ReadonlyArray<Resource.AnyHook>
  readonly calls: ReadonlyArray<Call>
  readonly tags: ReadonlyArray<string>
  /** The names of the options that were given, unknown ones included. */
  readonly givenOptions: ReadonlyArray<string>
}

/**
 * A service at its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServiceInfo {
  readonly _tag: "Service"
  readonly name: string
  readonly path: `/${string}`
  readonly onExcessProperty: "ignore" | "error"
  readonly calls: ReadonlyArray<Call>
  readonly tags: ReadonlyArray<string>
  /** The names of the options that were given, unknown ones included. */
  readonly givenOptions: ReadonlyArray<string>
}

/**
 * Anything that is registered.
 *
 * @category models
 * @since 0.1.0
 */
export type Registration = ResourceInfo | ServiceInfo

/**
 * A resource, exposed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofResource = (resource: Resource.Any, options: Options<string> = {}): ResourceInfo => {
  const place = placeOf(resource.model.modelName, options)
  const { hooks, methods, model, transactional } = resource
  return {
    _tag: "Resource",
    ...place,
    model,
    methods,
    transactional,
    hooks,
    enableHateoas: options.enableHateoas ?? true,
    calls: resource.actions.map((action) => ({
      ...action,
      method: methodOf(action.options),
      path: routeOf([place.path, ":id", action.options.path ?? action.name])
    }))
  }
}

/**
 * A service, exposed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofService = (service: Service.Any, options: Options<string> = {}): ServiceInfo => {
  const place = placeOf(service.name, options)
  return {
    _tag: "Service",
    ...place,
    calls: service.operations.map((operation) => {
      const path = operation.options.path ?? operation.name
      return {
        ...operation,
        method: methodOf(operation.options),
        path: routeOf([path.startsWith("/") ? options.urlBase ?? "" : place.path, path])
      }
    })
  }
}

/**
 * The endpoints of a registration as a group of an `HttpApi`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const group = (registration: Registration): HttpApiGroup.Constraint => {
  const { calls, name, path, tags } = registration
  const standard = registration._tag === "Service" ? [] : standardOf(registration)
  const own: HttpApiGroup.Constraint = HttpApiGroup.make(name).annotate(OpenApi.Title, tags[0] ?? name).annotate(
    Tags,
    tags
  )
  const placed: HttpApiGroup.Constraint = erased(standard.reduce(added, own)).prefix(path)
  const model = registration._tag === "Service" ? undefined : registration.model
  return calls.reduce((group, call) => added(group, endpointOf(call, model)), placed)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type WithoutSuffix<Name extends string> = Name extends `${infer Stem}${"Service" | "Controller" | "Resource"}`
  ? Stem extends "" ? Name : Stem
  : Name

type Vowel = "a" | "e" | "i" | "o" | "u"

type Plural<Name extends string> = Name extends `${string}${Vowel}y` ? `${Name}s`
  : Name extends `${infer Stem}y` ? `${Stem}ies`
  : Name extends `${string}${"s" | "x" | "z" | "ch" | "sh"}` ? `${Name}es`
  : `${Name}s`

// The platform's group has its endpoints in its type, where those of any registration have no names.
const erased = (group: HttpApiGroup.Constraint) => group as HttpApiGroup.Top

const added = (group: HttpApiGroup.Constraint, endpoint: HttpApiEndpoint.Constraint): HttpApiGroup.Constraint =>
  erased(group).add(endpoint)

const placeOf = (name: string, options: Options<string>) => {
  const { name: own, segment = segmentOf(name), tags, urlBase } = options
  return {
    name: own ?? segmentOf(name),
    path: routeOf([urlBase ?? "", segment]),
    tags: tags ?? [segment],
    onExcessProperty: options.onExcessProperty ?? "ignore",
    givenOptions: Object.keys(options)
  }
}

const methodOf = ({ method, payload, requestModel }: Operation.Options): Endpoint.Method =>
  method ?? (payload === undefined && requestModel === undefined ? "GET" : "POST")

/** The parts as one path of the router: without empty ones, parameters as `:name`. */
const routeOf = (parts: ReadonlyArray<string>): `/${string}` => {
  const segments = parts.flatMap((part) => part.split("/")).filter((segment) => segment !== "" && segment !== ".")
  return `/${segments.map((segment) => segment.replace(/^\{(.*)\}$/u, ":$1")).join("/")}`
}

const standardOf = (registration: ResourceInfo): ReadonlyArray<HttpApiEndpoint.Constraint> => {
  const { methods, model } = registration
  const errors = new Map<string, ReadonlyArray<Schema.Top>>(
    methods.map((method) => [method, hookErrorsOf(registration, method)])
  )
  return endpointsOf(methods).map((endpoint) => describe(endpoint, model, errors.get(endpoint.broughtBy) ?? []))
}

const hookErrorsOf = ({ hooks }: ResourceInfo, method: Endpoint.Method): ReadonlyArray<Schema.Top> => {
  const own = hooks.filter(({ name }) => Resource.methodOfHook(name) === method)
  const errors = own.flatMap(({ errors }) => errors)
  return own.length === 0 ? [] : [...[...new Set(errors)].map(wireOf), Wire.BadRequest, Wire.NotFound, Wire.Conflict]
}
