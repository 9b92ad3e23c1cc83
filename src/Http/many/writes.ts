/**
 * Writes many documents, all or each by itself. Each is written by the request that would write it alone, in all of its stages, so
 * that grants, hooks, checks and logs are those of that request.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { AccessDecision, afterCommit, allOf, type RowFilters, withRowFilters } from "../../Repository/internal.ts"
import { BodyInstead } from "../request/bodyInstead.ts"
import * as preference from "../request/prefer.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import { chunkParts, maxSmallLength } from "../response/listResponse.ts"
import type { Reservation } from "../response/responseBudget.ts"
import { Afterwards, type HookFailed, withoutHookFailure } from "../routes/hooks.ts"
import type { Responding } from "../routes/route.ts"
import { type Item, type ManyContext, manyText } from "./items.ts"

type Response = HttpServerResponse.HttpServerResponse

/** What runs within the stages of the request for one document, in the place of its handler, which it gets. */
const Within = Context.Reference<(handler: ResponseEffect) => ResponseEffect>(
  "appkernel/Http/many/writes/Within",
  { defaultValue: () => (handler) => handler }
)

/** The handler of one document, for the stages of its request. */
export const withinMany = (handler: ResponseEffect): ResponseEffect =>
  Effect.flatMap(Within, (within) => within(handler))

/** Writes the documents, and answers as `prefer` says. `respond` answers the request for one of them. */
export const writing = ({ limits, lists, registration: { model }, store }: ManyContext, respond: Responding) => {
  const versionField = managedField(model, "version")

  /** Answers the request for one document with `within` in the place of its handler. */
  const dispatch = (
    item: Item,
    within: (handler: ResponseEffect) => ResponseEffect,
    room?: Room
  ): Effect.Effect<Outcome> =>
    Effect.withFiber(({ context }) =>
      Effect.flatMap(respond, (response) => outcomeOf(item, response, room)).pipe(
        Effect.provideContext(Context.mergeAll(
          Context.make(
            HttpServerRequest.HttpServerRequest,
            // Permissions and row filters are asked once for each request.
            Context.getUnsafe(context, HttpServerRequest.HttpServerRequest).modify({})
          ),
          Context.make(HttpRouter.RouteContext, {
            ...Context.getUnsafe(context, HttpRouter.RouteContext),
            params: { id: item.text }
          }),
          Context.make(HttpServerRequest.ParsedSearchParams, {}),
          Context.make(BodyInstead, item.instead),
          Context.make(Within, within)
        ))
      )
    )

  /** Each document by itself. One that has changed, so that the filter does not choose it any more, is left out. */
  const oneByOne = (
    items: ReadonlyArray<Item>,
    room: Room | undefined
  ): Effect.Effect<ReadonlyArray<Outcome>, HandlerFailure> => {
    const narrowing = narrowingOf(model)
    return Effect.map(
      Effect.forEach(
        items,
        (item) =>
          Effect.flatMap(
            dispatch(item, (handler) => narrowing(handler, item.filter), room),
            (outcome) =>
              outcome.status !== 404 || item.isChosen === undefined
                ? Effect.succeed([outcome])
                : Effect.map(item.isChosen, (isChosen) => isChosen ? [outcome] : [])
          )
      ),
      (outcomes) => outcomes.flat()
    )
  }

  /** All documents or none. One that another write of these has changed, so that the filter does not choose it any more, is left out. */
  const atOnce = (
    items: ReadonlyArray<Item>,
    roomOf: () => Room | undefined
  ): Effect.Effect<ReadonlyArray<Outcome>, HandlerFailure | Refused> => {
    const afterwards: Array<Effect.Effect<Option.Option<Outcome>>> = []
    const attempt = Effect.gen(function*() {
      const outcomes: Array<Outcome> = []
      // A transaction may be tried again.
      const room = roomOf()
      for (const item of items) {
        if (item.isChosen !== undefined && !(yield* item.isChosen)) continue
        const later = (after: Effect.Effect<void, HookFailed>) =>
          Effect.withFiber((fiber) =>
            afterCommit(Effect.sync(() => {
              // The transaction of the fiber, and the request for the document, have ended then.
              const decision = fiber.getRef(AccessDecision)
              const within = Effect.provideService(
                Effect.ensuring(withoutHookFailure(after), decision?.trail?.flush ?? Effect.void),
                AccessDecision,
                decision
              )
              afterwards.push(
                Effect.catch(Effect.as(within, Option.none<Outcome>()), (error) =>
                  Effect.asSome(dispatch(item, () => Effect.fail(error))))
              )
            }))
          )
        const outcome = yield* dispatch(item, (handler) => Effect.provideService(handler, Afterwards, later), room)
        if (outcome.refusal !== undefined) return yield* Effect.fail(new Refused({ outcome, isNoted: false }))
        outcomes.push(outcome)
      }
      return outcomes
    })
    return Effect.gen(function*() {
      const outcomes = yield* store.transaction(attempt)
      // Every hook runs, even if an earlier one fails: its document is written.
      const failed = (yield* Effect.forEach(afterwards, (after) => after)).flatMap(Option.toArray)[0]
      return failed === undefined ? outcomes : yield* Effect.fail(new Refused({ outcome: failed, isNoted: true }))
    })
  }

  /** What the answer tells of the response to the request for one document, whose text is kept where there is room for it. */
  const outcomeOf = (item: Item, response: Response, room: Room | undefined): Effect.Effect<Outcome> => {
    const isDocument = response.headers["preference-applied"] === "return=representation"
    const text = isDocument ? textOf(response) : ""
    return Effect.map(isDocument && room !== undefined ? room.keep(Buffer.byteLength(text)) : noRoom, (isKept) => ({
      item,
      status: response.status,
      refusal: response.status >= 400 ? response : undefined,
      version: versionField !== undefined && isDocument
        ? Reflect.get(Object(JSON.parse(text)), versionField)
        : undefined,
      document: isKept ? text : undefined
    }))
  }

  /**
   * The room of an answer. Texts that are too long to be held without one need a reservation, which is not waited for: a
   * transaction may be open. Without it, the answer has none of them.
   */
  const answerRoom = (request: Scope.Scope): AnswerRoom => {
    let reservation: Reservation | undefined
    const reserve = Effect.map(Effect.provideService(lists.reserveNow, Scope.Scope, request), (reserved) => {
      reservation = reserved
      return reserved !== undefined
    })
    return {
      reserved: () => reservation,
      begin: () => {
        let kept = 0
        return {
          keep: (bytes) => {
            if (kept + bytes > limits.maxPageBytes) return noRoom
            const isFree = kept + bytes <= maxSmallLength || reservation !== undefined
            return Effect.map(isFree ? Effect.succeed(true) : reserve, (isKept) => {
              if (isKept) kept += bytes
              return isKept
            })
          }
        }
      }
    }
  }

  /** The answer with the result of each document, which is sent as a page of its size is. */
  const answered = (
    outcomes: ReadonlyArray<Outcome>,
    status: number,
    applied: ReadonlyArray<keyof typeof preference.appliedHeaders>,
    room: AnswerRoom | undefined
  ): Response => {
    const reservation = room?.reserved()
    const isWhole = room !== undefined &&
      outcomes.every(({ document, refusal }) => document !== undefined || refusal !== undefined)
    const headers = preference.appliedTo(isWhole ? [...applied, "representation"] : applied)
    const bytes = Buffer.from(manyText(written(outcomes)))
    if (reservation === undefined || bytes.length <= maxSmallLength) {
      reservation?.resize(0)
      return HttpServerResponse.uint8Array(bytes, { status, headers, contentType: "application/json" })
    }
    reservation.resize(bytes.length)
    return HttpServerResponse.stream(lists.paced(chunkParts([bytes]), bytes.length, reservation), {
      status,
      headers,
      contentType: "application/json",
      contentLength: bytes.length
    })
  }

  return (items: ReadonlyArray<Item>, prefer: string | undefined): ResponseEffect => {
    const isMinimal = preference.returnOf(prefer) === "minimal"
    const isShown = preference.returnOf(prefer) === "representation" &&
      items.some(({ instead }) => instead !== undefined)
    return Effect.withFiber((fiber) => {
      const room = isShown ? answerRoom(Context.getUnsafe(fiber.context, Scope.Scope)) : undefined
      const free = Effect.sync(() => room?.reserved()?.resize(0))
      const answer: ResponseEffect = preference.isLenient(prefer)
        ? Effect.map(
          oneByOne(items, room?.begin()),
          (outcomes) => answered(outcomes, 207, ["lenient"], room)
        )
        : Effect.map(atOnce(items, () => room?.begin()), (outcomes) =>
          isMinimal
            ? HttpServerResponse.empty({ status: 204, headers: preference.appliedHeaders.minimal })
            : answered(outcomes, 200, [], room)).pipe(
            Effect.catchIf(
              (error): error is Refused => error instanceof Refused,
              ({ isNoted, outcome }) => {
                const { item, refusal } = outcome
                // Asked again outside of the transaction, whose entries of the audit log are gone.
                const answer = isNoted || refusal === undefined
                  ? Effect.succeed(named(outcome))
                  : Effect.map(dispatch(item, () => Effect.succeed(refusal)), named)
                return Effect.andThen(free, answer)
              }
            )
          )
      // One that is tried again by another one around it reserves anew.
      return Effect.onError(answer, () => free)
    })
  }
}

// internal

/** What an answer may have of the texts of documents. */
interface Room {
  /** Keeps a text of so many bytes, unless there is no room for it. */
  readonly keep: (bytes: number) => Effect.Effect<boolean>
}

/** The room of an answer, and what it has reserved. */
interface AnswerRoom {
  readonly reserved: () => Reservation | undefined
  /** The room before the first document. */
  readonly begin: () => Room
}

const noRoom = Effect.succeed(false)

/** The outcome of the write of a document. */
interface Outcome {
  readonly item: Item
  readonly status: number
  /** The response to a document that is not written. */
  readonly refusal: Response | undefined
  /** The version of a written document that its caller sees. */
  readonly version: unknown
  /** The document as its caller sees it, where the answer has it. */
  readonly document: string | undefined
}

/** A document that can't be written, for which the transaction is rolled back. */
class Refused extends Data.TaggedClass("Refused")<{
  readonly outcome: Outcome
  /** Whether the audit log has it. */
  readonly isNoted: boolean
}> {}

/** A handler that writes a document only while it fulfils the filter. The filters of a decision are the same objects each time. */
const narrowingOf = (model: Model.Any) => {
  const known = new Map<RowFilters | undefined, RowFilters>()
  return (handler: ResponseEffect, filter: Filter | undefined): ResponseEffect =>
    filter === undefined ? handler : Effect.withFiber((fiber) => {
      const rows = fiber.getRef(AccessDecision)?.addressed?.rows
      return withRowFilters(handler, model, getOrMake(known, rows, () => narrowed(rows, filter)))
    })
}

/** The row filters of documents that fulfil the filter as well before they are written. */
const narrowed = (rows: RowFilters | undefined, filter: Filter): RowFilters => {
  const byRows = new Map<Filter | undefined, { readonly filter: Filter | undefined }>()
  const narrow = (own: Filter | undefined) => getOrMake(byRows, own, () => ({ filter: allOf(own, filter) })).filter
  return {
    rows: (privilege) => narrow(rows?.rows(privilege)),
    check: (privilege) => rows?.check(privilege),
    updateGrants: () => rows?.updateGrants?.()?.map((grant) => ({ rows: narrow(grant.rows), check: grant.check }))
  }
}

/** What the answer says of a document, as JSON. */
const resultOf = ({ document, item, refusal, status, version }: Outcome): string => {
  const more = refusal !== undefined
    ? `,"error":${textOf(refusal)}`
    : `${typeof version === "number" ? `,"version":${version}` : ""}${
      document === undefined ? "" : `,"document":${document}`
    }`
  return `{"id":${item.json},"status":${status}${more}}`
}

const written = (outcomes: ReadonlyArray<Outcome>) => ({
  ids: outcomes.filter(({ refusal }) => refusal === undefined).map(({ item }) => item.json),
  results: outcomes.map(resultOf)
})

/** The text of a response that the engine has made. */
const textOf = ({ body }: Response): string => body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : "null"

/** The error of a document with its identifier. */
const named = ({ item, refusal: response = HttpServerResponse.empty() }: Outcome): Response => {
  const error: { readonly [member: string]: unknown } = { ...Object(JSON.parse(textOf(response))) }
  const said = Object.entries(error).map(([member, value]) =>
    (member === "message" || member === "detail") && typeof value === "string"
      ? [member, `${item.text}: ${value}`]
      : [member, value]
  )
  const text = JSON.stringify({ ...Object.fromEntries(said), document: JSON.parse(item.json) })
  return HttpServerResponse.setBody(response, HttpBody.text(text, response.headers["content-type"]))
}
