/**
 * A model as a REST resource: the description of its endpoints, as a group of an `HttpApi`.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import { Wire as Errors } from "./HttpError.ts"
import { Links, OperationCount, OperationResult } from "./Wire.ts"

/**
 * The methods that a registration may name. `GET` brings the collection, single documents, `schema` and `meta`.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * How a model is exposed.
 *
 * @category models
 * @since 0.1.0
 */
export interface RegisterOptions<Methods extends ReadonlyArray<Method>, UrlBase extends string> {
  /** Defaults to `["GET"]`: read-only. */
  readonly methods?: Methods | undefined
  /** What stands before the resource's own segment: `/api/v1`. Defaults to nothing. */
  readonly urlBase?: UrlBase | undefined
  /** Applied to every operation in the OpenAPI document. Defaults to the segment. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Whether documents carry `_links`; pages always link to one another. Defaults to true. */
  readonly enableHateoas?: boolean | undefined
}

/**
 * A registered resource: where it is, and what can be done with it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceInfo {
  readonly model: Model.Any
  readonly path: `/${string}`
  readonly methods: ReadonlyArray<Method>
  readonly enableHateoas: boolean
}

/**
 * The path segment of a model: its name in lower case, in the plural by English rule.
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
 * import { Resource } from "appkernel"
 *
 * Resource.segmentOf("Category") // => "categories"
 * Resource.segmentOf("UserController") // => "users"
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
 * The endpoints of a model `M`, by their names in a client. They are interfaces so that an editor shows their names
 * rather than all that is in them.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Endpoint {
  /** `GET` of the collection: one page. */
  export interface List<M extends Model.Any> extends ListOf<M> {}
  /** `GET` of one document. */
  export interface Get<M extends Model.Any> extends GetOf<M> {}
  /** `POST` to the collection. */
  export interface Create<M extends Model.Any> extends CreateOf<M> {}
  /** `PUT` of one document. */
  export interface Replace<M extends Model.Any> extends ReplaceOf<M> {}
  /** `PATCH` of one document. */
  export interface Patch<M extends Model.Any> extends PatchOf<M> {}
  /** `DELETE` of one document. */
  export interface Delete extends ReturnType<typeof remove> {}
  /** `GET` of the JSON schema. */
  export interface Schema extends ReturnType<typeof schema> {}
  /** `GET` of the metadata. */
  export interface Meta extends ReturnType<typeof meta> {}
}

/**
 * The group of a model's endpoints: one for each method, under the name of the path segment.
 *
 * @category models
 * @since 0.1.0
 */
export type Group<M extends Model.Any, Methods extends Method> = HttpApiGroup.HttpApiGroup<
  Segment<M["modelName"]>,
  Endpoints<M>[Methods] | Endpoint.Schema | Endpoint.Meta
>

/**
 * Describes the endpoints of a model.
 *
 * @category constructors
 * @since 0.1.0
 */
export const group = <M extends Model.Any, const Methods extends ReadonlyArray<Method>>(
  model: M,
  options: { readonly methods: Methods; readonly path: `/${string}`; readonly tags: ReadonlyArray<string> }
): Group<M, Methods[number]> => {
  const name = segmentOf(model.modelName)
  const endpoints = options.methods.flatMap((method) => endpointsOf(model)[method])
  // The list has what the type says for each of the methods, which `flatMap` has forgotten.
  return HttpApiGroup.make(name)
    .add(schema(), meta(), ...endpoints)
    .prefix(options.path)
    .annotate(OpenApi.Title, options.tags[0] ?? name) as unknown as Group<M, Methods[number]>
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

type Endpoints<M extends Model.Any> = {
  readonly GET: Endpoint.List<M> | Endpoint.Get<M>
  readonly POST: Endpoint.Create<M>
  readonly PUT: Endpoint.Replace<M>
  readonly PATCH: Endpoint.Patch<M>
  readonly DELETE: Endpoint.Delete
}

type ListOf<M extends Model.Any> = ReturnType<typeof list<M>>
type GetOf<M extends Model.Any> = ReturnType<typeof get<M>>
type CreateOf<M extends Model.Any> = ReturnType<typeof create<M>>
type ReplaceOf<M extends Model.Any> = ReturnType<typeof replace<M>>
type PatchOf<M extends Model.Any> = ReturnType<typeof patch<M>>

const endpointsOf = (model: Model.Any): { readonly [K in Method]: ReadonlyArray<HttpApiEndpoint.Constraint> } => ({
  GET: [list(model), get(model)],
  POST: [create(model)],
  PUT: [replace(model)],
  PATCH: [patch(model)],
  DELETE: [remove()]
})

const failures = [Errors.NotImplemented, Errors.ServiceUnavailable, Errors.InternalServerError] as const
const bodyFailures = [Errors.BadRequest, Errors.PayloadTooLarge, Errors.UnsupportedMediaType, ...failures] as const

const byId = { id: Schema.String }

const Document = Schema.Record(Schema.String, Schema.Unknown)

type Representation<M extends Model.Any> = Schema.Struct<
  M["wire"]["fields"] & { readonly _links: Schema.optionalKey<typeof Links> }
>

const representation = <M extends Model.Any>(model: M): Representation<M> =>
  Schema.Struct({ ...model.wire.fields, _links: Schema.optionalKey(Links) }).annotate({
    identifier: model.modelName
  })

type Filters<M extends Model.Any> = {
  readonly [K in Exclude<keyof M["wire"]["fields"], "_type">]: Schema.optionalKey<Schema.String>
}

const filters = <M extends Model.Any>(model: M): Filters<M> =>
  Object.fromEntries(
    Object.keys(model.wire.fields).filter((name) => name !== "_type").map((name) => [
      name,
      Schema.optionalKey(Schema.String)
    ])
  ) as Filters<M> // one for each field of the wire form

// Without its name, the compiler takes the type of all models' schemas for that of this model's.
const payloadOf = <S extends Schema.Top>(schema: S): S => schema

const list = <M extends Model.Any>(model: M) =>
  HttpApiEndpoint.get("list", "/", {
    query: Schema.Struct({
      ...filters(model),
      page: Schema.optionalKey(Schema.Int),
      page_size: Schema.optionalKey(Schema.Int),
      sort_by: Schema.optionalKey(Schema.String),
      sort_order: Schema.optionalKey(Schema.Literals(["ASC", "DESC"]))
    }),
    success: Schema.Struct({
      _type: Schema.tag("list"),
      _items: Schema.Array(representation(model)),
      _links: Links
    }),
    error: [Errors.BadRequest, ...failures]
  })

const get = <M extends Model.Any>(model: M) =>
  HttpApiEndpoint.get("get", "/:id", {
    params: byId,
    success: representation(model),
    error: [Errors.NotFound, ...failures]
  })

const create = <M extends Model.Any>(model: M) =>
  HttpApiEndpoint.post("create", "/", {
    payload: payloadOf<M["create"]>(model.create),
    success: [OperationResult.pipe(HttpApiSchema.status(201)), OperationResult.pipe(HttpApiSchema.status(200))],
    error: [Errors.Conflict, ...bodyFailures]
  })

const replace = <M extends Model.Any>(model: M) =>
  HttpApiEndpoint.put("replace", "/:id", {
    params: byId,
    payload: payloadOf<M["create"]>(model.create),
    success: OperationResult,
    error: [Errors.NotFound, Errors.Conflict, ...bodyFailures]
  })

const patch = <M extends Model.Any>(model: M) =>
  HttpApiEndpoint.patch("patch", "/:id", {
    params: byId,
    payload: payloadOf<M["patch"]>(model.patch),
    success: OperationResult,
    error: [Errors.NotFound, Errors.Conflict, ...bodyFailures]
  })

const remove = () =>
  HttpApiEndpoint.delete("delete", "/:id", {
    params: byId,
    success: OperationCount,
    error: [Errors.NotFound, ...failures]
  })

const schema = () =>
  HttpApiEndpoint.get("schema", "/schema", {
    query: Schema.Struct({
      /** Whether it is for MongoDB's own validation. */
      mongo: Schema.optionalKey(Schema.Literals(["true", "false"])),
      /** Whether properties that are not the model's are accepted; they are, unless it says `false`. */
      additional_properties: Schema.optionalKey(Schema.Literals(["true", "false"]))
    }),
    success: Document,
    error: Errors.BadRequest
  })

const meta = () => HttpApiEndpoint.get("meta", "/meta", { success: Document })
