/**
 * The one table of the standard endpoints of a model.
 *
 * Its rows are all that is said of them: the endpoints of the `HttpApi` and their types (`Endpoint`), the routes, the
 * conflicts between registrations, 405 and `Allow`, the operations of the OpenAPI document, and the identifiers that no
 * document can have follow from it. To add an endpoint is to add a row, its handler in `routes/resourceRoutes`, and its
 * texts in `openapi/standardOperations`; the compiler asks for both.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import { NotModifiedWire, Wire } from "../HttpError.ts"
import { OperationCount } from "../Wire.ts"
import {
  byId,
  collection,
  type Representation,
  representation,
  type Result,
  result,
  type Results,
  results,
  selection
} from "./documents.ts"
import { bodyFailures, failures } from "./failures.ts"
import { AggregateQuery, Conditions, GetQuery, listQuery, SchemaQuery, WriteHeaders } from "./requests.ts"

/**
 * The methods that a registration may name.
 *
 * @internal
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** What a row says. What depends on the model is a function of it; what is left out, the endpoint does not have. */
interface Row {
  readonly method: Method
  /** Below the path of the registration. */
  readonly path: "/" | "/:id" | `/${string}`
  /** The method that a registration names to bring the endpoint, or `any`: every registration brings it. */
  readonly broughtBy: Method | "any"
  readonly params?: (model: Model.Any) => Schema.Top
  readonly query?: (model: Model.Any) => Schema.Top
  readonly headers?: Schema.Top
  readonly payload?: (model: Model.Any) => ReadonlyArray<Schema.Top>
  readonly success: (model: Model.Any) => ReadonlyArray<Schema.Top>
  /** Beside those of the application's own. */
  readonly errors: ReadonlyArray<Schema.Top>
}

const Document = Schema.Record(Schema.String, Schema.Unknown)

/**
 * The rows by the names of the endpoints, in the order in which they are read.
 *
 * @internal
 */
export const standardEndpoints = {
  list: {
    method: "GET",
    path: "/",
    broughtBy: "GET",
    query: listQuery,
    success: <M extends Model.Any>(model: M) => [collection(representation(model)), collection(selection(model))],
    errors: [Wire.BadRequest, Wire.Forbidden, ...failures]
  },
  get: {
    method: "GET",
    path: "/:id",
    broughtBy: "GET",
    params: byId,
    query: () => GetQuery,
    headers: Conditions,
    success: <M extends Model.Any>(model: M) => [representation(model), selection(model)],
    errors: [NotModifiedWire, Wire.BadRequest, Wire.NotFound, Wire.PreconditionFailed, ...failures]
  },
  create: {
    method: "POST",
    path: "/",
    broughtBy: "POST",
    headers: WriteHeaders,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["create"] | Schema.$Array<M["create"]>> => [
      model.create,
      Schema.Array(model.create)
    ],
    success: <M extends Model.Any>(model: M): ReadonlyArray<Result<M> | Results<M> | Representation<M>> => [
      ...[result(model), results(model), representation(model)].map((schema) => schema.pipe(HttpApiSchema.status(201))),
      ...[result(model), representation(model)].map((schema) => schema.pipe(HttpApiSchema.status(200)))
    ],
    errors: [Wire.Conflict, Wire.PreconditionFailed, ...bodyFailures]
  },
  replace: {
    method: "PUT",
    path: "/:id",
    broughtBy: "PUT",
    params: byId,
    headers: WriteHeaders,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["create"]> => [model.create],
    success: <M extends Model.Any>(model: M) => [result(model), representation(model)],
    errors: [Wire.NotFound, Wire.Conflict, Wire.PreconditionFailed, ...bodyFailures]
  },
  patch: {
    method: "PATCH",
    path: "/:id",
    broughtBy: "PATCH",
    params: byId,
    headers: WriteHeaders,
    payload: <M extends Model.Any>(model: M): ReadonlyArray<M["patch"]> => [model.patch],
    success: <M extends Model.Any>(model: M) => [result(model), representation(model)],
    errors: [Wire.NotFound, Wire.Conflict, Wire.PreconditionFailed, ...bodyFailures]
  },
  delete: {
    method: "DELETE",
    path: "/:id",
    broughtBy: "DELETE",
    params: byId,
    headers: Conditions,
    success: () => [OperationCount],
    errors: [Wire.BadRequest, Wire.NotFound, Wire.PreconditionFailed, ...failures]
  },
  aggregate: {
    method: "GET",
    path: "/aggregate",
    broughtBy: "GET",
    query: () => AggregateQuery,
    success: () => [collection(Document)],
    errors: [Wire.BadRequest, Wire.Forbidden, ...failures]
  },
  schema: {
    method: "GET",
    path: "/schema",
    broughtBy: "any",
    query: () => SchemaQuery,
    success: () => [Document],
    errors: [Wire.BadRequest, Wire.NotAcceptable]
  },
  meta: {
    method: "GET",
    path: "/meta",
    broughtBy: "any",
    success: () => [Document],
    errors: [Wire.BadRequest, Wire.NotAcceptable]
  }
} as const satisfies { readonly [name: string]: Row }

/**
 * The names of the standard endpoints.
 *
 * @internal
 */
export type Name = keyof typeof standardEndpoints

/**
 * A standard endpoint, as far as it is the same for every model.
 *
 * @internal
 */
export interface StandardEndpoint {
  readonly name: Name
  readonly method: Method
  /** Below the path of the registration; that of the collection is empty. */
  readonly path: "" | `/${string}`
  readonly broughtBy: Method | "any"
  /** Whether a request may have parameters. */
  readonly hasQuery: boolean
  readonly hasBody: boolean
  /** The last segment of the path, where it is no parameter: no document has it as its identifier. */
  readonly reserved: string | undefined
}

/**
 * All of them, in the order of the table.
 *
 * @internal
 */
export const all: ReadonlyArray<StandardEndpoint> = Object.entries(standardEndpoints).map(
  ([name, row]: [string, Row]) => {
    const [reserved = "", ...others] = row.path.split("/").slice(1)
    return {
      name: name as Name, // the keys of the table
      method: row.method,
      path: row.path === "/" ? "" : row.path,
      broughtBy: row.broughtBy,
      hasQuery: row.query !== undefined,
      hasBody: row.payload !== undefined,
      reserved: reserved === "" || reserved.startsWith(":") || others.length > 0 ? undefined : reserved
    }
  }
)

/**
 * Those that a registration with these methods brings.
 *
 * @internal
 */
export const endpointsOf = (methods: ReadonlyArray<Method>): ReadonlyArray<StandardEndpoint> =>
  (["any", ...methods] as const).flatMap((method) => all.filter(({ broughtBy }) => broughtBy === method))

/**
 * The paths at which a document may be looked for: they are there whichever methods a registration names.
 *
 * @internal
 */
export const documentPaths: ReadonlySet<StandardEndpoint["path"]> = new Set(
  all.filter(({ reserved }) => reserved === undefined).map(({ path }) => path)
)

/**
 * What no document can have as its identifier.
 *
 * @internal
 */
export const reservedIds: ReadonlySet<string> = new Set(all.flatMap(({ reserved }) => reserved ?? []))

/**
 * The endpoint of a model as an `HttpApi` has it. `errors` are the application's own: a client takes the first error that
 * an answer fits, so those come first.
 *
 * @internal
 */
export const describe = (
  { name }: StandardEndpoint,
  model: Model.Any,
  errors: ReadonlyArray<Schema.Top>
): HttpApiEndpoint.Constraint => {
  const row: Row = standardEndpoints[name]
  return HttpApiEndpoint.make(row.method)(name, row.path, {
    params: row.params?.(model),
    // Whether texts can stand for the values, and any schema be the payload, the type of a method that varies can't say.
    query: row.query?.(model) as never,
    headers: row.headers as never,
    payload: row.payload?.(model) as never,
    success: row.success(model),
    error: [...errors, ...row.errors]
  })
}
