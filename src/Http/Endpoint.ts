/**
 * The standard endpoints of a model, as an `HttpApi` describes them.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import { wireIdOf } from "./description/identifier.ts"
import { deepPartial } from "./description/partialFields.ts"
import { NotModifiedWire, Wire as Errors } from "./HttpError.ts"
import { Links, OperationCount, OperationIds, OperationResult } from "./Wire.ts"

/**
 * The methods that a registration may name. `GET` brings the collection, single documents, `aggregate`, `schema` and
 * `meta`.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * What a typed client knows an endpoint by; no endpoint has it as a value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Standard<Name extends string, M extends Model.Any> {
  readonly name: Name
  readonly model: M
}

// They are interfaces so that an editor shows their names rather than all that is in them. `E` are the errors that the
// application's own hooks may fail with.

/**
 * `GET` of the collection: one page.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "list",
    "GET",
    "/",
    never,
    ListQuery<M>,
    never,
    never,
    Collection<Representation<M>> | Collection<Selection<M>>,
    ReadFailure | WireErrors["BadRequest" | "Forbidden"] | E
  >
{
  readonly "~Standard"?: Standard<"list", M>
}

/**
 * `GET` of one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Get<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "get",
    "GET",
    "/:id",
    ById<M>,
    typeof GetQuery,
    never,
    typeof Conditions,
    Representation<M> | Selection<M>,
    ReadFailure | typeof NotModifiedWire | WireErrors["BadRequest" | "NotFound" | "PreconditionFailed"] | E
  >
{
  readonly "~Standard"?: Standard<"get", M>
}

/**
 * `GET` of what an aggregation pipeline makes of the documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface Aggregate<E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "aggregate",
    "GET",
    "/aggregate",
    never,
    typeof AggregateQuery,
    never,
    never,
    Collection<typeof Document>,
    ReadFailure | WireErrors["BadRequest" | "Forbidden"] | E
  >
{}

/**
 * `POST` to the collection.
 *
 * @category models
 * @since 0.1.0
 */
export interface Create<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "create",
    "POST",
    "/",
    never,
    never,
    M["create"] | Schema.$Array<M["create"]>,
    typeof WriteHeaders,
    Result<M> | Results<M> | Representation<M>,
    BodyFailure | WireErrors["Conflict" | "PreconditionFailed"] | E
  >
{
  readonly "~Standard"?: Standard<"create", M>
}

/**
 * `PUT` of one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replace<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "replace",
    "PUT",
    "/:id",
    ById<M>,
    never,
    M["create"],
    typeof WriteHeaders,
    Result<M> | Representation<M>,
    BodyFailure | WireErrors["NotFound" | "Conflict" | "PreconditionFailed"] | E
  >
{
  readonly "~Standard"?: Standard<"replace", M>
}

/**
 * `PATCH` of one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Patch<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "patch",
    "PATCH",
    "/:id",
    ById<M>,
    never,
    M["patch"],
    typeof WriteHeaders,
    Result<M> | Representation<M>,
    BodyFailure | WireErrors["NotFound" | "Conflict" | "PreconditionFailed"] | E
  >
{
  readonly "~Standard"?: Standard<"patch", M>
}

/**
 * `DELETE` of one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delete<M extends Model.Any, E extends Schema.Top = never> extends
  HttpApiEndpoint.HttpApiEndpoint<
    "delete",
    "DELETE",
    "/:id",
    ById<M>,
    never,
    never,
    typeof Conditions,
    typeof OperationCount,
    ReadFailure | WireErrors["BadRequest" | "NotFound" | "PreconditionFailed"] | E
  >
{}

/**
 * `GET` of the JSON schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonSchema extends
  HttpApiEndpoint.HttpApiEndpoint<
    "schema",
    "GET",
    "/schema",
    never,
    typeof SchemaQuery,
    never,
    never,
    typeof Document,
    WireErrors["BadRequest" | "NotAcceptable"]
  >
{}

/**
 * `GET` of the metadata.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meta extends
  HttpApiEndpoint.HttpApiEndpoint<
    "meta",
    "GET",
    "/meta",
    never,
    never,
    never,
    never,
    typeof Document,
    WireErrors["BadRequest" | "NotAcceptable"]
  >
{}

/**
 * The endpoints that each method brings.
 *
 * @category models
 * @since 0.1.0
 */
export interface ByMethod<M extends Model.Any, E extends ByMethod.Errors> {
  readonly GET: List<M, E["GET"]> | Get<M, E["GET"]> | Aggregate<E["GET"]>
  readonly POST: Create<M, E["POST"]>
  readonly PUT: Replace<M, E["PUT"]>
  readonly PATCH: Patch<M, E["PATCH"]>
  readonly DELETE: Delete<M, E["DELETE"]>
}

/**
 * Types of {@link ByMethod}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace ByMethod {
  /** The errors of the application's own, by method. */
  export type Errors = { readonly [K in Method]: Schema.Top }
  /** None. */
  export interface NoErrors {
    readonly GET: never
    readonly POST: never
    readonly PUT: never
    readonly PATCH: never
    readonly DELETE: never
  }
}

/**
 * The endpoints of a model for one method. `errors` are the application's own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const forMethod = (
  model: Model.Any,
  method: Method,
  errors: ReadonlyArray<Schema.Top>
): ReadonlyArray<HttpApiEndpoint.Constraint> => {
  switch (method) {
    case "GET":
      return [list(model, errors), get(model, errors), aggregate(errors)]
    case "POST":
      return [create(model, errors)]
    case "PUT":
      return [replace(model, errors)]
    case "PATCH":
      return [patch(model, errors)]
    case "DELETE":
      return [remove(model, errors)]
  }
}

/**
 * The endpoints that every model has.
 *
 * @category constructors
 * @since 0.1.0
 */
export const standing = (): ReadonlyArray<HttpApiEndpoint.Constraint> => [schema(), meta()]

/**
 * The identifier of a model's documents as callers see and send it.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<M extends Model.Any> = M["wire"]["fields"] extends { readonly id: infer S extends Schema.Top } ? S
  : Schema.String

/**
 * The parameter of a path that leads to one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface ById<M extends Model.Any> extends Schema.Struct<{ readonly id: Id<M> }> {}

/**
 * The schema of {@link ById}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const byId = <M extends Model.Any>(model: M): ById<M> =>
  // A model whose identifiers are any text, or can't be seen, is addressed by text.
  Schema.Struct({ id: wireIdOf(model) ?? Schema.String }) as never

/**
 * What a write did: the identifier of the document that was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result<M extends Model.Any>
  extends Schema.Struct<{ readonly _type: Schema.tag<"OperationResult">; readonly result: Id<M> }>
{}

/**
 * The schema of {@link Result}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const result = <M extends Model.Any>(model: M): Result<M> => {
  const id = wireIdOf(model)
  // As above.
  return (id === undefined ? OperationResult : Schema.Struct({ ...OperationResult.fields, result: id })) as never
}

/**
 * What the insertion of a list did: the identifiers of the documents, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Results<M extends Model.Any>
  extends Schema.Struct<{ readonly _type: Schema.tag<"OperationResult">; readonly result: Schema.$Array<Id<M>> }>
{}

/**
 * The schema of {@link Results}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const results = <M extends Model.Any>(model: M): Results<M> => {
  const id = wireIdOf(model)
  return (
    // As above.
    id === undefined ? OperationIds : Schema.Struct({ ...OperationIds.fields, result: Schema.Array(id) })
  ) as never
}

/**
 * A document as a caller sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Representation<M extends Model.Any> extends
  Schema.Struct<
    M["wire"]["fields"] & { readonly _links: Schema.optionalKey<typeof Links> }
  >
{}

/**
 * The schema of a document as a caller sees it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const representation = <M extends Model.Any>(model: M): Representation<M> =>
  // The fields are those of the model and the links, which a model of any type can't be seen to have.
  Schema.Struct({ ...model.wire.fields, _links: Schema.optionalKey(Links) }).annotate({
    identifier: model.modelName
  }) as never

/**
 * A document of which a caller sees only the fields that it asks for (`fields`), and the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<M extends Model.Any>
  extends Schema.Codec<Selected<Representation<M>["Type"]>, Selected<Representation<M>["Encoded"]>>
{}

/**
 * Objects within a value that may lack any of their fields, but for `_type` and the identifier of the outermost.
 *
 * @category models
 * @since 0.1.0
 */
export type Selected<T> =
  & { readonly [K in keyof T]?: Partially<T[K]> }
  & { readonly [K in keyof T & ("_type" | "id")]: T[K] }

type Partially<T> = T extends ReadonlyArray<infer Item> ? ReadonlyArray<Partially<Item>>
  : T extends { readonly _type: string } ? { readonly [K in keyof T]?: Partially<T[K]> }
  : T

/**
 * The schema of {@link Selection}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const selection = <M extends Model.Any>(model: M): Selection<M> =>
  // The fields are those of `Representation`, each of them optional.
  deepPartial(representation(model), ["_type", "id"]) as never

/**
 * A list of anything as a caller sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Collection<Item extends Schema.Top> extends
  Schema.Struct<{
    readonly _type: Schema.tag<"list">
    readonly _items: Schema.$Array<Item>
    readonly _links: typeof Links
  }>
{}

/**
 * The schema of a list as a caller sees it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const collection = <Item extends Schema.Top>(item: Item): Collection<Item> =>
  Schema.Struct({ _type: Schema.tag("list"), _items: Schema.Array(item), _links: Links })

/** @internal */
export const failures = [
  Errors.NotAcceptable,
  Errors.NotImplemented,
  Errors.ServiceUnavailable,
  Errors.InternalServerError
] as const

/** @internal */
export const bodyFailures = [
  Errors.BadRequest,
  Errors.PayloadTooLarge,
  Errors.UnsupportedMediaType,
  ...failures
] as const

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type WireErrors = typeof Errors

type ReadFailure = (typeof failures)[number]

type BodyFailure = (typeof bodyFailures)[number]

const text = Schema.optionalKey(Schema.String)

/** The preconditions that requests about one document take (RFC 9110, section 13). */
const conditions = { "if-match": text, "if-none-match": text }

const Conditions = Schema.Struct(conditions)

const WriteHeaders = Schema.Struct({
  ...conditions,
  /** RFC 7240: `return=representation` is answered with the document. */
  prefer: text
})

const GetQuery = Schema.Struct({
  /** The fields to answer, separated by commas. All without it. */
  fields: text
})

const Document = Schema.Record(Schema.String, Schema.Unknown)

const AggregateQuery = Schema.Struct({ pipe: Schema.String })

const SchemaQuery = Schema.Struct({
  /** Whether it is for MongoDB's own validation. */
  mongo: Schema.optionalKey(Schema.Literals(["true", "false"])),
  /** Whether properties that are not the model's are accepted; they are, unless it says `false`. */
  additional_properties: Schema.optionalKey(Schema.Literals(["true", "false"]))
})

/** A condition; a list has several on one field. */
const Filter = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))

const pageParameters = {
  logic: Schema.optionalKey(Schema.Literals(["AND", "OR"])),
  query: Schema.optionalKey(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  page_size: Schema.optionalKey(Schema.Int),
  sort_by: Schema.optionalKey(Schema.String),
  sort_order: Schema.optionalKey(Schema.Literals(["ASC", "DESC"]))
}

/** Where the model has a field of such a name, the parameter is a filter. */
const yieldingParameters = {
  fields: Schema.optionalKey(Schema.String),
  cursor: Schema.optionalKey(Schema.String),
  count: Schema.optionalKey(Schema.Literals(["exact", "estimated", "none"]))
}

type FilterName<M extends Model.Any> = Exclude<keyof M["wire"]["fields"], "_type"> & string

type ListParameters<M extends Model.Any> =
  & { readonly [K in Exclude<FilterName<M>, keyof typeof pageParameters>]: typeof Filter }
  & Omit<typeof yieldingParameters, FilterName<M>>
  & typeof pageParameters

/**
 * The parameters of a collection: filters, also by paths into a field (`address.city`), and those of a page.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListQuery<M extends Model.Any> extends
  Schema.Codec<
    Schema.Struct<ListParameters<M>>["Type"] & PathFilters<M>,
    Schema.Struct<ListParameters<M>>["Encoded"] & PathFilters<M>
  >
{}

/** Filters within a field. */
type PathFilters<M extends Model.Any> = {
  readonly [K in `${FilterName<M>}.${string}`]?: string | ReadonlyArray<string>
}

const listQuery = (model: Model.Any): Schema.Top => {
  const names = Object.keys(model.wire.fields).filter((name) => name !== "_type")
  const filters = Object.fromEntries(names.map((name) => [name, Filter]))
  return Schema.StructWithRest(
    Schema.Struct({ ...yieldingParameters, ...filters, ...pageParameters }),
    [Schema.Record(
      Schema.TemplateLiteral([Schema.Literals(names), ".", Schema.String]),
      Schema.Union([Schema.String, Schema.Array(Schema.String)])
    )]
  )
}

// The values have what the interfaces above say; `E` can't be followed through the platform's constructors. A client takes
// the first error that an answer fits, so those of the application's own come first.

const list = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.get("list", "/", {
    // Texts can stand for all of its values, which a schema of any model can't say.
    query: listQuery(model) as never,
    success: [collection(representation(model)), collection(selection(model))],
    error: [...errors, Errors.BadRequest, Errors.Forbidden, ...failures]
  })

const get = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.get("get", "/:id", {
    params: byId(model),
    query: GetQuery,
    headers: Conditions,
    success: [representation(model), selection(model)],
    error: [...errors, NotModifiedWire, Errors.BadRequest, Errors.NotFound, Errors.PreconditionFailed, ...failures]
  })

const aggregate = (errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.get("aggregate", "/aggregate", {
    query: AggregateQuery,
    success: collection(Document),
    error: [...errors, Errors.BadRequest, Errors.Forbidden, ...failures]
  })

const create = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.post("create", "/", {
    headers: WriteHeaders,
    payload: [model.create, Schema.Array(model.create)],
    success: [
      ...[result(model), results(model), representation(model)].map((schema) => schema.pipe(HttpApiSchema.status(201))),
      ...[result(model), representation(model)].map((schema) => schema.pipe(HttpApiSchema.status(200)))
    ],
    error: [...errors, Errors.Conflict, Errors.PreconditionFailed, ...bodyFailures]
  })

const replace = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.put("replace", "/:id", {
    params: byId(model),
    headers: WriteHeaders,
    payload: model.create,
    success: [result(model), representation(model)],
    error: [...errors, Errors.NotFound, Errors.Conflict, Errors.PreconditionFailed, ...bodyFailures]
  })

const patch = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.patch("patch", "/:id", {
    params: byId(model),
    headers: WriteHeaders,
    payload: model.patch,
    success: [result(model), representation(model)],
    error: [...errors, Errors.NotFound, Errors.Conflict, Errors.PreconditionFailed, ...bodyFailures]
  })

const remove = (model: Model.Any, errors: ReadonlyArray<Schema.Top>) =>
  HttpApiEndpoint.delete("delete", "/:id", {
    params: byId(model),
    headers: Conditions,
    success: OperationCount,
    error: [...errors, Errors.BadRequest, Errors.NotFound, Errors.PreconditionFailed, ...failures]
  })

const schema = () =>
  HttpApiEndpoint.get("schema", "/schema", {
    query: SchemaQuery,
    success: Document,
    error: [Errors.BadRequest, Errors.NotAcceptable]
  })

const meta = () =>
  HttpApiEndpoint.get("meta", "/meta", { success: Document, error: [Errors.BadRequest, Errors.NotAcceptable] })
