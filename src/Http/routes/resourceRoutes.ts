import * as Effect from "effect/Effect"
import { booleanOf } from "../../internal/booleans.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import * as Metadata from "../../Model/Metadata.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { type HttpError, NotAcceptable } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { en } from "../messages/catalogues/en.ts"
import { sayable } from "../messages/message.ts"
import { described, refusal, type Refuse, telling } from "../messages/translation.ts"
import { parameters as parametersOf, placesIn } from "../messages/translationPlaces.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { ResourceInfo } from "../Registration.ts"
import { acceptsJson } from "../request/accept.ts"
import * as answers from "../response/json.ts"
import type { ListAnswers } from "../response/listAnswer.ts"
import { representationOf } from "../response/representation.ts"
import type { Translations } from "../Translations.ts"
import { readRoutes } from "./readRoutes.ts"
import {
  type Answer,
  type Handled,
  headersOf,
  type Route,
  withoutParameters,
  withParameters,
  withRequest
} from "./route.ts"
import { writeRoutes } from "./writeRoutes.ts"

/**
 * The routes of a model: everything that does not depend on a request is done here, once.
 *
 * @internal
 */
export const routesOf = (
  registration: ResourceInfo,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  { limits, lists, translations }: {
    readonly limits: Limits
    readonly lists: ListAnswers
    readonly translations: Translations
  }
): ReadonlyArray<Route> => {
  const { methods, model, path } = registration
  const representation = representationOf(registration, repository)
  const places = placesIn(model)
  const refuse = refusal(translations, places)
  const tell = telling(translations)
  const writes = writeRoutes(registration, repository, store, representation, { limits, refuse, tell })
  const known = (handler: Answer): Answer => withoutParameters(handler, refuse)
  const routes: ReadonlyArray<Handled> = [
    { method: "GET", path: `${path}/schema`, handler: schemaOf(model, translations) },
    { method: "GET", path: `${path}/meta`, handler: known(described(translations, Metadata.make(model))) },
    ...methods.flatMap((method) =>
      method === "GET"
        ? readRoutes(registration, repository, representation, { limits, lists, places, translations })
        : [{ ...writes[method], handler: known(writes[method].handler) }]
    )
  ]
  return routes.map((route) => routeOf(route, refuse))
}

/**
 * A route that answers JSON.
 *
 * @internal
 */
export const routeOf = ({ handler, method, path }: Handled, refuse: Refuse): Route => {
  return {
    method,
    path,
    refuse,
    handler: withRequest((request) => acceptsJson(headersOf(request).accept) ? handler : notAcceptable)
  }
}

const notAcceptable: Effect.Effect<never, HttpError> = Effect.fail(
  sayable(new NotAcceptable({ message: en["errors.NotAcceptable"] }), "errors.NotAcceptable")
)

/** The schema in each of its forms, which are made once. */
const schemaOf = (model: Model.Any, translations: Translations): Answer => {
  const variant = (mongoCompatibility: boolean, additionalProperties: boolean) =>
    answers.json(JSON.stringify(JsonSchema.make(model, { additionalProperties, mongoCompatibility })))
  const plain = { open: variant(false, true), closed: variant(false, false) }
  const mongo = { open: variant(true, true), closed: variant(true, false) }
  const refuse = refusal(
    translations,
    parametersOf({ mongo: { type: "bool" }, additional_properties: { type: "bool" } })
  )
  return withParameters((parameters) => {
    const problems = Object.keys(parameters).flatMap((name) => {
      const message = name !== "mongo" && name !== "additional_properties"
        ? "is not a parameter of the schema"
        : flagOf(parameters, name) === undefined
        ? "must be true or false"
        : undefined
      return message === undefined ? [] : [{ field: name, validator: "Parameter", message }]
    })
    if (problems.length > 0) return refuse(problems)
    const { closed, open } = flagOf(parameters, "mongo") === true ? mongo : plain
    return Effect.succeed(flagOf(parameters, "additional_properties") === false ? closed : open)
  })
}

const flagOf = (parameters: Parameters, name: string): boolean | undefined => {
  const value = parameters[name]
  return typeof value === "string" ? booleanOf(value) : undefined
}
