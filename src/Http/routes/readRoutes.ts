import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { quote } from "../../internal/json.ts"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { documentCodec } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { aggregationParameters, overridableParameters, pageParameters } from "../description/queryParameters.ts"
import { standardEndpoints } from "../description/standardEndpoints.ts"
import type { Limits } from "../KernelConfig.ts"
import * as QueryGuard from "../query/nativeQuery.ts"
import { queryReader } from "../query/parameterReader.ts"
import * as UrlQuery from "../query/urlQuery.ts"
import type { ResourceInfo } from "../Registration.ts"
import * as preconditions from "../request/preconditions.ts"
import type { Answer } from "../response/callFailures.ts"
import * as Links from "../response/links.ts"
import { addAll, type ListAnswer, type ListAnswers } from "../response/listAnswer.ts"
import { writePlain } from "../response/plainJson.ts"
import { expectations, type FieldResolver, parameters as parametersOf } from "../response/problemFields.ts"
import type { Representation } from "../response/representation.ts"
import { selectionSerialisers } from "../response/selection.ts"
import { type BadRequestResponder, makeBadRequest } from "../response/translation.ts"
import type { Translations } from "../Translations.ts"
import { beforeGetOf, hooksOf, unwrapped } from "./hooks.ts"
import { Page } from "./pageRoutes.ts"
import { headersOf, notFound, withIdAndParameters, withParameters } from "./route.ts"

/**
 * The routes of `GET`, except those that describe the model.
 *
 * @internal
 */
export const readRoutes = (
  resource: ResourceInfo,
  repository: Repository<Model.Any>,
  representation: Representation,
  surroundings: Surroundings
): { readonly [N in "list" | "get" | "aggregate"]: Answer } => {
  const context = readContext(resource, repository, representation, surroundings)
  return { list: listRoute(context), get: getRoute(context), aggregate: aggregateRoute(context) }
}

interface Surroundings {
  readonly limits: Limits
  readonly lists: ListAnswers
  readonly translations: Translations
  readonly places: FieldResolver
}

/** What the reads of a resource have in common: where they read, how they answer, and its hooks. */
interface ReadContext {
  readonly model: Model.Any
  readonly path: string
  readonly repository: Repository<Model.Any>
  readonly representation: Representation
  readonly limits: Limits
  readonly lists: ListAnswers
  /** The serialiser of the selected fields. */
  readonly selected: ReturnType<typeof selectionSerialisers>
  readonly respondBadRequest: BadRequestResponder
  /** Like `respondBadRequest`, but answers 403 if a problem is an operator that is forbidden. */
  readonly rejectQuery: (problems: ReadonlyArray<Problem>) => Answer
  /** Runs the hooks before a read. */
  readonly hooked: (id: Option.Option<unknown>, answer: Answer) => Answer
  /** Whether hooks after a read need the documents. */
  readonly isShown: boolean
  /** Passes documents to the hooks after a read. */
  readonly shown: (id: Option.Option<unknown>, documents: ReadonlyArray<Document>, answer: Answer) => Answer
}

const readContext = (
  { hooks, model, path }: ResourceInfo,
  repository: Repository<Model.Any>,
  representation: Representation,
  { limits, lists, places, translations }: Surroundings
): ReadContext => {
  const before = beforeGetOf(hooks)
  const { after } = hooksOf(model, hooks, "GET")
  const { fromDocument } = documentCodec(model)
  const described = { ...pageParameters(limits), ...overridableParameters, ...aggregationParameters }
  const respondBadRequest = makeBadRequest(translations, parametersOf(expectations(described), places))
  return {
    model,
    path,
    repository,
    representation,
    limits,
    lists,
    selected: selectionSerialisers(model),
    respondBadRequest,
    rejectQuery: (problems) => {
      const forbidden = QueryGuard.forbiddenOf(problems)
      return forbidden === undefined ? respondBadRequest(problems) : Effect.fail(forbidden)
    },
    hooked: (id, answer) =>
      before === undefined
        ? answer
        : Effect.andThen(before({ id, previous: Option.none() }), answer),
    isShown: after !== undefined,
    shown: (id, documents, answer) =>
      after === undefined ? answer : Effect.andThen(
        Effect.forEach(documents, (document) =>
          Effect.flatMap(
            fromDocument(document),
            (instance) => unwrapped(after(instance, { id, previous: Option.none() }))
          ), { discard: true }),
        answer
      )
  }
}

// -----------------------------------------------------------------------------
// one document
// -----------------------------------------------------------------------------

const getRoute = (context: ReadContext): Answer => {
  const { hooked, model, repository, respondBadRequest, shown } = context
  const readSelection = UrlQuery.selection(model)
  const answerOf = documentAnswer(context)
  return withIdAndParameters(model, (id, request, parameters) => {
    const read = Object.keys(parameters).length === 0 ? everything : readSelection(parameters)
    if (Result.isFailure(read)) return respondBadRequest(read.failure)
    return hooked(
      Option.some(id),
      Effect.flatMap(
        repository.findDocumentById(id),
        (document) =>
          document === undefined
            ? Effect.fail(notFound(model, id))
            : shown(Option.some(id), [document], answerOf(document, headersOf(request), read.success))
      )
    )
  })
}

/** Answers with a document, under the preconditions of the headers. */
const documentAnswer = ({ model, representation, respondBadRequest, selected }: ReadContext) => {
  const versionField = managedField(model, "version")
  return (document: Document, headers: preconditions.Headers, fields: UrlQuery.UrlQuery["fields"]): Answer => {
    const answer = fields === undefined
      ? representation.answer(document)
      : representation.answerBy(selected(fields))(document)
    if (versionField === undefined && headers["if-none-match"] === undefined && headers["if-match"] === undefined) {
      return answer
    }
    const version = versionField === undefined ? undefined : Number(document[versionField])
    const conditions = preconditions.read(headers)
    if (Result.isFailure(conditions)) return respondBadRequest(conditions.failure)
    switch (preconditions.ofRead(conditions.success, version)) {
      case "failed":
        return Effect.fail(preconditions.failed)
      case "not modified":
        return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: representation.headersOf(document) }))
      case "proceed":
        return answer
    }
  }
}

/** The query of a document's URL without parameters. */
const everything: Result.Result<UrlQuery.UrlQuery["fields"], never> = Result.succeed(undefined)

// -----------------------------------------------------------------------------
// a collection
// -----------------------------------------------------------------------------

const listRoute = (context: ReadContext): Answer => {
  const {
    hooked,
    isShown,
    limits,
    lists,
    model,
    path,
    rejectQuery,
    repository,
    representation,
    respondBadRequest,
    selected,
    shown
  } = context
  const readQuery = UrlQuery.make(model, limits)
  const { maxPageBytes, queryTimeout: timeLimit } = limits
  return withParameters((parameters) => {
    const read = readQuery(parameters)
    if (Result.isFailure(read)) return rejectQuery(read.failure)
    const query = read.success
    const serialise = query.fields === undefined ? representation.textOf : representation.textBy(selected(query.fields))

    /** Writes a page while `find` reads it. A large page is reserved and read again. */
    const answer = (items: ListAnswer, find: (take: Page["take"]) => Effect.Effect<number | undefined, ReadError>) => {
      const page = new Page(query, serialise, items, isShown)
      return Effect.flatMap(find(page.take), (total): Answer => {
        const { ended } = page
        if (ended === "large") {
          const reserved = lists.begin(maxPageBytes)
          return Effect.andThen(
            reserved.reserve,
            answer(reserved, (take) => Effect.as(repository.findDocuments({ ...options, take }), total))
          )
        }
        if (typeof ended === "object") return representation.corrupt(ended.corrupt)
        // The next numbered page would skip the remaining documents.
        if (ended === "too large" && query.keyset === undefined) {
          return respondBadRequest([tooLarge("page_size", maxPageBytes, pageAdvice)])
        }
        const links = linksOf(path, parameters, query, page, total)
        const counted = query.count === "exact" ? { "x-total-count": String(total) } : undefined
        return shown(Option.none(), page.documents, Effect.sync(() => items.finish(links, counted)))
      })
    }

    // Hooks receive complete models.
    const options = { ...query.find, ...(isShown ? { projection: undefined } : {}), timeLimit }
    const find = (take: Page["take"]) =>
      query.count === "exact"
        ? Effect.map(repository.findAndCountDocuments({ ...options, take }), ({ total }): number | undefined => total)
        : Effect.flatMap(
          query.count === "estimated" ? repository.estimatedCount : Effect.succeed(undefined),
          (total) => Effect.as(repository.findDocuments({ ...options, take }), total)
        )
    return hooked(Option.none(), Effect.suspend(() => answer(lists.begin(maxPageBytes), find)))
  })
}

/** The links to the page and its neighbours. */
const linksOf = (
  path: string,
  parameters: UrlQuery.Parameters,
  { count, keyset, page, pageSize }: UrlQuery.UrlQuery,
  { hasNext, next }: Page,
  total: number | undefined
): string =>
  keyset !== undefined
    ? Links.ofCursor(path, parameters, next)
    : Links.ofPage(
      path,
      parameters,
      count === "exact" ? { page, pageSize, total } : { page, pageSize, total, hasNext }
    )

const pageAdvice = "ask for fewer documents or fields, or page by cursor"

// -----------------------------------------------------------------------------
// an aggregation
// -----------------------------------------------------------------------------

const aggregateRoute = (
  { hooked, limits, lists, model, path, rejectQuery, repository, respondBadRequest }: ReadContext
): Answer => {
  const readAggregation = queryReader(aggregationParameters, "is not a parameter of the aggregation")
  const readPipeline = QueryGuard.pipeline(model, limits)
  const { maxPageBytes, queryTimeout: timeLimit } = limits
  return withParameters((parameters) => {
    const aggregation = readAggregation(parameters)
    if (Result.isFailure(aggregation)) return respondBadRequest(aggregation.failure)
    const { pipe } = aggregation.success
    const read = readPipeline(pipe)
    if (Result.isFailure(read)) return rejectQuery(read.failure)
    const written = Effect.suspend(() => {
      const items = lists.begin(maxPageBytes)
      return Stream.runForEachArray(
        repository.aggregate(read.success, { timeLimit }),
        (documents) =>
          Effect.flatMap(
            addAll(items, documents, (document) => Effect.succeed(writePlain(document))),
            (isWhole) => isWhole ? Effect.void : Effect.fail(new TooLarge())
          )
      ).pipe(Effect.map(() => {
        const self = quote(`${path}${standardEndpoints.aggregate.path}?pipe=${encodeURIComponent(pipe.toWellFormed())}`)
        return items.finish(`"_links":{"self":{"href":${self}}}`)
      }))
    })
    return hooked(
      Option.none(),
      Effect.catchTag(written, "TooLarge", () => respondBadRequest([tooLarge("pipe", maxPageBytes, pipeAdvice)]))
    )
  })
}

class TooLarge {
  readonly _tag = "TooLarge"
}

const pipeAdvice = "let it give fewer documents or fields"

const tooLarge = (field: string, maxPageBytes: number, advice: string): Problem =>
  new Problem({ field, validator: "Limit", message: `gives more than ${maxPageBytes} bytes: ${advice}` })
