/**
 * Where a stream of changes begins: at a place, or with all documents of its lists.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { parseDateTime } from "../../Model/internal.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document, Position } from "../../Repository/DocumentStore.ts"
import { listsAt } from "../../Repository/evaluation.ts"
import { maxIds, textOfId, type Touched } from "../../Repository/internal.ts"
import { PositionGone } from "../../Repository/RepositoryError.ts"
import { errorOf, type Gone } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { type ListResponses, maxSmallLength } from "../response/listResponse.ts"
import type { Reservation } from "../response/responseBudget.ts"
import type { Asked } from "./changesRequest.ts"
import type { LiveStreams } from "./liveStreams.ts"
import { beforeAllDocuments, controlMessage, readOffset, stateMessage } from "./messages.ts"

export interface Start {
  /** The messages before the changes. The list is emptied as they are sent. */
  readonly first: Array<string>
  /** The documents in those messages, for the audit log. */
  readonly reads: ReadonlyArray<Touched>
  /** The bytes that are reserved for the messages, if these are large. */
  readonly reservation?: Reservation
  readonly position: Position
  /** Whether no change of the lists follows the place. */
  readonly isUpToDate: boolean
}

/** A request for the changes of lists, all of them at the same place. */
export interface Following {
  readonly lists: readonly [Asked, ...ReadonlyArray<Asked>]
  /** A digest of what the caller may see of which lists. */
  readonly rights: string
  readonly cursor: string | undefined
  /** Who asks: a user, or an address. */
  readonly caller: string
  /** Whether a place that is gone is answered with a `reset`, since the client gives up at any status but 200. */
  readonly beginsAnew: boolean
  readonly limits: Limits
  readonly responses: ListResponses
  readonly live: LiveStreams
  readonly scope: Scope.Scope
  readonly fiber: Fiber.Fiber<unknown, unknown>
}

export interface Begun extends Following, Start {}

/** Finds the place, and what to tell before the changes after it. */
export const begin = (
  following: Following,
  offset: string | undefined
): Effect.Effect<Result.Result<Start, Problem>, HandlerFailure> => {
  const { beginsAnew, lists, live: { store: { changes } }, rights } = following
  if (offset === "now") {
    return Effect.map(changes.end, (position) => Result.succeed({ first: [], reads: [], position, isUpToDate: true }))
  }
  if (offset === undefined || offset === beforeAllDocuments) return state(following, [])
  const collections = lists.map(({ collection }) => collection)
  const time = parseDateTime(offset)
  const place = time === undefined ? readOffset(offset) : { time }
  if (place === undefined) {
    return Effect.succeed(
      Result.fail(new Problem({ field: "offset", validator: "Parameter", message: "is not a place in these changes" }))
    )
  }
  const anew = state(following, [controlMessage("reset")])
  if ("rights" in place && place.rights !== rights) return anew
  const found = Effect.gen(function*() {
    const position = "rights" in place
      ? place.position
      : yield* changes.since(collections, DateTime.toDateUtc(DateTime.makeUnsafe(place.time)))
    const next = yield* changes.read(collections, { after: position, limit: 1 })
    return Result.succeed({ first: [], reads: [], position, isUpToDate: next.isUpToDate && next.changes.length === 0 })
  })
  // The place of a time may go before it is read from. Then a later one is the first that is kept.
  const times = "rights" in place ? 0 : 1
  const started = unlessGone(Effect.retry(found, { times, while: (error) => error instanceof PositionGone }))
  return beginsAnew ? Effect.catchTag(started, "Gone", () => anew) : started
}

export const unlessGone = <A, E>(effect: Effect.Effect<A, E | PositionGone>): Effect.Effect<A, E | Gone> =>
  Effect.catch(effect, (error) => Effect.fail(error instanceof PositionGone ? gone : error))

const gone = errorOf("Gone", "errors.PositionGone")

/** The documents of the lists as they are at a place, as messages. Large lists are reserved and read again. */
const state = Effect.fnUntraced(function*(
  following: Following,
  before: ReadonlyArray<string>
): Effect.fn.Return<Result.Result<Start, Problem>, HandlerFailure> {
  const { limits, responses, scope } = following
  let read = yield* readState(following, Math.min(maxSmallLength, limits.maxPageBytes))
  let reservation: Reservation | undefined
  if (read === undefined && limits.maxPageBytes > maxSmallLength) {
    reservation = yield* Effect.provideService(responses.reserve, Scope.Scope, scope)
    read = yield* readState(following, limits.maxPageBytes)
  }
  // A list that was cut is not whole, though documents have left it since.
  if (read === undefined || read.lists.some(({ found, items }) => Math.max(found, items.length) > limits.maxResults)) {
    reservation?.resize(0)
    return Result.fail(
      new Problem({
        field: "offset",
        validator: "Limit",
        message: `would begin with more than ${limits.maxResults} documents or ${limits.maxPageBytes} bytes: ` +
          "narrow the list, or begin with offset=now"
      })
    )
  }
  const texts = read.lists.flatMap(({ items }) => items.map(({ text }) => text))
  return Result.succeed({
    reads: read.lists.map(({ items }, i): Touched => ({
      model: following.lists[i]?.collection ?? "",
      operation: "read",
      ids: items.slice(0, maxIds).flatMap(({ id }) => id ?? []),
      count: items.length
    })),
    first: [...before, controlMessage("snapshot-start"), ...texts, controlMessage("snapshot-end")],
    position: read.position,
    isUpToDate: true,
    ...reservation === undefined ? {} : { reservation }
  })
})

/** The texts of the lists; `undefined` if they exceed `maxLength`. */
const readState = ({ lists, live: { store } }: Following, maxLength: number) =>
  Effect.suspend(() => {
    let length = 0
    const followed = lists.map(({ seen, trail, ...list }) => ({
      ...list,
      sees: seen.sees,
      kept: (document: Document) => {
        const text = seen.textOf(document)
        if (text === undefined) return undefined
        const message = stateMessage(seen, document, text)
        length += message.length
        // Only the audit log needs the identifiers.
        return { text: message, id: trail === undefined ? undefined : textOfId(document["_id"]) }
      }
    }))
    return unlessGone(listsAt(store, followed, () => length > maxLength))
  })
