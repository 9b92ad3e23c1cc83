import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import * as Metadata from "../../Model/Metadata.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { schemaParameters } from "../description/queryParameters.ts"
import { endpointsOf, type Name, type StandardEndpoint } from "../description/standardEndpoints.ts"
import { type HttpError, NotAcceptable } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { en } from "../messages/catalogues/en.ts"
import { translatable } from "../messages/message.ts"
import { queryReader } from "../query/parameterReader.ts"
import { acceptsJson } from "../request/accept.ts"
import type { ResponseEffect } from "../response/callFailures.ts"
import * as responses from "../response/json.ts"
import type { ListResponses } from "../response/listResponse.ts"
import { expectations, inputFields, parameters as parametersOf } from "../response/problemFields.ts"
import { representationOf } from "../response/representation.ts"
import {
  type BadRequestResponder,
  type ErrorResponses,
  makeBadRequest,
  makeErrorResponses,
  metadataResponse
} from "../response/translation.ts"
import type { Translations } from "../Translations.ts"
import { readRoutes } from "./readRoutes.ts"
import {
  allowedOf,
  type Handled,
  headersOf,
  type Route,
  withId,
  withoutParameters,
  withParameters,
  withRequest
} from "./route.ts"
import type { ServedResource } from "./served.ts"
import { writeRoutes } from "./writeRoutes.ts"

/**
 * The routes of a model. Everything that does not depend on a request is prepared here, once.
 *
 * @internal
 */
export const routesOf = (
  registration: ServedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  { limits, lists, translations }: {
    readonly limits: Limits
    readonly lists: ListResponses
    readonly translations: Translations
  }
): ReadonlyArray<Route> => {
  const { model, path } = registration
  const representation = representationOf(registration, repository)
  const places = inputFields(model)
  const respondBadRequest = makeBadRequest(translations, places)
  const errorResponses = makeErrorResponses(translations)
  const handlers: { readonly [N in Name]: ResponseEffect } = {
    ...readRoutes(registration, repository, representation, { limits, lists, places, translations }),
    ...writeRoutes(registration, repository, store, representation, { limits, respondBadRequest }),
    schema: schemaOf(model, translations),
    meta: metadataResponse(translations, Metadata.make(model))
  }
  const endpoints = endpointsOf(registration.methods)
  return endpoints.map((endpoint) => {
    const { hasQuery, method, name } = endpoint
    const handler = unlessReserved(handlers[name], endpoint, { endpoints, path, errorResponses })
    return routeOf(
      {
        method,
        path: `${path}${endpoint.path}`,
        handler: hasQuery ? handler : withoutParameters(handler, respondBadRequest)
      },
      respondBadRequest
    )
  })
}

/**
 * No document has the identifier `schema`, so `PUT …/schema` has only the methods of the endpoint `schema`.
 */
const unlessReserved = (
  handler: ResponseEffect,
  { method, path: own }: StandardEndpoint,
  { endpoints, path, errorResponses }: {
    readonly endpoints: ReadonlyArray<StandardEndpoint>
    readonly path: string
    readonly errorResponses: ErrorResponses
  }
): ResponseEffect => {
  // The router prefers a path without parameters, so a request with one of its methods does not get here.
  const others = endpoints.filter((other) => other.reserved !== undefined && other.method !== method)
  if (own !== "/:id" || others.length === 0) return handler
  const allowed = new Map(others.map((other) => [other.reserved, allowedOf([other.method])]))
  return withId((id) => {
    const methods = allowed.get(id)
    return methods === undefined ? handler : errorResponses.notAllowed(method, `${path}/${id}`, methods)
  })
}

/**
 * A route with JSON responses.
 *
 * @internal
 */
export const routeOf = ({ handler, method, path }: Handled, respondBadRequest: BadRequestResponder): Route => {
  return {
    method,
    path,
    respondBadRequest,
    handler: withRequest((request) => acceptsJson(headersOf(request).accept) ? handler : notAcceptable)
  }
}

const notAcceptable: Effect.Effect<never, HttpError> = Effect.fail(
  translatable(new NotAcceptable({ message: en["errors.NotAcceptable"] }), "errors.NotAcceptable")
)

/** The variants of the schema, built once. */
const schemaOf = (model: Model.Any, translations: Translations): ResponseEffect => {
  const variant = (mongoCompatibility: boolean, additionalProperties: boolean) =>
    responses.json(JSON.stringify(JsonSchema.make(model, { additionalProperties, mongoCompatibility })))
  const plain = { open: variant(false, true), closed: variant(false, false) }
  const mongo = { open: variant(true, true), closed: variant(true, false) }
  const respondBadRequest = makeBadRequest(translations, parametersOf(expectations(schemaParameters)))
  const read = queryReader(schemaParameters, "is not a parameter of the schema")
  return withParameters((parameters) => {
    const query = read(parameters)
    if (Result.isFailure(query)) return respondBadRequest(query.failure)
    const { closed, open } = query.success.mongo === "true" ? mongo : plain
    return Effect.succeed(query.success.additional_properties === "false" ? closed : open)
  })
}
