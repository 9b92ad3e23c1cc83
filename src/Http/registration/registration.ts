/**
 * The position of resources and services in the API, and their part of the API's description.
 *
 * @since 0.1.0
 */
import type * as ByteSize from "effect/ByteSize"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Job from "../../Jobs/Job.ts"
import type * as Workflows from "../../Jobs/Workflows.ts"
import * as Model from "../../Model/Model.ts"
import type { StoreOptions } from "../../Repository/DocumentStore.ts"
import type * as Repository from "../../Repository/Repository.ts"
import type * as Action from "../Action.ts"
import type * as Endpoint from "../description/endpoint.ts"
import type * as Operation from "../Operation.ts"
import type * as Resource from "../Resource.ts"
import type * as Service from "../Service.ts"
import { type NameOf, segmentOf, serviceSegmentOf } from "./segment.ts"

/**
 * The options of a registration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Name extends string, Many extends Endpoint.ManyMethod = Endpoint.ManyMethod> {
  /** The path before the segment: `/api/v1`. Defaults to none. */
  readonly urlBase?: string | undefined
  /** The first tags of every operation in the OpenAPI document. Default to the segment. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Whether documents have `_links`. Pages always have links to other pages. Defaults to true. */
  readonly enableHateoas?: boolean | undefined
  /**
   * How to treat undeclared keys of a body, at any depth, in documents and in the payloads of actions and operations:
   * ignore them, or respond with a 400 that names them. Defaults to `ignore`. Fields that callers read and can't set,
   * including `_links`, are always ignored. Undeclared query parameters are always a 400.
   */
  readonly onExcessProperty?: "ignore" | "error" | undefined
  /**
   * Whether a `POST` to a model's collection may have a list of documents, which are inserted all or none. Defaults to true.
   */
  readonly lists?: boolean | undefined
  /** Whether there are `schema` and `meta`, which describe the model. Defaults to whether the registration has methods. */
  readonly describes?: boolean | undefined
  /**
   * What a `POST` with the identifier of an existing document does: `replace` the document, or fail with a 409 (`error`), so that
   * `POST` only creates. A list always only creates. Defaults to `server.on_known_id`.
   */
  readonly onKnownId?: "replace" | "error" | undefined
  /**
   * Whether writes take an `Idempotency-Key`, by which a repeated request is answered as the first one, or need one. Each is one
   * transaction then. Defaults to `idempotency.keys`.
   */
  readonly idempotencyKeys?: "none" | "accepted" | "required" | undefined
  /**
   * How the endpoints of a resource read and write its documents in a cluster: see `Repository.withStoreOptions`. Defaults to the
   * options of the repository.
   */
  readonly storeOptions?: StoreOptions | undefined
  /** The segment of the path. Defaults to the plural of the name: {@link SegmentOf}. */
  readonly segment?: string | undefined
  /**
   * The name in the API's description and in its clients. Defaults to the default segment. Two versions of one model
   * need different names.
   */
  readonly name?: Name | undefined
  /**
   * Since when, or from when on, callers should not use the endpoints any more. Every answer says so in a header
   * `Deprecation` (RFC 9745), and the OpenAPI document marks the operations. Defaults to never.
   */
  readonly deprecated?: DateTime.DateTime.Input | undefined
  /**
   * What the audit log has of this registration, where `audit.to` of the configuration is set: nothing, writes and what is denied,
   * or reads as well. Defaults to what `audit.reads` says.
   */
  readonly auditLog?: "off" | "writes" | "reads and writes" | undefined
  /** When the endpoints will be gone: a header `Sunset` (RFC 8594) of every answer. Defaults to never. */
  readonly sunset?: DateTime.DateTime.Input | undefined
  /**
   * The time in which requests have to be answered: then they are interrupted, and the response is a 503. Defaults to
   * `server.response_timeout`, which counts as well if it is shorter.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * The `Cache-Control` of what is read: `max-age=60`. Where a response is for its caller only, it is made `private`. Defaults to
   * none, and to `private, no-cache` for callers.
   */
  readonly cacheControl?: string | undefined
  /** Whether pages have an `ETag`, so that a client which has the page gets a 304. The page is read nevertheless. Defaults to false. */
  readonly pageTags?: boolean | undefined
  /**
   * Whether a `GET` of the list also answers `text/csv` (RFC 4180) and `application/x-ndjson` to clients that ask for these: all
   * documents of the filter, streamed from one state of the collection; and whether a `POST` takes lists of documents in these types.
   * Defaults to false.
   */
  readonly tables?: boolean | TableOptions | undefined
  /**
   * The methods of the resource that the collection has as well: `PATCH` and `DELETE` of the documents of a filter, `PUT` and
   * `PATCH` of a list of documents. Defaults to none.
   */
  readonly many?: ReadonlyArray<Many> | undefined
  /** What holds for the files of the documents. Defaults to no quota, and no resumable uploads. */
  readonly files?: FileOptions | undefined
  /** Which requests come first while some wait (`overload.max_delay`), and are refused last. Defaults to `normal`. */
  readonly priority?: "low" | "normal" | "high" | undefined
}

/**
 * How files come, and how many bytes those of a model's documents may have together. A write that would leave more behind is a 413.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileOptions {
  /** Whether files come in resumable uploads as well, by tus 1.0.0, at `…/uploads` of their fields. Defaults to false. */
  readonly resumable?: boolean | undefined
  /** Of all documents together, also for other registrations of the model: `"10 GiB"`. Defaults to any number. */
  readonly quota?: ByteSize.Input | undefined
  /**
   * Of the documents with the same value of a field, such as their owner: `{ owner: "100 MiB" }`. Of an earlier form, it is a field that the
   * newest one has as well, whatever its name is there. Defaults to any number.
   */
  readonly quotaBy?: { readonly [field: string]: ByteSize.Input } | undefined
}

/**
 * How lists are written as `text/csv`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TableOptions {
  /** Whether the text begins with a byte order mark, by which Excel knows its encoding. Defaults to false. */
  readonly byteOrderMark?: boolean | undefined
  /**
   * Whether a text that a spreadsheet would evaluate, since it begins with `=`, `+`, `-`, `@`, a tab or a carriage return, has an
   * apostrophe before it. Defaults to false, by which cells equal the documents.
   */
  readonly escapeFormulas?: boolean | undefined
}

/**
 * What a `KernelApi` describes.
 *
 * @category models
 * @since 0.1.0
 */
export type Described = Model.Any & Resource.Hookless | Resource.AnyDescription | Service.AnyDescription

/**
 * What an engine serves.
 *
 * @category models
 * @since 0.1.0
 */
export type Target = Model.Any & Resource.Hookless | Resource.Any | Service.Any | Job.Any | Workflows.Implementation

/**
 * The options for a target. A model's resource is made from them.
 *
 * @category models
 * @since 0.1.0
 */
export type OptionsFor<
  T,
  Methods extends ReadonlyArray<Resource.Method>,
  Name extends string,
  Form extends number = never,
  Many extends Endpoint.ManyMethod = Endpoint.ManyMethod
> = T extends { readonly modelName: string } ? ModelOptions<Methods, Name, Form, Many>
  : T extends Job.Any | Workflows.Implementation ? never
  : Options<Name, Many>

/**
 * The target, or its earlier form if it is registered in one. Only `Model.form` with a model knows the types of its fields.
 *
 * @category models
 * @since 0.1.0
 */
export type Formed<T, Form extends number> = [Form] extends [never] ? T
  : Model.Any & { readonly modelName: NameOf<T> }

/**
 * The options for a model that is registered without a resource of its own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelOptions<
  Methods extends ReadonlyArray<Resource.Method>,
  Name extends string,
  Form extends number = never,
  Many extends Endpoint.ManyMethod = Endpoint.ManyMethod
> extends Options<Name, Many> {
  /** Defaults to `["GET"]`: read-only. */
  readonly methods?: Methods | undefined
  /**
   * The number of the earlier form, from 1, that the endpoints have: bodies, filters, schemas, metadata and documentation. It
   * is short for `Model.form(Model, form)`. Defaults to the newest form.
   */
  readonly form?: Form | undefined
}

/**
 * The endpoints of a target, or of what is described.
 *
 * @category models
 * @since 0.1.0
 */
export type GroupOf<
  T,
  Methods extends Resource.Method,
  Name extends string,
  Many extends Endpoint.ManyMethod = never
> = T extends { readonly modelName: string } ? T extends Model.Any ? Endpoint.Group<
      Name,
      T,
      Methods,
      Endpoint.ManyByMethod<T, Endpoint.ByMethod.NoErrors>[Many],
      Endpoint.ByMethod.NoErrors
    >
  : never
  : T extends { readonly description: infer D } ? GroupOf<D, Methods, Name, Many>
  : T extends Resource.Description<infer M, infer Own, infer Actions, infer E> ?
    Endpoint.Group<Name, M, Own, Actions | Endpoint.ManyByMethod<M, E>[Many], E>
  : T extends Service.Description<infer _Name, infer Endpoints> ? HttpApiGroup.HttpApiGroup<Name, Endpoints>
  : never

/**
 * The repository of a registered model.
 *
 * @category models
 * @since 0.1.0
 */
export type RepositoriesOf<T> = T extends { readonly modelName: infer Name extends string }
  ? Repository.RepositoryOf<Name>
  : T extends { readonly description: infer D } ? RepositoriesOf<D>
  : T extends { readonly model: { readonly modelName: infer Name extends string } } ? Repository.RepositoryOf<Name>
  : never

/**
 * The services that the handlers and hooks of a target need.
 *
 * @category models
 * @since 0.1.0
 */
export type RequirementsOf<T> = T extends
  Resource.Implementation<infer _M, infer _Methods, infer _Actions, infer _E, infer R> ? R
  : T extends Service.Implementation<infer _Name, infer _Endpoints, infer R> ? R
  : T extends Job.Implementation<infer _JobName, infer _Payload, infer _E, infer R> ? R
  : T extends Workflows.Implementation<infer R> ? R
  : never

/**
 * A mounted action or operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly name: string
  readonly method: Endpoint.Method
  readonly path: `/${string}`
  readonly options: Action.Options
}

/** What resources and services have in common. */
interface Mounted {
  readonly name: string
  readonly path: `/${string}`
  readonly onExcessProperty: "ignore" | "error"
  readonly calls: ReadonlyArray<Call>
  readonly tags: ReadonlyArray<string>
  /** The names of all given options, including unknown ones. */
  readonly givenOptions: ReadonlyArray<string>
  /** The headers of every response. */
  readonly headers: { readonly [name: string]: string }
  /** Whether `headers` deprecate the endpoints. */
  readonly isDeprecated: boolean
  /** The entries of the audit log; `undefined` for those of the configuration. */
  readonly auditLog: Options<string>["auditLog"]
  /** Whether writes take or need a key; `undefined` for what the configuration says. */
  readonly idempotencyKeys: Options<string>["idempotencyKeys"]
  readonly timeout: Duration.Duration | undefined
  readonly priority: "low" | "normal" | "high"
  /** The headers of responses to `GET` for caches; `undefined` without such options. */
  readonly caching: { readonly cacheControl: string | undefined; readonly pageTags: boolean } | undefined
}

/**
 * A mounted resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceInfo extends Mounted {
  readonly _tag: "Resource"
  readonly description: Resource.AnyDescription
  readonly model: Model.Any
  readonly methods: ReadonlyArray<Endpoint.Method>
  readonly enableHateoas: boolean
  /** Whether a `POST` may have a list of documents. */
  readonly lists: boolean
  /** Whether there are endpoints that describe the model. */
  readonly describes: boolean
  /** What a `POST` with a known identifier does; `undefined` for what the configuration says. */
  readonly onKnownId: Options<string>["onKnownId"]
  readonly storeOptions: StoreOptions | undefined
  readonly files: FileOptions | undefined
  /** How lists are tables; `undefined` if they are not. */
  readonly tables: TableOptions | undefined
  /** The methods of many documents. */
  readonly many: ReadonlyArray<Endpoint.ManyMethod>
}

/**
 * A mounted service.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServiceInfo extends Mounted {
  readonly _tag: "Service"
  readonly description: Service.AnyDescription
}

/**
 * Anything that is registered.
 *
 * @category models
 * @since 0.1.0
 */
export type Registration = ResourceInfo | ServiceInfo

/** The model that is served for a model with these options: itself, or an earlier form of it. @internal */
export const formed = <M extends Model.Any>(
  model: M,
  { form }: { readonly form?: number | undefined } = {}
): M | Model.Any => form === undefined ? model : Model.form(model, form)

/** The options of a registration without those that the resource of a model is made from. @internal */
export const mounting = (
  { form: _form, methods: _methods, ...others }: ModelOptions<ReadonlyArray<Resource.Method>, string, number> = {}
): Options<string> => others

/** Registers a resource. @internal */
export const ofResource = (
  description: Resource.AnyDescription,
  options: Options<string> = {}
): ResourceInfo => {
  const { actions, methods, model } = description
  const place = placeOf(segmentOf(model.modelName), options)
  return {
    _tag: "Resource",
    ...place,
    description,
    model,
    methods,
    enableHateoas: options.enableHateoas ?? true,
    lists: options.lists ?? true,
    describes: options.describes ?? methods.length > 0,
    onKnownId: options.onKnownId,
    storeOptions: options.storeOptions,
    files: options.files,
    tables: options.tables === true ? {} : options.tables === false ? undefined : options.tables,
    many: options.many ?? [],
    calls: actions.map(({ name, options }) => ({
      name,
      options,
      method: methodOf(options),
      path: routeOf([place.path, ":id", options.path ?? name])
    }))
  }
}

/** Registers a service. @internal */
export const ofService = (
  description: Service.AnyDescription,
  registered: Options<string> = {}
): ServiceInfo => {
  const place = placeOf(serviceSegmentOf(description.name), registered)
  return {
    _tag: "Service",
    ...place,
    description,
    calls: description.operations.map(({ name, options }) => {
      const path = options.path ?? name
      return {
        name,
        options,
        method: methodOf(options),
        path: routeOf([path.startsWith("/") ? registered.urlBase ?? "" : place.path, path])
      }
    })
  }
}

// internal

const placeOf = (defaultSegment: string, options: Options<string>) => {
  const { name: own, segment = defaultSegment, tags, urlBase } = options
  return {
    name: own ?? defaultSegment,
    path: routeOf([urlBase ?? "", segment]),
    tags: tags ?? [segment],
    onExcessProperty: options.onExcessProperty ?? "ignore",
    givenOptions: Object.keys(options),
    isDeprecated: options.deprecated !== undefined,
    auditLog: options.auditLog,
    idempotencyKeys: options.idempotencyKeys,
    timeout: options.timeout === undefined ? undefined : Duration.fromInputUnsafe(options.timeout),
    priority: options.priority ?? "normal",
    caching: options.cacheControl === undefined && options.pageTags !== true
      ? undefined
      : { cacheControl: options.cacheControl, pageTags: options.pageTags === true },
    headers: {
      ...(options.deprecated === undefined
        ? {}
        : { deprecation: `@${Math.floor(DateTime.makeUnsafe(options.deprecated).epochMilliseconds / 1000)}` }),
      ...(options.sunset === undefined
        ? {}
        : { sunset: DateTime.toDateUtc(DateTime.makeUnsafe(options.sunset)).toUTCString() })
    }
  }
}

const methodOf = ({ method, payload }: Operation.Options): Endpoint.Method =>
  method ?? (payload === undefined ? "GET" : "POST")

/** Joins the parts into one path of the router, without empty parts and with parameters as `:name`. */
const routeOf = (parts: ReadonlyArray<string>): `/${string}` => {
  const segments = parts.flatMap((part) => part.split("/")).filter((segment) => segment !== "" && segment !== ".")
  return `/${segments.map((segment) => segment.replace(/^\{(\w+)\}$/u, ":$1")).join("/")}`
}
