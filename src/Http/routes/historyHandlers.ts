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
import { quote } from "../../internal/json.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { documentEncoder, identifierOf } from "../../Repository/internal.ts"
import type { Histories, HistoryPoint, Repository } from "../../Repository/Repository.ts"
import { encoded } from "../description/pathShape.ts"
import { asOfParameters, defaultPageSize, type Name } from "../History.ts"
import { queryReader } from "../query/parameterReader.ts"
import { patchableFields } from "../request/documentPatch.ts"
import { PatchInstead } from "../request/patchInstead.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import * as responses from "../response/json.ts"
import type { ListResponses } from "../response/listResponse.ts"
import type { FormsOfCaller } from "../response/operationResponse.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { notFound, withIdAndParameters, withParameters } from "./route.ts"

interface Resource {
  readonly model: Model.Any
  /** The path of the resource. */
  readonly path: string
  readonly repository: Repository<Model.Any>
  readonly lists: ListResponses
  /** How the caller sees documents of the model. */
  readonly forms: FormsOfCaller
  /** The `PATCH` of the resource, with its permission; `undefined` without that method. */
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

type Json = { readonly [field: string]: Schema.Json }

/** The handlers, which make their responses themselves. */
export const historyHandlers = (
  { forms, lists, model, patch, path, repository, respondBadRequest }: Resource
) => {
  // Its model has a history: only such a model has these actions.
  const { history } = repository as unknown as Histories<Model.Any>
  const documentOf = documentEncoder(model)
  const { print, valueOf } = identifierOf(model)
  const idOf = (document: Document): Model.Id<Model.Any> => valueOf(document["_id"])
  const fields = patchableFields(model)
  const urlOf = (document: Document): string =>
    `${encoded(path)}/${encodeURIComponent(print(document["_id"]))}/revisions`

  const stateAt = (document: Document, point: HistoryPoint): Effect.Effect<Document | undefined, HandlerFailure> =>
    Effect.map(history.at(idOf(document), point), (state) => Option.getOrUndefined(state)?.document)

  const existing = (document: Document, point: HistoryPoint) =>
    Effect.flatMap(stateAt(document, point), (state) =>
      state === undefined
        ? Effect.fail(
          notFound(model, `${print(document["_id"])} of ${point.revision ?? DateTime.formatIso(point.time)}`)
        )
        : Effect.succeed(state))

  /** A state as the caller sees it: without what is hidden in it, and without what is hidden in the document now. */
  const seen = (now: Document) =>
    Effect.map(forms, (formOf) => (state: Document): Json => {
      const [own, current] = [formOf(state), formOf(now)]
      const textOf = (form: typeof own): Json => JSON.parse(form.serialise(state, "") ?? "null")
      // The text of a document is that of an object.
      return own === current ? textOf(own) : common(textOf(own), textOf(current)) as Json
    })

  const stateOf = Effect.fnUntraced(function*(now: Document, point: HistoryPoint, url: string) {
    const state = yield* existing(now, point)
    const shown = (yield* seen(now))(state)
    return responses.json(JSON.stringify({
      ...shown,
      _links: { self: { href: url }, revisions: { href: urlOf(now) } }
    }))
  })

  const handlers: { readonly [N in Name]: Handler } = {
    revisions: Effect.fnUntraced(function*(instance, { query: { before, page_size: size = defaultPageSize } }) {
      const document = documentOf(instance)
      const found = yield* history(idOf(document), {
        pageSize: size + 1,
        before: before === undefined ? undefined : { revision: before }
      })
      const url = urlOf(document)
      const items = lists.begin()
      for (const { by, change, revision, time } of found.slice(0, size)) {
        const written = { revision, change, time: DateTime.formatIso(time), by }
        items.add(JSON.stringify({ ...written, _links: { self: { href: `${url}/${revision}` } } }))
      }
      const last = found[size - 1]
      const next = found.length > size && last !== undefined
        ? `,"next":{"href":${quote(`${url}?before=${last.revision}&page_size=${size}`)}}`
        : ""
      const { url: self } = yield* HttpServerRequest.HttpServerRequest
      return items.finish(`"_links":{"self":{"href":${quote(self)}}${next}}`)
    }),

    revision: (instance, { params: { revision } }) =>
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ url }) => stateOf(documentOf(instance), { revision }, url)
      ),

    revision_changes: Effect.fnUntraced(function*(instance, { params: { revision } }) {
      const now = documentOf(instance)
      const state = yield* existing(now, { revision })
      const before = yield* stateAt(now, { revision: revision - 1 })
      const shown = yield* seen(now)
      const changes = before === undefined
        ? [{ op: "add", path: "", value: shown(state) }]
        : JsonPatch.get(shown(before), shown(state))
      return HttpServerResponse.text(JSON.stringify(changes), { contentType: "application/json-patch+json" })
    }),

    restore_revision: Effect.fnUntraced(function*(instance, { params: { revision } }) {
      const now = documentOf(instance)
      const state = yield* existing(now, { revision })
      const shown = yield* seen(now)
      if (patch === undefined) return yield* Effect.die(new Error(`${model.modelName} has no PATCH`))
      return yield* Effect.provideService(
        patch,
        PatchInstead,
        changesTo(shown(state), shown(now), fields)
      )
    })
  }

  /** The `GET` of a document, which answers its state at a time to those for whom `permitted` does. */
  const asOf = (get: ResponseEffect, permitted: (handler: ResponseEffect) => ResponseEffect): ResponseEffect => {
    const former = withIdAndParameters(model, (id, { url }, parameters) => {
      const read = readAsOf(parameters)
      return Result.isFailure(read) ? respondBadRequest(read.failure) : Effect.flatMap(
        repository.findById(id),
        (instance) => stateOf(documentOf(instance), { time: read.success.as_of }, url)
      )
    })
    const checked = permitted(former)
    return withParameters((parameters) => "as_of" in parameters ? checked : get)
  }

  return { asOf, handlers }
}

// internal

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
