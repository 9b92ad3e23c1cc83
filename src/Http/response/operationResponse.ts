/** Writes the results of actions and operations as responses. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type * as Views from "../../Access/internal.ts"
import { quote } from "../../internal/json.ts"
import {
  assertSeparable,
  type DocumentForm,
  elementOf,
  formWithout,
  isModelLike,
  jsonCodec,
  type ModelLike
} from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, documentEncoder, identifierOf } from "../../Repository/internal.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { isObject, successOf, templateParts } from "../description/operationEndpoint.ts"
import { encoded } from "../description/pathShape.ts"
import { rawOf } from "../description/raw.ts"
import type { ServiceUnavailable } from "../HttpError.ts"
import type { Call, Registration, ResourceInfo } from "../registration/registration.ts"
import * as responses from "./json.ts"
import { type CallerLinks, none as noLinks, ofResource, type ResourceLinks } from "./links.ts"
import { addAll, type ListResponses } from "./listResponse.ts"

/** The links of a model's documents for callers with the view, and the path of the model's registration. */
export type LinksOf = (
  model: ModelLike,
  view?: Views.ModelView
) => { readonly links: ResourceLinks; readonly path: string } | undefined

/** Dies if a response would contain a model in its stored form, with its omitted fields. */
export const assertShowable = (name: string, options: Call["options"]): void => {
  const success = successOf(options)
  if (rawOf(success) !== undefined) return
  const shown = elementOf(success) ?? success
  if (!isModelLike(shown)) assertSeparable(name, "success", shown, { suspended: true })
}

/** Fills the template of a `Location` with fields of the result; `undefined` if one would lead out of the path. */
const locationBy = (template: string, success: Schema.Top): (value: unknown) => string | undefined => {
  const parts = templateParts(template)
  const of = isObject(success)
    ? (value: unknown, field: string): unknown => Reflect.get(Object(value), field)
    : (value: unknown): unknown => value
  return (value) => {
    const filled = parts.map((part, i) =>
      i % 2 === 1 ? encodeURIComponent(String(of(value, part)).toWellFormed()) : encoded(part)
    )
      .join("")
    // Clients resolve such a segment (RFC 3986, section 5.2.4), and its encoded form as well.
    return /(?:^|\/)\.{1,2}(?:[/?#]|$)/u.test(filled) ? undefined : filled
  }
}

/** Writes the result of a handler. `url` is that of the request. */
type ResultWriter = (
  value: unknown,
  url: string
) => Effect.Effect<HttpServerResponse.HttpServerResponse, ServiceUnavailable | ReadError>

export interface ResultSurroundings {
  /** The links of documents; none if their model is not registered. */
  readonly linksOf: LinksOf
  readonly lists: ListResponses
  /** What callers see of models; `undefined` without access control. */
  readonly views: typeof Views | undefined
}

/** Writes results with the status and the `Location` that the call declares. */
export const resultWriter = (
  options: Call["options"],
  surroundings: ResultSurroundings
): ResultWriter => {
  const respond = responderOf(successOf(options), surroundings)
  const { status } = options
  const locationOf = options.location === undefined ? undefined : locationBy(options.location, successOf(options))
  return status === undefined && locationOf === undefined
    ? respond
    : (value, url) =>
      Effect.map(respond(value, url), (response) => {
        const withStatus = status === undefined ? response : HttpServerResponse.setStatus(response, status)
        const location = locationOf?.(value)
        return location === undefined ? withStatus : HttpServerResponse.setHeader(withStatus, "location", location)
      })
}

const responderOf = (
  success: Schema.Top,
  surroundings: ResultSurroundings
): ResultWriter => {
  if (rawOf(success) !== undefined) {
    return (value) => HttpServerResponse.isHttpServerResponse(value) ? Effect.succeed(value) : Effect.die(noResponse)
  }
  const element = elementOf(success)
  if (isModelLike(success)) {
    const writer = modelWriter(success, surroundings)
    return (value) => Effect.flatMap(writer, (write) => Effect.map(write(value), (text) => responses.json(text)))
  }
  if (element === undefined) {
    const write = valueWriter(success)
    if (isObject(success)) return (value) => Effect.map(write(value), (text) => responses.json(text))
    return (value) => Effect.map(write(value), resultJson)
  }
  const writer = isModelLike(element)
    ? modelWriter(element, surroundings)
    : Effect.succeed(valueWriter(element))
  return (value, url) => {
    if (value === null) return Effect.succeed(resultJson("null"))
    return Effect.flatMap(writer, (write) => {
      const items = surroundings.lists.begin()
      return Effect.map(
        // The schema of the result is a list.
        addAll(items, value as ReadonlyArray<unknown>, write),
        () => items.finish(`"_links":{"self":{"href":${quote(url)}}}`)
      )
    })
  }
}

const resultJson = (text: string) => responses.json(`{"_type":"OperationResult","result":${text}}`)

const noResponse = new Error("The handler of a raw response returned no HttpServerResponse")

type Write = (value: unknown) => Effect.Effect<string>

/** Writes instances as their caller may see them. A caller without a grant to read gets what the handler returns. */
const modelWriter = (
  model: ModelLike,
  { linksOf, views }: ResultSurroundings
): Effect.Effect<Write, ReadError> => {
  const toDocument = documentEncoder(model)
  const { print } = identifierOf(model)
  const writeBy = (formOf: (document: Document) => DocumentForm, links: CallerLinks): Write => (value) => {
    const document = toDocument(value)
    const text = formOf(document).serialise(document, links.of(print(document["_id"]), document))
    return text === undefined ? Effect.die(new Error(`This is no ${model.modelName}`)) : Effect.succeed(text)
  }
  const form = formWithout(model, [])
  const whole = writeBy(() => form, (linksOf(model)?.links ?? noLinks).all)
  const known = new WeakMap<Views.ModelView, ReturnType<LinksOf>>()
  const linksIn = (view: Views.ModelView): ReturnType<LinksOf> => {
    if (!known.has(view)) known.set(view, linksOf(model, view))
    return known.get(view)
  }
  if (views === undefined) return Effect.succeed(whole)
  return Effect.withFiber((fiber) => {
    const decision = Context.get(fiber.context, AccessDecision)
    if (decision === undefined) return Effect.succeed(whole)
    return Effect.flatMap(decision.of(model), (grants) => {
      if (grants === undefined) {
        return Effect.map(
          views.hiddenWithin(model, decision),
          (hidden) => hidden.length === 0 ? whole : writeBy(() => formWithout(model, hidden), noLinks.all)
        )
      }
      const view = views.modelView(model, grants)
      const { formOf } = view.ofCaller(grants)
      const found = linksIn(view)
      return found === undefined
        ? Effect.succeed(writeBy(formOf, noLinks.all))
        : Effect.map(decision.linksAt(found.path), (permitted) => writeBy(formOf, found.links.by(permitted)))
    })
  })
}

const valueWriter = (schema: Schema.Top): Write => {
  // The schemas of results need no services.
  const encode = Schema.encodeUnknownEffect(jsonCodec(schema as Schema.Codec<unknown>))
  return (value) => Effect.orDie(Effect.map(encode(value), (json) => JSON.stringify(json) ?? "null"))
}

/** The links of an action's result: those of its own resource. */
export const linksFrom = (resource: ResourceInfo, linksOf: LinksOf): LinksOf => (model, view) =>
  model === resource.model ? linksAt(resource, view) : linksOf(model, view)

const linksAt = (resource: ResourceInfo, view: Views.ModelView | undefined): ReturnType<LinksOf> =>
  resource.enableHateoas ? { links: ofResource(resource, view), path: resource.path } : undefined

/** The links of documents: those of the first registration of their model that enables links. */
export const linksBy = (registrations: ReadonlyArray<Registration>): LinksOf => {
  const resources = registrations.filter((registration): registration is ResourceInfo =>
    registration._tag === "Resource" && registration.enableHateoas
  )
  return (model, view) => {
    const found = resources.find((resource) => resource.model === model)
    return found === undefined ? undefined : linksAt(found, view)
  }
}
