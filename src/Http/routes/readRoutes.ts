/** The `GET` routes of a resource: one document, a page, an aggregation, and the changes. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ModelView } from "../../Access/internal.ts"
import { quote } from "../../internal/json.ts"
import { varyWith } from "../../internal/vary.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type * as Cursor from "../../Repository/Cursor.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import {
  documentCodec,
  documentOperationsOf,
  type DocumentReads,
  identifierOf,
  nearFields
} from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { listTypes } from "../description/listTypes.ts"
import { encoded } from "../description/pathShape.ts"
import {
  aggregationParameters,
  collectionParameters,
  overridableParameters,
  pageParameters
} from "../description/queryParameters.ts"
import { standardEndpoints } from "../description/standardEndpoints.ts"
import type { Doors, Embeddable, PageReader } from "../expansion/embeddable.ts"
import type * as Plans from "../expansion/expansion.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Live } from "../live/live.ts"
import * as NativeQueries from "../query/nativeQueries.ts"
import { queryReader } from "../query/parameterReader.ts"
import { namingOf } from "../query/partlyHiddenFields.ts"
import * as UrlQuery from "../query/urlQuery.ts"
import { preferred } from "../request/accept.ts"
import { type AtOnce, withAtOnce } from "../request/atOnce.ts"
import { writeDocument } from "../response/aggregationJson.ts"
import type { Column } from "../response/columns.ts"
import { documentResponses, plainDocumentResponses } from "../response/documentResponse.ts"
import { expectations, type FieldResolver, parameters as parametersOf } from "../response/fieldResolver.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import * as Links from "../response/links.ts"
import { addAll, type ListResponse, type ListResponses } from "../response/listResponse.ts"
import { logUnreadable, type Representations } from "../response/representation.ts"
import { makeBadRequest } from "../response/translatedResponses.ts"
import type { WireText } from "../response/wireText.ts"
import type * as Tables from "../tables/writeTable.ts"
import type { Translations } from "../Translations.ts"
import { readHooksOf, withoutHookFailure } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"
import { StaticPage } from "./pageRoutes.ts"
import { headersOf, notFound, type RequestFiber, withIdAndParameters, withParameters } from "./route.ts"

/** The routes of `GET`, except those that describe the model. */
export const readRoutes = (
  resource: ImplementedResource,
  repository: Repository<Model.Any>,
  representations: Representations,
  surroundings: ReadSurroundings
): { readonly [N in "list" | "get" | "aggregate" | "changes"]: ResponseEffect } & {
  readonly embeddable: Embeddable
} => {
  const context = readContext(resource, repository, representations, surroundings)
  const readQuery = urlQueryOf(context)
  return {
    embeddable: context,
    list: withAtOnce(listRoute(context, listQueryOf(context, readQuery)), listAtOnce(context, readQuery)),
    get: withAtOnce(getRoute(context), getAtOnce(context)),
    aggregate: aggregateRoute(context),
    changes: changesRouteOf(context)
  }
}

export interface ReadSurroundings {
  readonly view: ModelView
  readonly cursors: Cursor.Options
  readonly limits: Limits
  readonly lists: ListResponses
  readonly translations: Translations
  readonly places: FieldResolver
  /** `undefined` if no changes are recorded. */
  readonly live: Live | undefined
  /** What answers lists as tables, where a registration has them. */
  readonly tables: typeof Tables | undefined
  /** The ways to the documents that others refer to. */
  readonly doors: Doors
}

export interface ReadContext extends Omit<ReturnType<typeof readContext>, "documents"> {
  readonly documents: DocumentReads
}

export const readContext = (
  { hooks, model, name, path, relations = [], tables: tableOptions }: ImplementedResource,
  repository: Repository<Model.Any>,
  representations: Representations,
  surroundings: ReadSurroundings
) => {
  const described = { ...pageParameters(surroundings.limits), ...overridableParameters, ...aggregationParameters }
  const places = parametersOf(expectations(described), surroundings.places)
  return {
    ...surroundings,
    model,
    name,
    tableOptions,
    path: encoded(path),
    relations,
    repository,
    documents: documentOperationsOf(repository),
    representations,
    codec: documentCodec(model),
    ...readHooksOf(model, hooks),
    respondBadRequest: makeBadRequest(surroundings.translations, places)
  }
}

/** Responds with the problems of a query: 403 if one of them is a forbidden operator, otherwise 400. */
const rejectQuery = (
  { respondBadRequest }: ReadContext,
  problems: ReadonlyArray<FieldProblem>
): ResponseEffect => {
  const forbidden = NativeQueries.forbiddenOf(problems)
  return forbidden === undefined ? respondBadRequest(problems) : Effect.fail(forbidden)
}

/** Runs the hooks before a read. */
const runBefore = (
  { before }: ReadContext,
  id: Option.Option<unknown>,
  response: ResponseEffect
): ResponseEffect => before === undefined ? response : Effect.andThen(before({ id, previous: Option.none() }), response)

/** Passes documents to the hooks after a read. */
const runAfter = <A>(
  { after, codec }: ReadContext,
  id: Option.Option<unknown>,
  documents: ReadonlyArray<Document>,
  response: Effect.Effect<A, HandlerFailure>
): Effect.Effect<A, HandlerFailure> =>
  after === undefined ? response : Effect.andThen(
    Effect.forEach(documents, (document) =>
      Effect.flatMap(
        codec.fromDocument(document),
        (instance) => withoutHookFailure(after(instance, { id, previous: Option.none() }))
      ), { discard: true }),
    response
  )

/**
 * Decides what of the paths the caller may read, and passes it to the answer. The code that embeds is loaded with the first request
 * that asks for it.
 */
const expanding = (
  context: ReadContext,
  expand: UrlQuery.Expand | undefined,
  answer: (expansion: Plans.Expansion | undefined) => ResponseEffect
): ResponseEffect =>
  expand === undefined
    ? answer(undefined)
    : Effect.flatMap(
      plans === undefined
        ? Effect.map(Effect.promise(() => import("../expansion/expansion.ts")), (loaded) => plans = loaded)
        : Effect.succeed(plans),
      ({ plan }) => Effect.flatMap(plan(context, expand, context.doors), answer)
    )

// An `import` of what is loaded still resolves its name, and takes several turns.
let plans: typeof Plans | undefined

// -----------------------------------------------------------------------------
// one document
// -----------------------------------------------------------------------------

export const getRoute = (context: ReadContext): ResponseEffect => {
  const { documents, limits, model, representations, respondBadRequest, view } = context
  const options = { timeLimit: limits.queryTimeout }
  const readSelection = UrlQuery.selection(view.model)
  const responseOf = documentResponses(context)
  return withIdAndParameters(model, (id, request, parameters, fiber) => {
    const read = Object.keys(parameters).length === 0 ? everything : readSelection(parameters)
    if (Result.isFailure(read)) return respondBadRequest(read.failure)
    const { expand, fields } = read.success
    const respond = (document: Document, embedded?: WireText): ResponseEffect =>
      responseOf(representations(fiber), document, headersOf(request), fiber, { embedded, fields })
    const answer = (expansion: Plans.Expansion | undefined): ResponseEffect =>
      Effect.flatMap(
        documents.findById(id, options),
        (document) =>
          document === undefined ? Effect.fail(notFound(model, id)) : runAfter(
            context,
            Option.some(id),
            [document],
            expansion === undefined
              ? respond(document)
              : Effect.flatMap(
                expansion.embed([document], representations(fiber).shows, Effect.void),
                (embeddedOf) => respond(document, embeddedOf(0))
              )
          )
      )
    return runBefore(context, Option.some(id), expanding(context, expand, answer))
  })
}

/** {@link getRoute} for plain requests; `undefined` if it needs a fiber: for hooks, for the caller, or for the store. */
const getAtOnce = ({ after, before, documents, model, representations }: ReadContext): AtOnce | undefined => {
  const { atOnce } = documents
  const { forAll } = representations
  if (atOnce === undefined || forAll === undefined || before !== undefined || after !== undefined) return undefined
  const { parse } = identifierOf(model)
  const responseOf = plainDocumentResponses(model)
  return ({ clock, parameters, params }) => {
    const id = Object.keys(parameters).length === 0 ? parse(params["id"] ?? "") : undefined
    const document = id === undefined ? undefined : atOnce.findById(id)
    return document && responseOf(forAll, document, clock)
  }
}

/** Selects all fields: the query of a document's URL without parameters. */
const everything: Result.Result<UrlQuery.Selected, never> = Result.succeed({})

/** Streams the changes of the collection. Only services that record changes load the code that streams them. */
const changesRouteOf = ({ before, live, ...context }: ReturnType<typeof readContext>): ResponseEffect => {
  if (live === undefined) return Effect.die(new Error(`The changes of ${context.model.modelName} are not recorded`))
  const route = live.changesRoute({
    ...context,
    live: live.streams,
    before: before === undefined
      ? undefined
      : Effect.asVoid(before({ id: Option.none(), previous: Option.none() })),
    isHookedAfter: context.after !== undefined
  })
  return withParameters(route)
}

// -----------------------------------------------------------------------------
// a collection
// -----------------------------------------------------------------------------

export type ListQuery = (
  parameters: UrlQuery.Parameters,
  fiber: RequestFiber
) => ReturnType<ReturnType<typeof UrlQuery.make>>

/** Reads the parameters of a list. */
const urlQueryOf = ({ cursors, limits, view }: ReadContext) => UrlQuery.make(view.model, limits, cursors)

/** Reads the parameters of a list for the caller of the fiber's request. */
export const listQueryOf = (context: ReadContext, read = urlQueryOf(context)): ListQuery => {
  const { model, view } = context
  return (parameters, fiber) => read(parameters, namingOf(model, view.of(fiber).partlyHidden))
}

/** The route of a list, which `readQuery` reads the parameters of, and whose tables have `more` columns. */
export const listRoute = (
  context: ReadContext,
  readQuery = listQueryOf(context),
  more: ReadonlyArray<Column> = []
): ResponseEffect => {
  const { after, model, tableOptions, tables, view } = context
  const page = pageHandler(context, readQuery)
  if (tables === undefined || tableOptions === undefined) return withParameters(page)
  const table = tables.tableOf({
    ...context,
    model: view.model,
    options: tableOptions,
    more,
    readQuery,
    reject: (problems) => rejectQuery(context, problems),
    before: (response) => runBefore(context, Option.none(), response),
    after: after === undefined
      ? undefined
      : (documents) => runAfter(context, Option.none(), documents, Effect.void),
    logUnreadable: (documents) => logUnreadable(model, documents)
  })
  return withParameters((parameters, fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const type = preferred(headersOf(request).accept, listTypes) ?? "application/json"
    const isTable = type !== "application/json"
    if (isTable && parameters["expand"] !== undefined && Object.hasOwn(collectionParameters(model), "expand")) {
      return context.respondBadRequest([{
        field: "expand",
        validator: "Parameter",
        message: "can't be given for a table"
      }])
    }
    return Effect.map(
      isTable ? table(type, parameters, fiber) : page(parameters, fiber),
      (response) => HttpServerResponse.setHeader(response, "vary", varyWith(response.headers["vary"], ["Accept"]))
    )
  })
}

const uncounted: FieldProblem = {
  field: "query",
  validator: "Parameter",
  message: "searches by distance, which is not counted: ask with count=none"
}

const pageHandler = (context: ReadContext, readQuery: ListQuery) => {
  const { after, documents, limits, lists, model, path, representations } = context
  const { maxPageBytes, queryTimeout: timeLimit } = limits
  return (parameters: UrlQuery.Parameters, fiber: RequestFiber): ResponseEffect => {
    const read = readQuery(parameters, fiber)
    if (Result.isFailure(read)) return rejectQuery(context, read.failure)
    const query = read.success
    if (query.count === "exact" && parameters["query"] !== undefined && nearFields(query.filter).length > 0) {
      return context.respondBadRequest([uncounted])
    }
    const representation = representations(fiber)
    const textsOf = representation.wiresOf(query.fields)

    /** Writes a page while `find` reads it. A large page is reserved and read again. */
    const respond = (
      items: ListResponse,
      textsOf: ReturnType<typeof representation.wiresOf>,
      find: PageReader,
      again: PageReader
    ): ResponseEffect => {
      const page = new StaticPage(query, textsOf, items, after !== undefined)
      return Effect.flatMap(find(page.take), (total): ResponseEffect => {
        const { ended } = page
        if (ended === "large") {
          const reserved = lists.begin(maxPageBytes)
          const reread = (take: StaticPage["take"]) => Effect.as(again(take), total)
          return Effect.andThen(reserved.reserve, respond(reserved, textsOf, reread, reread))
        }
        const { unreadable } = page
        const [first] = unreadable
        if (first !== undefined && !limits.skipUnreadable) {
          return Effect.andThen(logUnreadable(model, unreadable), representation.corrupt(first))
        }
        // A link to the next page by number would skip the remaining documents.
        if (ended === "too large" && query.keyset === undefined) {
          return context.respondBadRequest([tooLarge("page_size", maxPageBytes, pageAdvice)])
        }
        const links = linksOf(path, parameters, query, page, total)
        const headers = {
          ...totalHeaders(total),
          ...first === undefined ? undefined : { "x-unreadable-count": String(unreadable.length) }
        }
        const written = Effect.sync(() => items.finish(links, headers))
        return runAfter(
          context,
          Option.none(),
          page.documents,
          first === undefined ? written : Effect.andThen(logUnreadable(model, unreadable), written)
        )
      })
    }

    // Hooks receive complete models, and the links of a document may depend on any field.
    const isWhole = after !== undefined || representation.linksDependOnDocument
    const options = { ...query.find, ...(isWhole ? { projection: undefined } : {}), timeLimit }
    const rejection = NativeQueries.rejectionIn("query", parameters)
    const findAgain: PageReader = (take) =>
      Effect.mapBoth(documents.find({ ...options, take }), { onFailure: rejection, onSuccess: () => undefined })
    const find: PageReader = (take) =>
      query.count === "exact"
        ? Effect.mapBoth(documents.findAndCount({ ...options, take }), {
          onFailure: rejection,
          onSuccess: ({ total }) => total
        })
        : Effect.flatMap(
          query.count === "estimated" ? documents.estimatedCount : Effect.succeed(undefined),
          (total) => Effect.as(Effect.mapError(documents.find({ ...options, take }), rejection), total)
        )
    return runBefore(
      context,
      Option.none(),
      expanding(context, query.expand, (expansion) => {
        const items = lists.begin(maxPageBytes)
        if (expansion === undefined) return respond(items, textsOf, find, findAgain)
        const kept = { pageSize: query.pageSize, reserve: items.reserve, textsOf, shows: representation.shows }
        return Effect.flatMap(
          expansion.page({ ...kept, find, findAgain }),
          ({ find, textsOf }) => respond(items, textsOf, find, find)
        )
      })
    )
  }
}

/** {@link listRoute} for plain requests for a page that the store reads at once. */
const listAtOnce = (context: ReadContext, readQuery: ReturnType<typeof urlQueryOf>): AtOnce | undefined => {
  const { after, before, documents: { atOnce }, limits, lists, path, representations: { forAll } } = context
  if (atOnce === undefined || forAll === undefined || before !== undefined || after !== undefined) return undefined
  if (context.tableOptions !== undefined || forAll.linksDependOnDocument) return undefined
  let untried = 0
  return ({ clock, parameters }) => {
    if (untried > 0) {
      untried -= 1
      return undefined
    }
    // A native query may search by distance, which is not counted.
    const read = parameters["query"] === undefined ? readQuery(parameters) : undefined
    if (read === undefined || Result.isFailure(read)) return undefined
    const query = read.success
    if (query.count === "estimated" || query.expand !== undefined) return undefined
    const items = lists.begin(limits.maxPageBytes)
    const page = new StaticPage(query, forAll.wiresOf(query.fields), items, false)
    const options = { ...query.find, take: page.take }
    const now = clock.currentTimeMillisUnsafe()
    const found = query.count === "none"
      ? atOnce.find(options, now) && { total: undefined }
      : atOnce.findAndCount(options, now)
    if (found === undefined || page.ended !== undefined || page.unreadable.length > 0) {
      untried = untriedAfter
      return undefined
    }
    const { total } = found
    return items.finish(linksOf(path, parameters, query, page, total), totalHeaders(total))
  }
}

/** A page that can't be had at once is read again in a fiber. Since the next ones are often like it, so many are not tried. */
const untriedAfter = 32

const totalHeaders = (total: number | undefined) => total === undefined ? undefined : { "x-total-count": String(total) }

/** The links to the page and its neighbours. */
const linksOf = (
  path: string,
  parameters: UrlQuery.Parameters,
  { count, keyset, page, pageSize }: UrlQuery.UrlQuery,
  { hasNext, next }: StaticPage,
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

const aggregateRoute = (context: ReadContext): ResponseEffect => {
  const { limits, lists, path, repository, respondBadRequest, view } = context
  const readAggregation = queryReader(aggregationParameters, "is not a parameter of the aggregation")
  const readPipeline = NativeQueries.pipeline(view.model, limits)
  const { maxPageBytes, queryTimeout: timeLimit } = limits
  return withParameters((parameters, fiber) => {
    const aggregation = readAggregation(parameters)
    if (Result.isFailure(aggregation)) return respondBadRequest(aggregation.failure)
    const { pipe } = aggregation.success
    const read = readPipeline(pipe, namingOf(repository.model, view.of(fiber).partlyHidden))
    if (Result.isFailure(read)) return rejectQuery(context, read.failure)
    const written = Effect.suspend(() => {
      const items = lists.begin(maxPageBytes)
      return Stream.runForEachArray(
        Stream.mapError(
          repository.aggregate(read.success, { timeLimit }),
          NativeQueries.rejectionIn("pipe", parameters)
        ),
        (documents) =>
          Effect.flatMap(
            addAll(items, documents, (document) => Effect.succeed(writeDocument(document))),
            (isWhole) => isWhole ? Effect.void : Effect.fail(new TooLarge())
          )
      ).pipe(Effect.map(() => {
        const self = quote(`${path}${standardEndpoints.aggregate.path}?pipe=${encodeURIComponent(pipe.toWellFormed())}`)
        return items.finish(`"_links":{"self":{"href":${self}}}`)
      }))
    })
    return runBefore(
      context,
      Option.none(),
      Effect.catchTag(written, "TooLarge", () => respondBadRequest([tooLarge("pipe", maxPageBytes, pipeAdvice)]))
    )
  })
}

class TooLarge {
  readonly _tag = "TooLarge"
}

const pipeAdvice = "let it give fewer documents or fields"

const tooLarge = (field: string, maxPageBytes: number, advice: string): FieldProblem => ({
  field,
  validator: "Limit",
  message: `gives more than ${maxPageBytes} bytes: ${advice}`
})
