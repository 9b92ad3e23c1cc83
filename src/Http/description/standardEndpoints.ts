/**
 * The table of a model's standard endpoints.
 *
 * Everything about these endpoints follows from its rows: the endpoints of the `HttpApi` and their types (`Endpoint`),
 * the routes, the conflicts between registrations, 405 and `Allow`, the operations of the OpenAPI document, and the
 * identifiers that documents can't have. To add an endpoint, add a row, its handler in `routes/resourceRoutes`, and its
 * texts in `openapi/standardOperations`; the compiler requires both.
 */
import * as Context from "effect/Context"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { loggedTypeId, viewTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { OperationCount } from "../Envelope.ts"
import { NotModifiedResponse, responses } from "../HttpError.ts"
import { bodyFailures, failures } from "./declaredFailures.ts"
import {
  byId,
  changeEvents,
  changeMessages,
  collection,
  type Items,
  items,
  type Representation,
  representation,
  type Result,
  result,
  type Results,
  results,
  selection,
  writtenMany
} from "./documents.ts"
import {
  AggregateQuery,
  changesQuery,
  Conditions,
  GetQuery,
  listQuery,
  manyQuery,
  PreferHeader,
  SchemaQuery,
  WriteHeaders,
  WriteQuery
} from "./requests.ts"

/** The methods of a registration. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** The forms of a document that lacks fields, with the statuses of a write's results. */
const partialResults = ({ method }: Row, model: Model.Any): ReadonlyArray<Schema.Top> =>
  (method === "POST" ? [201, 200] : [200]).map((status) => selection(model).pipe(HttpApiSchema.status(status)))

/** A row of the table. Functions depend on the model. An endpoint has no part that its row leaves out. */
interface Row {
  readonly method: Method
  /** The path below that of the registration. */
  readonly path: "/" | "/:id" | `/${string}`
  /** The method whose registration adds the endpoint, or `any` for those that describe the model. */
  readonly broughtBy: Method | "any"
  /** Only a model whose changes are recorded has it. */
  readonly isOfLogged?: boolean
  /** Only a registration that names the method in `many` has it. */
  readonly isMany?: boolean
  /** The endpoint whose parameters this one takes in the body. */
  readonly asks?: "list"
  readonly params?: (model: Model.Any) => Schema.Top
  readonly query?: (model: Model.Any) => Schema.Top
  readonly headers?: Schema.Top
  readonly payload?: (model: Model.Any, lists: boolean) => ReadonlyArray<Schema.Top>
  readonly success: (model: Model.Any, lists: boolean) => ReadonlyArray<Schema.Top>
  /** The errors besides the application's own. */
  readonly errors: ReadonlyArray<Schema.Top>
}

const Document = Schema.Record(Schema.String, Schema.Unknown)

const manyErrors = [responses.Forbidden, responses.NotFound, responses.Conflict, ...bodyFailures] as const

/** The rows by the names of the endpoints, in reading order. */
export const standardEndpoints = {
  list: {
    method: "GET",
    path: "/",
    broughtBy: "GET",
    query: listQuery,
    success: <M extends Model.Any>(model: M) => [collection(representation(model)), collection(selection(model))],
    errors: [responses.BadRequest, responses.Forbidden, ...failures]
  },
  get: {
    method: "GET",
    path: "/:id",
    broughtBy: "GET",
    params: byId,
    query: () => GetQuery,
    headers: Conditions,
    success: <M extends Model.Any>(model: M) => [representation(model), selection(model)],
    errors: [NotModifiedResponse, responses.BadRequest, responses.NotFound, responses.PreconditionFailed, ...failures]
  },
  create: {
    method: "POST",
    path: "/",
    broughtBy: "POST",
    query: () => WriteQuery,
    headers: WriteHeaders,
    payload: <M extends Model.Any>(
      model: M,
      lists?: boolean
    ): ReadonlyArray<M["create"] | Schema.$Array<M["create"]>> => [
      model.create,
      ...lists === false ? [] : [Schema.Array(model.create)]
    ],
    success: <M extends Model.Any>(
      model: M,
      lists?: boolean
    ): ReadonlyArray<Result<M> | Results<M> | Representation<M>> => [
      ...[result(model), ...lists === false ? [] : [results(model)], representation(model)].map((schema) =>
        schema.pipe(HttpApiSchema.status(201))
      ),
      ...[result(model), representation(model)].map((schema) => schema.pipe(HttpApiSchema.status(200)))
    ],
    errors: [responses.Conflict, responses.PreconditionFailed, ...bodyFailures]
  },
  replace: {
    method: "PUT",
    path: "/:id",
    broughtBy: "PUT",
    params: byId,
    query: () => WriteQuery,
    headers: WriteHeaders,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["create"]> => [model.create],
    success: <M extends Model.Any>(model: M) => [result(model), representation(model)],
    errors: [responses.NotFound, responses.Conflict, responses.PreconditionFailed, ...bodyFailures]
  },
  patch: {
    method: "PATCH",
    path: "/:id",
    broughtBy: "PATCH",
    params: byId,
    query: () => WriteQuery,
    headers: WriteHeaders,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["patch"]> => [model.patch],
    success: <M extends Model.Any>(model: M) => [result(model), representation(model)],
    errors: [responses.NotFound, responses.Conflict, responses.PreconditionFailed, ...bodyFailures]
  },
  delete: {
    method: "DELETE",
    path: "/:id",
    broughtBy: "DELETE",
    params: byId,
    headers: Conditions,
    success: () => [OperationCount],
    errors: [
      responses.BadRequest,
      responses.NotFound,
      responses.Conflict,
      responses.PreconditionFailed,
      ...failures
    ]
  },
  replace_many: {
    method: "PUT",
    path: "/",
    broughtBy: "PUT",
    isMany: true,
    headers: PreferHeader,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<Items<M, "create">> => [items(model, "create")],
    success: writtenMany,
    errors: manyErrors
  },
  patch_many: {
    method: "PATCH",
    path: "/",
    broughtBy: "PATCH",
    isMany: true,
    query: manyQuery,
    headers: PreferHeader,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["patch"] | Items<M, "patch">> => [
      items(model, "patch"),
      model.patch
    ],
    success: writtenMany,
    errors: manyErrors
  },
  delete_many: {
    method: "DELETE",
    path: "/",
    broughtBy: "DELETE",
    isMany: true,
    query: manyQuery,
    headers: PreferHeader,
    success: writtenMany,
    errors: manyErrors
  },
  aggregate: {
    method: "GET",
    path: "/aggregate",
    broughtBy: "GET",
    query: () => AggregateQuery,
    success: () => [collection(Document)],
    errors: [responses.BadRequest, responses.Forbidden, ...failures]
  },
  query: {
    method: "POST",
    path: "/query",
    broughtBy: "GET",
    asks: "list",
    payload: () => [Document],
    success: <M extends Model.Any>(model: M) => [collection(representation(model)), collection(selection(model))],
    errors: [responses.Forbidden, ...bodyFailures]
  },
  changes: {
    method: "GET",
    path: "/changes",
    broughtBy: "GET",
    isOfLogged: true,
    query: changesQuery,
    success: (model: Model.Any) => [changeMessages(model), HttpApiSchema.NoContent, changeEvents],
    errors: [responses.BadRequest, responses.Forbidden, responses.Gone, responses.TooManyRequests, ...failures]
  },
  schema: {
    method: "GET",
    path: "/schema",
    broughtBy: "any",
    query: () => SchemaQuery,
    success: () => [Document],
    errors: [responses.BadRequest, responses.NotAcceptable]
  },
  meta: {
    method: "GET",
    path: "/meta",
    broughtBy: "any",
    success: () => [Document],
    errors: [responses.BadRequest, responses.NotAcceptable]
  }
} as const satisfies { readonly [name: string]: Row }

/** The names of the standard endpoints. @internal */
export type Name = keyof typeof standardEndpoints

/** A standard endpoint without the parts that depend on the model. @internal */
export interface StandardEndpoint {
  readonly name: Name
  readonly method: Method
  /** The path below that of the registration; empty for the collection. */
  readonly path: "" | `/${string}`
  readonly broughtBy: Method | "any"
  /** Whether requests may have query parameters. */
  readonly hasQuery: boolean
  /** Only a model whose changes are recorded has it. */
  readonly isOfLogged: boolean
  /** Only a registration that names the method in `many` has it. */
  readonly isMany: boolean
  /** The endpoint whose parameters this one takes in the body. Both have the same rules, limits and handler. */
  readonly asks: "list" | undefined
  /** The last segment of the path, unless it is a parameter. No document can have it as its identifier. */
  readonly reserved: string | undefined
}

/** All standard endpoints, in the order of the table. @internal */
export const allStandardEndpoints: ReadonlyArray<StandardEndpoint> = Object.entries(standardEndpoints).map(
  ([name, row]: [string, Row]) => {
    const [reserved = "", ...others] = row.path.split("/").slice(1)
    return {
      name: name as Name, // the keys of the table
      method: row.method,
      path: row.path === "/" ? "" : row.path,
      broughtBy: row.broughtBy,
      hasQuery: row.query !== undefined,
      asks: row.asks,
      isOfLogged: row.isOfLogged === true,
      isMany: row.isMany === true,
      reserved: reserved === "" || reserved.startsWith(":") || others.length > 0 ? undefined : reserved
    }
  }
)

/** Whether the changes of a model are recorded. An earlier form has those of its model. @internal */
export const isLogged = (model: Model.Any): boolean => {
  // Only `Model.form` sets this property.
  const view = Reflect.get(model, viewTypeId) as { readonly model: object } | undefined
  return Reflect.has(view?.model ?? model, loggedTypeId)
}

/** The endpoints of a registration with the methods. @internal */
export const endpointsOf = ({ describes, many = [], methods, model }: {
  readonly methods: ReadonlyArray<Method>
  /** The methods of many documents. Default to none. */
  readonly many?: ReadonlyArray<Method> | undefined
  readonly model: Model.Any
  /** Whether there are the endpoints that describe the model. */
  readonly describes: boolean
}): ReadonlyArray<StandardEndpoint> => {
  const own = isLogged(model) ? allStandardEndpoints : allStandardEndpoints.filter(({ isOfLogged }) => !isOfLogged)
  return [...describes ? ["any" as const] : [], ...methods].flatMap((method) =>
    own.filter(({ broughtBy, isMany }) => broughtBy === method && (!isMany || many.some((name) => name === method)))
  )
}

/** The paths of single documents. They exist whichever methods a registration has. @internal */
export const documentPaths: ReadonlySet<StandardEndpoint["path"]> = new Set(
  allStandardEndpoints.filter(({ reserved }) => reserved === undefined).map(({ path }) => path)
)

/** The identifiers that no document of the model can have. @internal */
export const reservedIdsOf = (model: Model.Any): ReadonlyArray<string> =>
  allStandardEndpoints.flatMap(({ isOfLogged, reserved }) =>
    reserved === undefined || isOfLogged && !isLogged(model) ? [] : [reserved]
  )

/** The model of a standard endpoint, which tells it from an action of the same name. @internal */
export class StandardOf extends Context.Service<StandardOf, Model.Any>()(
  "appkernel/Http/description/standardEndpoints/StandardOf"
) {}

/**
 * The endpoint of a model for its `HttpApi`. `errors` are the application's own. A client decodes a response as the
 * first matching error, so they come first.
 *
 * @internal
 */
export const describeEndpoint = (
  { name }: StandardEndpoint,
  model: Model.Any,
  errors: ReadonlyArray<Schema.Top>,
  { isPartial = false, lists = true }: {
    /** Whether callers may lack fields. Defaults to false. */
    readonly isPartial?: boolean | undefined
    /** Whether a `POST` may have a list of documents. Defaults to true. */
    readonly lists?: boolean | undefined
  } = {}
): HttpApiEndpoint.Constraint => {
  const row: Row = standardEndpoints[name]
  const isWrite = row.payload !== undefined && row.asks === undefined
  return HttpApiEndpoint.make(row.method)(name, row.path, {
    params: row.params?.(model),
    // The type of a dynamic method does not express whether the schemas are valid for the query or the payload.
    query: row.query?.(model) as never,
    headers: row.headers as never,
    payload: row.payload?.(model, lists) as never,
    // Reads may lack fields anyway, since callers select them.
    success: [...row.success(model, lists), ...isPartial && isWrite ? partialResults(row, model) : []],
    error: [...errors, ...row.errors]
  }).annotate(StandardOf, model)
}
