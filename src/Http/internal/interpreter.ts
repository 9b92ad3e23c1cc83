import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import { completer } from "../../Model/internal/completer.ts"
import { bodyDecoder } from "../../Model/internal/explainer.ts"
import { recordEncoder } from "../../Model/internal/record.ts"
import { compileSerialiser } from "../../Model/internal/serialiser.ts"
import { managedField } from "../../Model/internal/variants.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import * as Metadata from "../../Model/Metadata.ts"
import * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { retryConflicts } from "../../Repository/internal/conflicts.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type { Failure, HttpError } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import * as Links from "../Links.ts"
import type { Method, ResourceInfo } from "../Resource.ts"
import type { Translations } from "../Translations.ts"
import * as UrlQuery from "../UrlQuery.ts"
import * as answers from "./answers.ts"
import { readJson } from "./body.ts"
import { described, refusal, type Refuse } from "./translation.ts"
import { parameters as parametersOf, placesIn } from "./translationPlaces.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure>

/** @internal */
export interface Route {
  readonly method: Method
  readonly path: `/${string}`
  readonly handler: Answer
  /** Says what is wrong with fields, where the handler fails with that. */
  readonly refuse: Refuse
}

/**
 * The routes of a model: everything that does not depend on a request is done here, once.
 *
 * @internal
 */
export const routesOf = (
  { enableHateoas, methods, model, path }: ResourceInfo,
  repository: Repository<Model.Any>,
  { limits, translations }: { readonly limits: Limits; readonly translations: Translations }
): ReadonlyArray<Route> => {
  const links = enableHateoas ? Links.ofDocument(path, methods) : Links.none
  const serialise = compileSerialiser(model)
  const create = bodyDecoder(model.create)
  const patch = bodyDecoder(model.patch)
  const complete = completer(model)
  const toDocument = recordEncoder(model, "_id")
  const readQuery = UrlQuery.make(model, limits)
  const versionField = managedField(model, "version")
  const places = placesIn(model)
  const refuse = refusal(translations, places)
  const refuseQuery = refusal(translations, parametersOf(collectionParameters(limits), places))

  const textOf = (document: Document): string | undefined => serialise(document, links(document["_id"]))

  /** A document that the serialiser can't write is not the model's; the repository says how. */
  const corrupt = (document: Document): Effect.Effect<never, Failure> =>
    Effect.flatMap(
      Effect.catchTag(repository.findById(String(document["_id"])), "DocumentInvalid", Effect.die),
      () => Effect.die(new Error(`${model.modelName} ${String(document["_id"])} can't be written`))
    )

  const one = (document: Document): Answer => {
    const text = textOf(document)
    return text === undefined ? corrupt(document) : Effect.succeed(answers.json(text))
  }

  const get = withId((id) =>
    Effect.flatMap(
      repository.findDocumentById(id),
      (document) => document === undefined ? Effect.fail(notFound(model, id)) : one(document)
    )
  )

  const list: Answer = Effect.withFiber((fiber) => {
    // The router puts the parameters of each request into the context.
    const parameters = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams) as UrlQuery.Parameters
    const read = readQuery(parameters)
    if (Result.isFailure(read)) return refuseQuery(read.failure)
    const query = read.success
    return Effect.flatMap(repository.countDocuments(query.filter), (total) =>
      Effect.flatMap(
        repository.findDocuments({
          filter: query.filter,
          sort: query.sort,
          skip: (query.page - 1) * query.pageSize,
          limit: query.pageSize
        }),
        (documents) => {
          let items = ""
          for (let i = 0; i < documents.length; i++) {
            const text = textOf(documents[i]!)
            if (text === undefined) return corrupt(documents[i]!)
            items += i === 0 ? text : `,${text}`
          }
          const pages = Links.ofPage(path, parameters, { page: query.page, pageSize: query.pageSize, total })
          return Effect.succeed(answers.json(`{"_type":"list","_items":[${items}],${pages}}`))
        }
      ))
  })

  const withBody = (
    decode: Decode,
    types: ReadonlyArray<string>,
    use: (value: Values) => Answer
  ): Answer =>
    Effect.withFiber((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      return Effect.flatMap(readJson(request, types, limits.maxBodySize), (body) => {
        const decoded = decode(body)
        return decoded._tag === "Valid" ? use(decoded.value) : refuse(decoded.problems)
      })
    })

  const replaceOnce = Effect.fnUntraced(function*(id: string, value: Values) {
    const stored = yield* repository.findDocumentById(id)
    if (stored === undefined) return yield* notFound(model, id)
    const version = versionField === undefined ? {} : { [versionField]: value[versionField] ?? stored[versionField] }
    const instance = yield* Model.finalise(model, { ...value, id, ...version })
    yield* repository.replace(instance)
    return answers.operationResult(id)
  })

  /** Without a version in the body, whichever is stored is replaced, however many write at once. */
  const replaceWith = (id: string, value: Values): Answer =>
    versionField === undefined || typeof value[versionField] === "number"
      ? replaceOnce(id, value)
      : retryConflicts(replaceOnce(id, value))

  const insertOrReplace = (id: string, value: Values): Answer =>
    Effect.catchTag(
      replaceWith(id, value),
      "DocumentNotFound",
      () =>
        Effect.catchTag(insert({ ...value }), "DuplicateKey", (error) =>
          // Somebody may have inserted it just now.
          Effect.catchTag(replaceWith(id, value), "DocumentNotFound", () => Effect.fail(error)))
    )

  const insert = (value: Values): Answer =>
    Effect.flatMap(complete(value), (completed) => {
      const document = toDocument(completed)
      const id = document["_id"]
      return Effect.as(
        repository.insertDocument(document),
        answers.operationResult(String(id), 201, Links.hrefOf(path, id))
      )
    })

  const handlers: { readonly [K in Method]: ReadonlyArray<Omit<Route, "refuse">> } = {
    GET: [
      { method: "GET", path, handler: list },
      { method: "GET", path: `${path}/:id`, handler: get }
    ],
    POST: [{
      method: "POST",
      path,
      handler: withBody(create, jsonTypes, (value) => {
        const id = value["id"]
        if (typeof id !== "string") return insert(value)
        const problem = idProblem(id)
        return problem === undefined ? insertOrReplace(id, value) : refuse([problem])
      })
    }],
    PUT: [{
      method: "PUT",
      path: `${path}/:id`,
      handler: withId((id) =>
        withBody(create, jsonTypes, (value) =>
          value["id"] === undefined || value["id"] === id
            ? replaceWith(id, value)
            : refuse([otherId]))
      )
    }],
    PATCH: [{
      method: "PATCH",
      path: `${path}/:id`,
      handler: withId((id) =>
        withBody(patch, patchTypes, (value) =>
          Effect.as(
            Effect.catchTag(repository.patch(id, value), "DocumentInvalid", Effect.die),
            answers.operationResult(id)
          ))
      )
    }],
    DELETE: [{
      method: "DELETE",
      path: `${path}/:id`,
      handler: withId((id) => Effect.as(repository.deleteById(id), answers.operationResult(1)))
    }]
  }

  const routes: ReadonlyArray<Omit<Route, "refuse">> = [
    { method: "GET", path: `${path}/schema`, handler: schemaOf(model, translations) },
    { method: "GET", path: `${path}/meta`, handler: described(translations, Metadata.make(model)) },
    ...methods.flatMap((method) => handlers[method])
  ]
  return routes.map((route) => ({ ...route, refuse }))
}

type Values = Record<string, unknown>

type Decode = ReturnType<typeof bodyDecoder>

const jsonTypes = ["application/json"]

const patchTypes = ["application/json", "application/merge-patch+json"]

const notFound = (model: Model.Any, id: string) => new DocumentNotFound({ model: model.modelName, id })

const otherId = { field: "id", validator: "Id", message: "is not the one in the URL" }

/** Identifiers that no URL leads to: those of the resource's own paths, and those that clients resolve away. */
const unreachable: ReadonlySet<string> = new Set(["schema", "meta", "aggregate", ".", ".."])

const idProblem = (id: string) =>
  unreachable.has(id) || !id.isWellFormed() || id.includes("\0")
    ? { field: "id", validator: "Url", message: "can't be part of a URL" }
    : undefined

/** What is known of the collection's parameters, for messages about them. */
const collectionParameters = ({ maxPageSize }: Limits) => ({
  page: { type: "int" },
  page_size: { type: "int", value: maxPageSize },
  sort_by: { type: "str" },
  sort_order: { type: "enum", value: "ASC, DESC" }
})

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
  return Effect.withFiber((fiber) => {
    // The router puts the parameters of each request into the context.
    const parameters = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams) as UrlQuery.Parameters
    const problems = Object.keys(parameters).flatMap((name) => {
      const message = name !== "mongo" && name !== "additional_properties"
        ? "is not a parameter of the schema"
        : parameters[name] !== "true" && parameters[name] !== "false"
        ? "must be true or false"
        : undefined
      return message === undefined ? [] : [{ field: name, validator: "Parameter", message }]
    })
    if (problems.length > 0) return refuse(problems)
    const { closed, open } = parameters["mongo"] === "true" ? mongo : plain
    return Effect.succeed(parameters["additional_properties"] === "false" ? closed : open)
  })
}

const withId = (use: (id: string) => Answer): Answer =>
  Effect.withFiber((fiber) => {
    // The path of the route has this parameter.
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    return use(params["id"] ?? "")
  })
