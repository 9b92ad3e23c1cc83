import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { elementOf, isModelLike } from "../../Model/internal/variants.ts"
import * as Endpoint from "../Endpoint.ts"
import { Wire } from "../HttpError.ts"
import type * as Operation from "../Operation.ts"
import type { Call } from "../Registration.ts"
import { type ServiceError, wireOf } from "../ServiceError.ts"
import { Tags } from "./apiAnnotations.ts"

const errorsOf = ({ error = [] }: Operation.Options): ReadonlyArray<ServiceError.Any> =>
  "ast" in error ? [error] : error

/** @internal */
export const successOf = ({ responseModel, success }: Operation.Options): Schema.Top =>
  responseModel ?? success ?? Schema.Void

/** @internal */
export const payloadOf = (
  { payload, requestModel }: Operation.Options
): Schema.Struct<Schema.Struct.Fields> | undefined =>
  requestModel?.create ?? (payload === undefined ? undefined : Schema.Struct(payload))

/**
 * Whether the payload is in the body; otherwise it is in the query.
 *
 * @internal
 */
export const hasBody = (method: string): boolean => method !== "GET"

/**
 * The endpoint of an action or an operation.
 *
 * @internal
 */
export const endpointOf = ({ method, name, options, path }: Call): HttpApiEndpoint.Constraint => {
  const payload = payloadOf(options)
  const parameters = path.split("/").filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1))
  // A client takes the first that an answer fits: an error of the application's own has more than one of the engine's.
  const errors: ReadonlyArray<Schema.Top> = [
    ...errorsOf(options).map(wireOf),
    Wire.BadRequest,
    Wire.NotFound,
    Wire.Conflict,
    ...(payload === undefined ? Endpoint.failures : Endpoint.bodyFailures)
  ]
  const endpoint = HttpApiEndpoint.make(method)(name, path, {
    params: parameters.length === 0
      ? undefined
      : Schema.Struct(Object.fromEntries(parameters.map((name) => [name, Schema.String]))),
    // Whether texts can stand for its values, and any schema be the payload, the type of a method that varies can't say.
    query: options.queryParams === undefined ? undefined : Schema.Struct(options.queryParams) as never,
    payload: payload as never,
    success: answerOf(successOf(options)),
    error: errors
  })
  const { deprecated, description, summary, tags = [] } = options
  return endpoint.annotate(Tags, tags).annotateMerge(OpenApi.annotations({ summary, description, deprecated }))
}

const answerOf = (success: Schema.Top): Schema.Top => {
  if (isModelLike(success)) return Endpoint.representation(success)
  const element = elementOf(success)
  return element === undefined
    ? Schema.Struct({ _type: Schema.tag("OperationResult"), result: success })
    : Endpoint.collection(isModelLike(element) ? Endpoint.representation(element) : element)
}
