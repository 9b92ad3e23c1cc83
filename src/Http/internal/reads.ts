import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { quote } from "../../Model/internal/serialiser.ts"
import { managedField } from "../../Model/internal/variants.ts"
import type * as Model from "../../Model/Model.ts"
import type { Problem } from "../../Model/ModelError.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { documentCodec } from "../../Repository/internal/documents.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { Limits } from "../KernelConfig.ts"
import * as Links from "../Links.ts"
import * as QueryGuard from "../QueryGuard.ts"
import type { ResourceInfo } from "../Registration.ts"
import type { Translations } from "../Translations.ts"
import * as UrlQuery from "../UrlQuery.ts"
import * as answers from "./answers.ts"
import { beforeGetOf, hooksOf, unwrapped } from "./hooks.ts"
import { writePlain } from "./plainJson.ts"
import * as preconditions from "./preconditions.ts"
import type { Representation } from "./representation.ts"
import { type Answer, type Handled, headersOf, notFound, withIdAndParameters, withParameters } from "./route.ts"
import { selectionSerialisers } from "./selectionSerialiser.ts"
import { refusal } from "./translation.ts"
import { parameters as parametersOf, type PlaceOf } from "./translationPlaces.ts"

/**
 * What `GET` of a resource brings, but for what describes its model.
 *
 * @internal
 */
export const readRoutes = (
  { hooks, model, path }: ResourceInfo,
  repository: Repository<Model.Any>,
  representation: Representation,
  { limits, places, translations }: {
    readonly limits: Limits
    readonly translations: Translations
    readonly places: PlaceOf
  }
): ReadonlyArray<Handled> => {
  const readQuery = UrlQuery.make(model, limits)
  const readPipeline = QueryGuard.pipeline(model, limits)
  const selected = selectionSerialisers(model)
  const versionField = managedField(model, "version")
  const before = beforeGetOf(hooks)
  const { after } = hooksOf(model, hooks, "GET")
  const { fromDocument } = documentCodec(model)
  const refuse = refusal(translations, parametersOf(collectionParameters(limits), places))
  const timeLimit = limits.queryTimeout

  const refused = (problems: ReadonlyArray<Problem>): Answer => {
    const forbidden = QueryGuard.forbiddenOf(problems)
    return forbidden === undefined ? refuse(problems) : Effect.fail(forbidden)
  }

  const hooked = (id: string | undefined, answer: Answer): Answer =>
    before === undefined
      ? answer
      : Effect.andThen(before({ id: Option.fromUndefinedOr(id), previous: Option.none() }), answer)

  /** Shows the documents to the hooks after reading. */
  const shown = (id: string | undefined, documents: ReadonlyArray<Document>, answer: Answer): Answer =>
    after === undefined ? answer : Effect.andThen(
      Effect.forEach(documents, (document) =>
        Effect.flatMap(
          fromDocument(document),
          (instance) => unwrapped(after(instance, { id: Option.fromUndefinedOr(id), previous: Option.none() }))
        ), { discard: true }),
      answer
    )

  const one = (document: Document, headers: preconditions.Headers, fields: UrlQuery.UrlQuery["fields"]): Answer => {
    const answer = fields === undefined
      ? representation.answer(document)
      : representation.answerBy(selected(fields))(document)
    if (versionField === undefined && headers["if-none-match"] === undefined && headers["if-match"] === undefined) {
      return answer
    }
    const version = versionField === undefined ? undefined : Number(document[versionField])
    const conditions = preconditions.read(headers)
    if (Result.isFailure(conditions)) return refuse(conditions.failure)
    switch (preconditions.ofRead(conditions.success, version)) {
      case "failed":
        return Effect.fail(preconditions.failed)
      case "not modified":
        return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: representation.headersOf(document) }))
      case "proceed":
        return answer
    }
  }

  const get = withIdAndParameters((id, request, parameters) => {
    const names = Object.keys(parameters)
    const read = names.length === 0 ? undefined : readQuery(parameters)
    const unknown = names.filter((name) => name !== "fields")
    if (unknown.length > 0) return refuse(unknown.map(unknownParameter))
    if (read !== undefined && Result.isFailure(read)) return refused(read.failure)
    return hooked(
      id,
      Effect.flatMap(
        repository.findDocumentById(id),
        (document) =>
          document === undefined
            ? Effect.fail(notFound(model, id))
            : shown(id, [document], one(document, headersOf(request), read?.success.fields))
      )
    )
  })

  const pageOf = (
    parameters: UrlQuery.Parameters,
    query: UrlQuery.UrlQuery,
    found: ReadonlyArray<Document>,
    total: number | undefined
  ): Answer => {
    const { documents, hasNext, next } = UrlQuery.pageOf(query, found)
    const serialise = query.fields === undefined ? representation.textOf : representation.textBy(selected(query.fields))
    let items = ""
    for (let i = 0; i < documents.length; i++) {
      const text = serialise(documents[i]!)
      if (text === undefined) return representation.corrupt(documents[i]!)
      items += i === 0 ? text : `,${text}`
    }
    const { page, pageSize } = query
    const links = query.keyset !== undefined
      ? Links.ofCursor(path, parameters, next)
      : Links.ofPage(
        path,
        parameters,
        query.count === "exact"
          ? { page, pageSize, total }
          : { page, pageSize, total, hasNext }
      )
    return shown(undefined, documents, Effect.succeed(answers.json(`{"_type":"list","_items":[${items}],${links}}`)))
  }

  const list = withParameters((parameters) => {
    const read = readQuery(parameters)
    if (Result.isFailure(read)) return refused(read.failure)
    const query = read.success
    // Hooks see whole models.
    const options = { ...query.find, ...(after === undefined ? {} : { projection: undefined }), timeLimit }
    if (query.count === "exact") {
      return hooked(
        undefined,
        Effect.flatMap(
          repository.findAndCountDocuments(options),
          ({ documents, total }) => pageOf(parameters, query, documents, total)
        )
      )
    }
    const estimated = query.count === "estimated" ? repository.estimatedCount : Effect.succeed(undefined)
    return hooked(
      undefined,
      Effect.flatMap(estimated, (total) =>
        Effect.flatMap(
          repository.findDocuments(options),
          (documents) => pageOf(parameters, query, documents, total)
        ))
    )
  })

  const aggregate = withParameters((parameters) => {
    const { pipe, ...others } = parameters
    const unknown = Object.keys(others).map((field) => ({
      field,
      validator: "Parameter",
      message: "is not a parameter of the aggregation"
    }))
    if (typeof pipe !== "string" || unknown.length > 0) {
      return refuse([
        ...(typeof pipe === "string" ? [] : [{ field: "pipe", validator: "Parameter", message: "must be given once" }]),
        ...unknown
      ])
    }
    const read = readPipeline(pipe)
    if (Result.isFailure(read)) return refused(read.failure)
    const documents = Stream.runCollect(repository.aggregate(read.success, { timeLimit }))
    return hooked(
      undefined,
      Effect.map(documents, (documents) => {
        const self = quote(`${path}/aggregate?pipe=${encodeURIComponent(pipe.toWellFormed())}`)
        return answers.json(
          `{"_type":"list","_items":[${documents.map(writePlain).join(",")}],"_links":{"self":{"href":${self}}}}`
        )
      })
    )
  })

  return [
    { method: "GET", path, handler: list },
    { method: "GET", path: `${path}/aggregate`, handler: aggregate },
    { method: "GET", path: `${path}/:id`, handler: get }
  ]
}

const unknownParameter = (field: string) => ({
  field,
  validator: "Parameter",
  message: "is not a parameter of a single document"
})

/** What is known of the collection's parameters, for messages about them. */
const collectionParameters = ({ maxPageSize }: Limits) => ({
  logic: { type: "enum", value: "AND, OR" },
  query: { type: "str" },
  pipe: { type: "str" },
  fields: { type: "str" },
  cursor: { type: "str" },
  count: { type: "enum", value: "exact, estimated, none" },
  page: { type: "int" },
  page_size: { type: "int", value: maxPageSize },
  sort_by: { type: "str" },
  sort_order: { type: "enum", value: "ASC, DESC" }
})
