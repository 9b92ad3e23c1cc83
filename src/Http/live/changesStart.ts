/**
 * Where a stream of changes begins: at a place, or with all documents of its lists.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { Problem } from "../../Model/ModelError.ts"
import type { Position } from "../../Repository/DocumentStore.ts"
import { listsAt } from "../../Repository/evaluation.ts"
import type { PositionGone, ReadError } from "../../Repository/RepositoryError.ts"
import { Gone } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { errorOf } from "../messages/message.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { Asked } from "./changesRequest.ts"
import type { LiveStreams } from "./liveStreams.ts"
import { beginning, controlMessage, readOffset, stateMessage } from "./messages.ts"

export interface Start {
  /** What comes before the changes. */
  readonly first: ReadonlyArray<string>
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
  /** Whether a place that is gone is answered with a `reset`, since the client gives up at any status but 200. */
  readonly beginsAnew: boolean
  readonly limits: Limits
  readonly live: LiveStreams
  readonly scope: Scope.Scope
  readonly fiber: Fiber.Fiber<unknown, unknown>
}

export interface Begun extends Following, Start {}

/** Finds the place, and what to tell before the changes after it. */
export const begin = (
  following: Following,
  offset: string | undefined
): Effect.Effect<Result.Result<Start, Problem>, CallFailure> => {
  const { beginsAnew, lists, live: { store: { changes } }, rights } = following
  if (offset === "now") {
    return Effect.map(changes.end, (position) => Result.succeed({ first: [], position, isUpToDate: true }))
  }
  if (offset === undefined || offset === beginning) return state(following, [])
  const place = readOffset(offset)
  if (place === undefined) {
    return Effect.succeed(
      Result.fail(new Problem({ field: "offset", validator: "Parameter", message: "is not a place in these changes" }))
    )
  }
  const anew = state(following, [controlMessage("reset")])
  if (place.rights !== rights) return anew
  const collections = lists.map(({ collection }) => collection)
  const started = Effect.map(
    unlessGone(changes.read(collections, { after: place.position, limit: 1 })),
    ({ changes, isUpToDate }) =>
      Result.succeed({ first: [], position: place.position, isUpToDate: isUpToDate && changes.length === 0 })
  )
  return beginsAnew ? Effect.catchTag(started, "Gone", () => anew) : started
}

export const unlessGone = <A>(effect: Effect.Effect<A, ReadError | PositionGone>): Effect.Effect<A, ReadError | Gone> =>
  Effect.catchTag(effect, "PositionGone", () => Effect.fail(gone))

const gone = errorOf(Gone, "errors.PositionGone")

/** The documents of the lists as they are at a place, as messages. */
const state = Effect.fnUntraced(function*(
  { limits, lists, live }: Following,
  before: ReadonlyArray<string>
): Effect.fn.Return<Result.Result<Start, Problem>, CallFailure> {
  const read = yield* unlessGone(listsAt(
    live.store,
    lists.map((list) => ({ ...list, sees: list.seen.sees }))
  ))
  let isWhole = true
  const texts = lists.flatMap(({ seen }, i) => {
    const { documents, found } = read.lists[i]!
    const own = documents.flatMap((document) => {
      const text = seen.textOf(document)
      return text === undefined ? [] : [stateMessage(seen, document, text)]
    })
    // A list that was cut is not whole, though documents have left it since.
    if (Math.max(found, own.length) > limits.maxResults) isWhole = false
    return own
  })
  let length = 0
  for (const text of texts) length += text.length
  return !isWhole || length > limits.maxPageBytes
    ? Result.fail(
      new Problem({
        field: "offset",
        validator: "Limit",
        message: `would begin with more than ${limits.maxResults} documents or ${limits.maxPageBytes} bytes: ` +
          "narrow the list, or begin with offset=now"
      })
    )
    : Result.succeed({
      first: [...before, controlMessage("snapshot-start"), ...texts, controlMessage("snapshot-end")],
      position: read.position,
      isUpToDate: true
    })
})
