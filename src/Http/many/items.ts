/** Which documents a request writes: those of a filter, or those of a list. */
import * as Effect from "effect/Effect"
import { identity, memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Views from "../../Access/internal.ts"
import { type FieldProblem, managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type * as Cursor from "../../Repository/Cursor.ts"
import type { Document, DocumentStore, Filter } from "../../Repository/DocumentStore.ts"
import { rejectUnsuitable } from "../../Repository/evaluation.ts"
import {
  AccessDecision,
  allOf,
  anyOf,
  documentOperationsOf,
  identifierOf,
  totalOrder
} from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { costlyFields, maxItemsOf } from "../description/limits.ts"
import {
  collectionParameters,
  manyParameters,
  overridableParameters,
  pageParameters
} from "../description/queryParameters.ts"
import { errorOf } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import * as NativeQueries from "../query/nativeQueries.ts"
import { parameterReaders, type Parameters } from "../query/parameterReader.ts"
import { namingOf } from "../query/partlyHiddenFields.ts"
import * as UrlQuery from "../query/urlQuery.ts"
import type { Instead } from "../request/bodyInstead.ts"
import { type Return, returnOf } from "../request/prefer.ts"
import { expectations, parameters as parametersOf, shownFields } from "../response/fieldResolver.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import * as responses from "../response/json.ts"
import type { ListResponses } from "../response/listResponse.ts"
import { type BadRequestResponder, makeBadRequest } from "../response/translatedResponses.ts"
import { wholeView } from "../response/wholeView.ts"
import { readHooksOf } from "../routes/hooks.ts"
import type { ImplementedResource } from "../routes/implemented.ts"
import type { RequestFiber } from "../routes/route.ts"
import type { Translations } from "../Translations.ts"

export interface ManyContext {
  readonly registration: ImplementedResource
  readonly repository: Repository<Model.Any>
  readonly store: DocumentStore["Service"]
  readonly limits: Limits
  readonly lists: ListResponses
  readonly cursors: Cursor.Options
  /** What callers see of models; `undefined` without access control. */
  readonly views: typeof Views | undefined
  readonly translations: Translations
  readonly respondBadRequest: BadRequestResponder
  /** Reads documents as the list does, with its entry in the audit log. */
  readonly asList: <A, E>(read: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const problemAt = (field: string, message: string, validator = "Parameter"): FieldProblem => ({
  field,
  validator,
  message
})

/** One document to write. */
export interface Item {
  /** The identifier as in a URL. */
  readonly text: string
  /** The identifier as JSON. */
  readonly json: string
  readonly instead: Instead | undefined
  /** Whether the document still fulfils the filter; `undefined` for one of a list. */
  readonly isChosen: Effect.Effect<boolean, HandlerFailure> | undefined
  /** The filter that the document fulfils when it is written; `undefined` for one of a list. */
  readonly filter: Filter | undefined
}

/** Fails for more documents than one request may write. What is costly to convert has a limit of its own. */
export const withinBound = (
  { limits, registration: { model } }: ManyContext,
  count: number,
  body: unknown,
  write: () => ResponseEffect
): ResponseEffect => {
  // A name anywhere in the body counts.
  const isCostly = costlyFields(model).some((field) => JSON.stringify(body ?? "").includes(field))
  const limit = isCostly ? Math.min(limits.maxMany, maxItemsOf(model)) : limits.maxMany
  return count > limit ? Effect.fail(errorOf("PayloadTooLarge", "errors.TooManyDocuments", { count, limit })) : write()
}

/** The documents of a list, or what is wrong with it. */
export const listing =
  ({ registration: { model } }: ManyContext) =>
  (body: ReadonlyArray<unknown>, asked: string | undefined): Result.Result<
    ReadonlyArray<Item>,
    ReadonlyArray<FieldProblem>
  > => {
    const prefer = preferenceOf(model, asked)
    const items: Array<Item> = []
    const problems: Array<FieldProblem> = []
    body.forEach((item, i) => {
      const id: unknown = Predicate.isObject(item) ? Reflect.get(item, "id") : undefined
      if (typeof id !== "string" && typeof id !== "number" || id === "") {
        problems.push(problemAt(`${i}.id`, "is required", "NotEmpty"))
        return
      }
      items.push({
        text: String(id),
        json: JSON.stringify(id),
        instead: { body: item, isPatch: false, prefer },
        isChosen: undefined,
        filter: undefined
      })
    })
    if (body.length === 0) problems.push(problemAt("", "must not be empty", "NotEmpty"))
    return problems.length > 0 ? Result.fail(problems) : Result.succeed(items)
  }

/** What the answer of each document has: the document tells its version after the write. */
const preferenceOf = (model: Model.Any, asked: string | undefined): Return =>
  managedField(model, "version") === undefined && returnOf(asked) !== "representation" ? "minimal" : "representation"

/** Finds the documents that the caller may both list and write, with the hooks of reads. */
export const choosing = (context: ManyContext) => {
  const { asList, cursors, limits, registration: { hooks, model }, repository, translations, views } = context
  const documents = documentOperationsOf(repository)
  const { print, write } = identifierOf(model)
  const { afterEach, before } = readHooksOf(model, hooks)
  const whole = wholeView(model)
  const readQuery = memoize((view: Views.ModelView) => UrlQuery.make(view.model, limits, cursors))
  const own = parameterReaders(manyParameters)
  const expected = expectations({ ...pageParameters(limits), ...overridableParameters, ...manyParameters })
  const responderFor = memoize(({ hidden }: Views.ModelView) =>
    makeBadRequest(translations, parametersOf(expected, shownFields(model, hidden)))
  )
  const ofPages = Object.keys(collectionParameters(model)).filter((name) => name !== "query" && name !== "logic")

  const filterOf = (
    { all, dry_run, ...conditions }: Parameters,
    fiber: RequestFiber,
    view: Views.ModelView
  ): Result.Result<{ readonly filter: Filter; readonly isDryRun: boolean }, ReadonlyArray<FieldProblem>> => {
    const problems = ofPages.filter((name) => conditions[name] !== undefined).map((name) =>
      problemAt(name, "is not a parameter of a write")
    )
    const isAll = own.all(all, problems) === "true"
    const isDryRun = own.dry_run(dry_run, problems) === "true"
    if (problems.length > 0) return Result.fail(problems)
    const read = readQuery(view)(conditions, namingOf(model, view.of(fiber).partlyHidden))
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const { filter } = read.success
    const isEmpty = Object.keys(filter).length === 0
    if (isEmpty !== isAll) {
      return Result.fail([
        problemAt("all", isEmpty ? "must be true where there is no filter" : "can't be given with a filter")
      ])
    }
    const unsuitable = rejectUnsuitable(filter)
    return unsuitable === undefined
      ? Result.succeed({ filter, isDryRun })
      : Result.fail([problemAt("query", `can't be used for a write: ${unsuitable}`)])
  }

  const find = (filter: Filter, limit: number) =>
    documents.findAndCount({
      filter,
      sort: totalOrder([], 1),
      limit,
      timeLimit: limits.queryTimeout,
      // Hooks receive complete models.
      ...afterEach === undefined ? { projection: { _id: 1 } } : {}
    })

  return (
    parameters: Parameters,
    fiber: RequestFiber,
    instead: Instead | undefined,
    prefer: string | undefined,
    writeAll: (items: ReadonlyArray<Item>) => ResponseEffect
  ): ResponseEffect => {
    const grants = fiber.getRef(AccessDecision)?.endpoint
    const view = views === undefined || grants === undefined ? whole : views.modelView(model, grants)
    // A filter would tell a caller who may not read what is in the documents.
    if (!view.isReadable) return Effect.fail(errorOf("Forbidden", "errors.Denied"))
    const read = filterOf(parameters, fiber, view)
    if (Result.isFailure(read)) {
      const forbidden = NativeQueries.forbiddenOf(read.failure)
      return forbidden === undefined ? responderFor(view)(read.failure) : Effect.fail(forbidden)
    }
    const { isDryRun } = read.success
    // The rows of the method are those of the decision; these are the rows of the list.
    const filter = allOf(anyOf((grants?.read ?? [{ rows: undefined }]).map(({ rows }) => rows)), read.success.filter) ??
      {}
    const itemOf = ({ _id }: Document): Item => ({
      text: print(_id),
      json: write(_id),
      instead: instead && { ...instead, prefer: preferenceOf(model, prefer) },
      filter,
      isChosen: Effect.map(find(allOf({ _id }, filter) ?? {}, 1), ({ total }) => total > 0)
    })
    return Effect.gen(function*() {
      if (before !== undefined) yield* before({ id: Option.none(), previous: Option.none() })
      const found = Effect.mapError(find(filter, limits.maxMany), NativeQueries.rejectionIn("query", parameters))
      const { documents, total } = yield* (isDryRun ? asList : identity)(found)
      if (afterEach !== undefined) yield* Effect.forEach(documents, afterEach, { discard: true })
      if (isDryRun) return responses.json(manyText({ count: total, ids: documents.map(({ _id }) => write(_id)) }))
      return yield* withinBound(context, total, instead?.body, () => writeAll(documents.map(itemOf)))
    })
  }
}

/** What was written, or would be. The identifiers and the results are JSON. */
export interface ManyAnswer {
  readonly count?: number
  readonly ids: ReadonlyArray<string>
  readonly results?: ReadonlyArray<string>
}

export const manyText = ({ count, ids, results }: ManyAnswer): string =>
  `{"_type":"ManyResult","count":${count ?? ids.length},"ids":[${ids.join(",")}]${
    results === undefined ? "" : `,"results":[${results.join(",")}]`
  }}`
