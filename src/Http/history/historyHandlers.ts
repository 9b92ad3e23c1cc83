/** The handlers of the actions of `History`, with what they need of their resource. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as JsonPatch from "effect/JsonPatch"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import type * as Views from "../../Access/internal.ts"
import { quote } from "../../internal/json.ts"
import { type DocumentForm, formWithout } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, documentEncoder, identifierOf, withRowFilters } from "../../Repository/internal.ts"
import type { Histories, HistoryPoint, Repository, Revision } from "../../Repository/Repository.ts"
import { QueryTimeout, type ReadError } from "../../Repository/RepositoryError.ts"
import { encoded } from "../description/pathShape.ts"
import { asOfParameters, defaultPageSize, type DeletionName, type Name } from "../History.ts"
import type { Limits } from "../KernelConfig.ts"
import { queryReader } from "../query/parameterReader.ts"
import { BodyInstead } from "../request/bodyInstead.ts"
import { patchableFields } from "../request/documentPatch.ts"
import type { AnyHook } from "../Resource.ts"
import { type HandlerFailure, isRefusal, type ResponseEffect } from "../response/handlerFailures.ts"
import * as responses from "../response/json.ts"
import { addAll, type ListResponses } from "../response/listResponse.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { readHooksOf } from "../routes/hooks.ts"
import { notFound, withIdAndParameters, withParameters } from "../routes/route.ts"

interface Resource {
  readonly model: Model.Any
  /** The path of the resource. */
  readonly path: string
  readonly hooks: ReadonlyArray<AnyHook>
  readonly repository: Repository<Model.Any>
  readonly lists: ListResponses
  readonly limits: Limits
  /** What callers see of documents; `undefined` without access control. */
  readonly views: typeof Views | undefined
  /** The `PATCH` of the resource, with its permission. Only a resource with that method has the action that restores. */
  readonly patch: ResponseEffect | undefined
  readonly respondBadRequest: BadRequestResponder
}

/** The parts of the requests, as the options of the actions declare them. */
interface Request {
  readonly params: { readonly revision: number }
  readonly query: { readonly before?: number | undefined; readonly page_size?: number | undefined }
}

type Handler = (
  instance: object,
  request: Request
) => Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, HttpServerRequest.HttpServerRequest>

type State = Pick<Revision<Model.Any>, "document" | "instance">

type Json = { readonly [field: string]: Schema.Json }

/** The handlers, which make their responses themselves. */
export const historyHandlers = (
  { hooks, limits, lists, model, patch, path, repository, respondBadRequest, views }: Resource
) => {
  // Its model has a history: only such a model has these actions.
  const { history } = repository as unknown as Histories<Model.Any>
  const documentOf = documentEncoder(model)
  const { print, valueOf } = identifierOf(model)
  const idOf = (document: Document): Model.Id<Model.Any> => valueOf(document["_id"])
  const fields = patchableFields(model)
  const urlOf = (document: Document): string =>
    `${encoded(path)}/${encodeURIComponent(print(document["_id"]))}/revisions`

  const { afterEach, beforeEach } = readHooksOf(model, hooks)
  const plain = formWithout(model, [])

  /**
   * Reads former states of a document as its `GET` reads it now: within the rows of the caller, and with the hooks. `use` gets the
   * document, and what writes a state.
   */
  const reading = <A, R>(
    instance: unknown,
    use: (
      now: Document,
      written: (state: State) => Effect.Effect<Json, HandlerFailure>
    ) => Effect.Effect<A, HandlerFailure, R>
  ): Effect.Effect<A, HandlerFailure, R> =>
    Effect.withFiber((fiber) => {
      const endpoint = fiber.getRef(AccessDecision)?.endpoint
      const seen = views === undefined || endpoint === undefined
        ? { isShown: () => true, formOf: () => plain }
        : views.modelView(model, endpoint).ofCaller(endpoint)
      const now = documentOf(instance)
      const absent = notFound(model, print(now["_id"]))
      const after = (document: Document) =>
        seen.isShown(document) ? afterEach?.(document) ?? Effect.void : Effect.fail(absent)
      const textOf = ({ document, instance }: State, form: DocumentForm): Effect.Effect<Json, HandlerFailure> => {
        const text = form.serialise(document, "")
        // The text of a document is that of an object. One that does not fit the model has none.
        return text === undefined
          ? Effect.andThen(instance, Effect.die(new Error(`A state of ${model.modelName} can't be written`)))
          : Effect.succeed(JSON.parse(text) as Json)
      }
      const written = Effect.fnUntraced(function*(state: State) {
        yield* after(state.document)
        const [own, current] = [seen.formOf(state.document), seen.formOf(now)]
        const shown = yield* textOf(state, own)
        // What is hidden in the document now is hidden in its states. Both are texts of one state.
        return own === current ? shown : common(shown, yield* textOf(state, current)) as Json
      })
      const read = Effect.gen(function*() {
        if (beforeEach !== undefined) yield* beforeEach(idOf(now))
        yield* after(now)
        return yield* use(now, written)
      })
      return withRowFilters(read, model, endpoint?.rows)
    })

  const limited = <A>(read: Effect.Effect<A, ReadError>): Effect.Effect<A, ReadError> =>
    Effect.timeoutOrElse(read, {
      duration: limits.queryTimeout,
      orElse: () => Effect.fail(new QueryTimeout({ operation: "history" }))
    })

  const stateAt = (document: Document, point: HistoryPoint): Effect.Effect<State | undefined, HandlerFailure> =>
    Effect.map(limited(history.at(idOf(document), point)), Option.getOrUndefined)

  const existing = (document: Document, point: HistoryPoint): Effect.Effect<State, HandlerFailure> =>
    Effect.flatMap(stateAt(document, point), (state) =>
      state === undefined
        ? Effect.fail(
          notFound(model, `${print(document["_id"])} of ${point.revision ?? DateTime.formatIso(point.time)}`)
        )
        : Effect.succeed(state))

  const stateOf = (instance: unknown, point: HistoryPoint, url: string) =>
    reading(
      instance,
      (now, written) =>
        Effect.map(Effect.flatMap(existing(now, point), written), (shown) =>
          responses.json(
            JSON.stringify({ ...shown, _links: { self: { href: url }, revisions: { href: urlOf(now) } } })
          ))
    )

  const handlers: { readonly [N in Exclude<Name, DeletionName>]: Handler } = {
    revisions: (instance, { query: { before, page_size: size = defaultPageSize } }) =>
      reading(
        instance,
        Effect.fnUntraced(function*(now) {
          const found = yield* limited(history(idOf(now), {
            pageSize: size + 1,
            before: before === undefined ? undefined : { revision: before }
          }))
          const url = urlOf(now)
          const items = lists.begin()
          yield* addAll(items, found.slice(0, size), ({ by, change, revision, time }) => {
            const written = { revision, change, time: DateTime.formatIso(time), by }
            return Effect.succeed(JSON.stringify({ ...written, _links: { self: { href: `${url}/${revision}` } } }))
          })
          const last = found[size - 1]
          const next = found.length > size && last !== undefined
            ? `,"next":{"href":${quote(`${url}?before=${last.revision}&page_size=${size}`)}}`
            : ""
          const { url: self } = yield* HttpServerRequest.HttpServerRequest
          return items.finish(`"_links":{"self":{"href":${quote(self)}}${next}}`)
        })
      ),

    revision: (instance, { params: { revision } }) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => stateOf(instance, { revision }, url)),

    revision_changes: (instance, { params: { revision } }) =>
      reading(
        instance,
        Effect.fnUntraced(function*(now, written) {
          const state = yield* written(yield* existing(now, { revision }))
          const found = yield* stateAt(now, { revision: revision - 1 })
          const before = found && (yield* Effect.catchIf(written(found), isRefusal, () => Effect.undefined))
          const changes = before === undefined
            ? [{ op: "add", path: "", value: state }]
            : JsonPatch.get(before, state)
          return HttpServerResponse.text(JSON.stringify(changes), { contentType: "application/json-patch+json" })
        })
      ),

    restore_revision: (instance, { params: { revision } }) =>
      Effect.flatMap(
        reading(
          instance,
          Effect.fnUntraced(function*(now, written) {
            const state = yield* existing(now, { revision })
            return changesTo(yield* written(state), yield* written({ ...state, document: now }), fields)
          })
        ),
        (changes) => Effect.provideService(patch ?? noPatch, BodyInstead, { body: changes, isPatch: true })
      )
  }

  /** The `GET` of a document, which answers its state at a time to those for whom `permitted` does. */
  const asOf = (get: ResponseEffect, permitted: (handler: ResponseEffect) => ResponseEffect): ResponseEffect => {
    const former = withIdAndParameters(model, (id, { url }, parameters) => {
      const read = readAsOf(parameters)
      return Result.isFailure(read) ? respondBadRequest(read.failure) : Effect.flatMap(
        repository.findById(id),
        (instance) => stateOf(instance, { time: read.success.as_of }, url)
      )
    })
    const checked = permitted(former)
    return withParameters((parameters) => "as_of" in parameters ? checked : get)
  }

  return { asOf, handlers }
}

// internal

// The start refuses the action then.
const noPatch: ResponseEffect = Effect.die(new Error("The resource has no PATCH"))

const readAsOf = queryReader(asOfParameters, "is not a parameter beside as_of")

/** The JSON Patch that gives fields the values that they had. */
const changesTo = (then: Json, now: Json, fields: ReadonlyArray<string>): JsonPatch.JsonPatch =>
  fields.flatMap((field): JsonPatch.JsonPatch => {
    const path = `/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`
    const value = then[field]
    if (value === undefined) return now[field] === undefined ? [] : [{ op: "remove", path }]
    return isDeepStrictEqual(value, now[field]) ? [] : [{ op: "add", path, value }]
  })

/** What two texts of one document have in common: each lacks the fields that it hides. */
const common = (one: Schema.Json, other: Schema.Json): Schema.Json => {
  if (Array.isArray(one) && Array.isArray(other)) return one.map((item, i) => common(item, other[i] ?? null))
  if (!isObject(one) || !isObject(other)) return one
  return Object.fromEntries(
    Object.entries(one).flatMap(([key, value]) => key in other ? [[key, common(value, other[key] ?? null)]] : [])
  )
}

const isObject = (value: Schema.Json): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
