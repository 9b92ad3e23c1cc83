/**
 * The standard endpoints of a model, as an `HttpApi` describes them.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import type { Method as StandardMethod, standardEndpoints } from "./standardEndpoints.ts"

/**
 * The methods that a registration may name. `GET` brings the collection, single documents, `aggregate`, `schema` and
 * `meta`.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = StandardMethod

/**
 * The type by which a typed client recognises an endpoint. No endpoint has this property at run time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Standard<Name extends string, M extends Model.Any> {
  readonly name: Name
  readonly model: M
}

// These are interfaces so that editors show their names instead of their contents. `E` are the errors that the
// application's own hooks may fail with.

/**
 * `GET` of the collection: one page.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<M extends Model.Any, E extends Schema.Top = never>
  extends Row<"list", never, Of<typeof table.list.query<M>>, never, Each<typeof table.list.success<M>>, E>
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
  Row<
    "get",
    Of<typeof table.get.params<M>>,
    Of<typeof table.get.query>,
    never,
    Each<typeof table.get.success<M>>,
    E
  >
{
  readonly "~Standard"?: Standard<"get", M>
}

/**
 * `GET` of an aggregation's result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Aggregate<E extends Schema.Top = never>
  extends Row<"aggregate", never, Of<typeof table.aggregate.query>, never, Each<typeof table.aggregate.success>, E>
{}

/**
 * `POST` to the collection.
 *
 * @category models
 * @since 0.1.0
 */
export interface Create<M extends Model.Any, E extends Schema.Top = never> extends
  Row<
    "create",
    never,
    Of<typeof table.create.query>,
    Each<typeof table.create.payload<M>>,
    Each<typeof table.create.success<M>>,
    E
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
  Row<
    "replace",
    Of<typeof table.replace.params<M>>,
    Of<typeof table.replace.query>,
    Each<typeof table.replace.payload<M>>,
    Each<typeof table.replace.success<M>>,
    E
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
  Row<
    "patch",
    Of<typeof table.patch.params<M>>,
    Of<typeof table.patch.query>,
    Each<typeof table.patch.payload<M>>,
    Each<typeof table.patch.success<M>>,
    E
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
export interface Delete<M extends Model.Any, E extends Schema.Top = never>
  extends Row<"delete", Of<typeof table.delete.params<M>>, never, never, Each<typeof table.delete.success>, E>
{}

/**
 * `PUT` of a list of documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReplaceMany<M extends Model.Any, E extends Schema.Top = never> extends
  Row<
    "replace_many",
    never,
    never,
    Each<typeof table.replace_many.payload<M>>,
    Each<typeof table.replace_many.success<M>>,
    E
  >
{}

/**
 * `PATCH` of the documents of a filter, or of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface PatchMany<M extends Model.Any, E extends Schema.Top = never> extends
  Row<
    "patch_many",
    never,
    Of<typeof table.patch_many.query<M>>,
    Each<typeof table.patch_many.payload<M>>,
    Each<typeof table.patch_many.success<M>>,
    E
  >
{}

/**
 * `DELETE` of the documents of a filter.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeleteMany<M extends Model.Any, E extends Schema.Top = never> extends
  Row<
    "delete_many",
    never,
    Of<typeof table.delete_many.query<M>>,
    never,
    Each<typeof table.delete_many.success<M>>,
    E
  >
{}

/**
 * `GET` of the JSON schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonSchema
  extends Row<"schema", never, Of<typeof table.schema.query>, never, Each<typeof table.schema.success>, never>
{}

/**
 * `GET` of the metadata. Every resource with a method has it, so it tells the resource's model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meta<M extends Model.Any>
  extends Row<"meta", never, never, never, Each<typeof table.meta.success>, never>
{
  readonly "~Model"?: M
}

/**
 * The endpoints by method.
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
 * The methods by which many documents may be written.
 *
 * @category models
 * @since 0.1.0
 */
export type ManyMethod = keyof ManyByMethod<Model.Any, ByMethod.NoErrors>

/**
 * The endpoints of many documents by method.
 *
 * @category models
 * @since 0.1.0
 */
export interface ManyByMethod<M extends Model.Any, E extends ByMethod.Errors> {
  readonly PUT: ReplaceMany<M, E["PUT"]>
  readonly PATCH: PatchMany<M, E["PATCH"]>
  readonly DELETE: DeleteMany<M, E["DELETE"]>
}

/**
 * Types of {@link ByMethod}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace ByMethod {
  /**
   * The application's own errors, by method; the methods that admit callers without credentials; and the fields that rules
   * may hide.
   */
  export type Errors = { readonly [K in Method]: Schema.Top } & { readonly open: Method; readonly hidden: string }
  /** No errors, no such method, and no such field. */
  export interface NoErrors {
    readonly GET: never
    readonly POST: never
    readonly PUT: never
    readonly PATCH: never
    readonly DELETE: never
    readonly open: never
    readonly hidden: never
  }
}

/**
 * All endpoints of a resource, under the name of its registration: the standard ones of its methods, and `Actions`.
 *
 * @category models
 * @since 0.1.0
 */
export type Group<
  Name extends string,
  M extends Model.Any,
  Methods extends Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends ByMethod.Errors
> =
  & ([Methods] extends [never] ? HttpApiGroup.HttpApiGroup<Name, Actions> & Undescribed<M>
    : HttpApiGroup.HttpApiGroup<Name, ByMethod<M, E>[Methods] | JsonSchema | Meta<M> | Actions>)
  & ([E["open"]] extends [never] ? unknown : Open<E["open"]>)
  & ([E["hidden"]] extends [never] ? unknown : Hidden<E["hidden"]>)

/**
 * The mark of a resource's group without methods, which tells its model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Undescribed<M extends Model.Any> {
  readonly "~Model"?: M
}

/**
 * The mark of a group with fields that rules may hide, by their dotted paths.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hidden<Fields extends string> {
  readonly "~Hidden"?: Fields
}

/**
 * The fields of a group that rules may hide.
 *
 * @category models
 * @since 0.1.0
 */
export type HiddenIn<Group> = Group extends { readonly "~Hidden"?: infer Fields } ? Extract<Fields, string> : never

/**
 * The endpoints of a resource that only read, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Reads = {
  readonly [N in keyof Table as Table[N]["method"] extends "GET" ? N : never]: Table[N]
}

/**
 * The mark of a group with methods that admit callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface Open<Methods extends Method> {
  readonly "~Open"?: Methods
}

// internal

declare const table: typeof standardEndpoints

type Table = typeof standardEndpoints

/** An endpoint of the table, with the parts that depend on its model as parameters. */
interface Row<
  N extends keyof Table,
  Params extends Schema.Top,
  Query extends Schema.Top,
  Payload extends Schema.Top,
  Success extends Schema.Top,
  E extends Schema.Top
> extends
  HttpApiEndpoint.HttpApiEndpoint<
    N,
    Table[N]["method"],
    Table[N]["path"],
    Params,
    Query,
    Payload,
    Table[N] extends { readonly headers: infer H extends Schema.Top } ? H : never,
    Success,
    Table[N]["errors"][number] | E
  >
{}

type Of<F extends (model: never) => Schema.Top> = ReturnType<F>

type Each<F extends (model: never) => ReadonlyArray<Schema.Top>> = ReturnType<F>[number]
