/**
 * The stream of the changes of collections, by the read path of Durable Streams: a page of them, a request that waits for some, or a
 * body of events without an end.
 *
 * A stream that begins without a place, or with one that was read with other rights, first tells all documents of the list.
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { countedAddressOf, currentClientAddress } from "../../internal/clientAddress.ts"
import { errorOf, NotImplemented } from "../HttpError.ts"
import * as NativeQueries from "../query/nativeQueries.ts"
import type * as UrlQuery from "../query/urlQuery.ts"
import { accepts, acceptsJson } from "../request/accept.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { type Asked, type ChangesContext, requestReader, rightsOfAll } from "./changesRequest.ts"
import { begin, type Begun, type Following } from "./changesStart.ts"
import { page, poll, polledReset } from "./polledChanges.ts"
import { events, resetEvents } from "./serverSentChanges.ts"
import { changedDecisions } from "./watchRights.ts"

/** The answer to a list that a request asks for. A request for several lists replaces it, to collect them first. */
export const Asking = Context.Reference<(list: Asked, context: AnswerContext) => ResponseEffect>(
  "appkernel/Http/live/Asking",
  { defaultValue: () => (list, context) => answered([list], context) }
)

export type AnswerContext = Pick<ChangesContext, "limits" | "lists" | "live" | "respondBadRequest">

/** The handler of the requests of callers with the same fields. */
export const changesRoute = (
  context: ChangesContext
): (parameters: UrlQuery.Parameters, fiber: Fiber.Fiber<unknown, unknown>) => ResponseEffect => {
  const { before, isHookedAfter, respondBadRequest } = context
  const read = requestReader(context)
  return (parameters, fiber) =>
    Effect.gen(function*() {
      if (isHookedAfter) return yield* unhooked
      const asked = read(parameters, fiber)
      if (Result.isFailure(asked)) {
        const forbidden = NativeQueries.forbiddenOf(asked.failure)
        return forbidden === undefined ? yield* respondBadRequest(asked.failure) : yield* forbidden
      }
      const type = asked.success.mode === "sse" ? "text/event-stream" : "application/json"
      const { accept } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest).headers
      if (!accepts(accept, [type])) return yield* errorOf("NotAcceptable", "errors.NotAcceptable", { types: type })
      if (before !== undefined) yield* before
      return yield* Context.get(fiber.context, Asking)(asked.success, context)
    })
}

/** Answers with the changes of lists, in the mode of the first. */
export const answered = (
  lists: Following["lists"],
  { limits, lists: responses, live, respondBadRequest }: AnswerContext
): ResponseEffect =>
  Effect.withFiber((fiber) =>
    Effect.gen(function*() {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const [{ cursor, mode, offset: asked }] = lists
      const offset = mode === "sse" ? request.headers["last-event-id"] ?? asked : asked
      const scope = Context.getUnsafe(fiber.context, Scope.Scope)
      const caller = callerOf(fiber, yield* currentClientAddress)
      if (mode !== "page" && request.method !== "HEAD") yield* Scope.provide(live.admit(caller), scope)
      const following: Following = {
        lists,
        rights: rightsOfAll(lists),
        cursor,
        caller,
        // An `EventSource` accepts nothing else.
        beginsAnew: mode === "sse" && !acceptsJson(request.headers["accept"]),
        limits,
        responses,
        live,
        scope,
        fiber
      }
      const started = yield* begin(following, request.method === "HEAD" ? "now" : offset)
      if (Result.isFailure(started)) return yield* respondBadRequest([started.failure])
      const stream: Begun = { ...following, ...started.success }
      if (mode === "page" || request.method === "HEAD") {
        return yield* page(stream, request.headers["if-none-match"], offset)
      }
      // The request may have been let in by facts that are as old as the delay; a stream may not.
      const changed = yield* changedDecisions(lists)
      if (changed !== undefined) {
        return changed.response ?? (mode === "sse" ? resetEvents() : yield* polledReset(stream))
      }
      return yield* mode === "sse" ? events(stream) : poll(stream)
    })
  )

// internal

const callerOf = (fiber: Fiber.Fiber<unknown, unknown>, address: string | undefined): string => {
  const subject = currentUserIdOf(fiber)
  return subject === undefined ? `address:${countedAddressOf(address ?? "unknown")}` : `user:${subject}`
}

const unhooked = Effect.suspend(() =>
  Effect.fail(new NotImplemented({ message: "The changes are not streamed, since a hook runs after each read" }))
)
