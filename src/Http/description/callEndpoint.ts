import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { elementOf, isModelLike } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Wire } from "../HttpError.ts"
import { type ServiceError, wireOf } from "../ServiceError.ts"
import type { Options } from "./callOptions.ts"
import { byId, collection, representation } from "./documents.ts"
import { bodyFailures, failures } from "./failures.ts"
import type { Method } from "./standardEndpoints.ts"
import { Tags } from "./tags.ts"

const errorsOf = ({ error = [] }: Options): ReadonlyArray<ServiceError.Any> => "ast" in error ? [error] : error

/** @internal */
export const successOf = ({ responseModel, success }: Options): Schema.Top => responseModel ?? success ?? Schema.Void

/** @internal */
export const payloadOf = (
  { payload, requestModel }: Options
): Schema.Struct<Schema.Struct.Fields> | undefined =>
  requestModel?.create ?? (payload === undefined ? undefined : Schema.Struct(payload))

/**
 * Whether the payload is in the body; otherwise it is in the query.
 *
 * @internal
 */
export const hasBody = (method: string): boolean => method !== "GET" && method !== "DELETE"

/**
 * An operation or an action at its place.
 */
interface Call {
  readonly name: string
  readonly method: Method
  readonly path: `/${string}`
  readonly options: Options
}

/**
 * The endpoint of an operation, or of an action of a document of the model.
 *
 * @internal
 */
export const endpointOf = (
  { method, name, options, path }: Call,
  model?: Model.Any
): HttpApiEndpoint.Constraint => {
  const payload = payloadOf(options)
  const parameters = path.split("/").filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1))
  // A client takes the first that an answer fits: an error of the application's own has more than one of the engine's.
  const errors: ReadonlyArray<Schema.Top> = [
    ...errorsOf(options).map(wireOf),
    Wire.BadRequest,
    Wire.NotFound,
    Wire.Conflict,
    ...(payload === undefined || !hasBody(method) ? failures : bodyFailures)
  ]
  // The platform gives a DELETE its payload as a body; here it is in the query, as that of a GET.
  const isPayloadInQuery = method === "DELETE" && payload !== undefined
  const query = { ...(isPayloadInQuery ? payload.fields : {}), ...options.queryParams }
  const endpoint = HttpApiEndpoint.make(method)(name, path, {
    params: parameters.length === 0
      ? undefined
      : Schema.Struct({
        ...Object.fromEntries(parameters.map((name) => [name, Schema.String])),
        ...model === undefined ? {} : byId(model).fields
      }),
    // Whether texts can stand for its values, and any schema be the payload, the type of a method that varies can't say.
    query: Object.keys(query).length === 0 ? undefined : Schema.Struct(query) as never,
    payload: isPayloadInQuery ? undefined : payload as never,
    success: HttpApiSchema.status(options.status ?? 200)(answerOf(successOf(options))),
    error: errors
  })
  const { deprecated, description, summary, tags = [] } = options
  return endpoint.annotate(Tags, tags).annotateMerge(OpenApi.annotations({ summary, description, deprecated }))
}

const answerOf = (success: Schema.Top): Schema.Top => {
  if (isModelLike(success)) return representation(success)
  const element = elementOf(success)
  if (element === undefined && isObject(success)) return success
  return element === undefined
    ? Schema.Struct({ _type: Schema.tag("OperationResult"), result: success })
    : collection(isModelLike(element) ? representation(element) : element)
}

/**
 * Whether values of the schema are answered as they are, since they are objects already.
 *
 * @internal
 */
export const isObject = (schema: Schema.Top): boolean =>
  "fields" in schema || schema.ast._tag === "Objects" || "members" in schema && Array.isArray(schema.members)
    && schema.members.every((member) => Schema.isSchema(member) && isObject(member))

/**
 * The parts of the template of a `Location`: texts, and between them the names of fields.
 *
 * @internal
 */
export const partsOf = (template: string): ReadonlyArray<string> => template.split(/\{([^{}]*)\}/u)

/**
 * The fields that the template of the `Location` names and the result does not have.
 *
 * @internal
 */
export const unknownInLocation = (options: Options): ReadonlyArray<string> => {
  const success = successOf(options)
  const fields = "fields" in success ? Object.keys(Object(success.fields)) : isObject(success) ? undefined : ["result"]
  return partsOf(options.location ?? "").filter((part, i) => i % 2 === 1 && fields?.includes(part) === false)
}
