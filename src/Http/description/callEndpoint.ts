import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { elementOf, isModelLike } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Wire } from "../HttpError.ts"
import { type ServiceError, wireOf } from "../ServiceError.ts"
import type { Options } from "./callOptions.ts"
import { bodyFailures, failures } from "./declaredFailures.ts"
import { byId, collection, representation } from "./documents.ts"
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
 * A mounted operation or action.
 */
interface Call {
  readonly name: string
  readonly method: Method
  readonly path: `/${string}`
  readonly options: Options
}

/**
 * The endpoint of an operation, or of an action on documents of the model.
 *
 * @internal
 */
export const endpointOf = (
  { method, name, options, path }: Call,
  model?: Model.Any
): HttpApiEndpoint.Constraint => {
  const payload = payloadOf(options)
  const parameters = path.split("/").filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1))
  // A client decodes a response as the first matching error. The application's errors have more fields than the
  // engine's, so they come first.
  const errors: ReadonlyArray<Schema.Top> = [
    ...errorsOf(options).map(wireOf),
    Wire.BadRequest,
    Wire.NotFound,
    Wire.Conflict,
    ...(payload === undefined || !hasBody(method) ? failures : bodyFailures)
  ]
  // The platform sends the payload of a DELETE in the body. Here it is in the query, as for a GET.
  const isPayloadInQuery = method === "DELETE" && payload !== undefined
  const query = { ...(isPayloadInQuery ? payload.fields : {}), ...options.queryParams }
  const endpoint = HttpApiEndpoint.make(method)(name, path, {
    params: parameters.length === 0
      ? undefined
      : Schema.Struct({
        ...Object.fromEntries(parameters.map((name) => [name, Schema.String])),
        ...model === undefined ? {} : byId(model).fields
      }),
    // The type of a dynamic method does not express whether the schemas are valid for the query or the payload.
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
 * Whether values of the schema are sent without an `OperationResult`, since they are objects.
 *
 * @internal
 */
export const isObject = (schema: Schema.Top): boolean =>
  "fields" in schema || schema.ast._tag === "Objects" || "members" in schema && Array.isArray(schema.members)
    && schema.members.every((member) => Schema.isSchema(member) && isObject(member))

/**
 * The parts of a `Location` template: literal texts alternating with field names.
 *
 * @internal
 */
export const partsOf = (template: string): ReadonlyArray<string> => template.split(/\{([^{}]*)\}/u)

/**
 * The fields in the `Location` template that the result does not have.
 *
 * @internal
 */
export const unknownInLocation = (options: Options): ReadonlyArray<string> => {
  const success = successOf(options)
  const fields = "fields" in success ? Object.keys(Object(success.fields)) : isObject(success) ? undefined : ["result"]
  return partsOf(options.location ?? "").filter((part, i) => i % 2 === 1 && fields?.includes(part) === false)
}
