/**
 * Decides again, while a stream goes on, on what its caller may see.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import { type Asked, rightsOf } from "./changesRequest.ts"
import type { Begun } from "./changesStart.ts"
import type { Channel, Subscriber } from "./channel.ts"
import { beforeAllDocuments, controlEvent, controlMessage, dataEvent, errorEvent } from "./messages.ts"

export interface Changed {
  /** What the request would be answered now; `undefined` if it would see other documents or fields. */
  readonly response: HttpServerResponse.HttpServerResponse | undefined
}

/** How the answer to the request would differ now; `undefined` if it would not. */
export const changedRights = ({ lists }: Pick<Begun, "lists">): Effect.Effect<Changed | undefined> =>
  firstOf(
    lists,
    (list) =>
      Effect.flatMap(decidedOtherwise(list), (changed) =>
        changed !== undefined || list.before === undefined
          ? Effect.succeed(changed)
          // The hook runs as it did at the beginning, and the next request is told why it refuses.
          : Effect.match(list.before, { onFailure: () => ({ response: undefined }), onSuccess: () => undefined }))
  )

/** {@link changedRights} without the hooks before reads. */
export const changedDecisions = (lists: Begun["lists"]): Effect.Effect<Changed | undefined> =>
  firstOf(lists, decidedOtherwise)

const firstOf = (
  lists: Begun["lists"],
  changedOf: (list: Asked) => Effect.Effect<Changed | undefined>
): Effect.Effect<Changed | undefined> =>
  Effect.gen(function*() {
    for (const list of lists) {
      const changed = yield* changedOf(list)
      if (changed !== undefined) return changed
    }
    return undefined
  })

const decidedOtherwise = ({ decide, rights }: Asked): Effect.Effect<Changed | undefined> =>
  decide === undefined ? Effect.undefined : Effect.map(decide, (decided) =>
    "response" in decided
      ? decided
      : rightsOf(decided.decision) === rights
      ? undefined
      : { response: undefined })

/** Whoever forgets the list has to get it anew, also if the rights are those of before again when they ask. */
export const resetEvent = Buffer.concat([
  ...dataEvent([controlMessage("reset")], beforeAllDocuments),
  controlEvent(beforeAllDocuments, "0", false)
])

/**
 * Ends a stream when its caller has lost the right to it, sees something else of the list, or when this can't be decided in time.
 */
export const watchRights = (stream: Begun, channel: Channel, subscriber: Subscriber): Effect.Effect<void> =>
  Effect.gen(function*() {
    const interval = Duration.toMillis(stream.live.decisionInterval)
    const now = Effect.map(Clock.Clock, monotonicMillis)
    let last = yield* now
    while (subscriber.ended === undefined) {
      yield* Effect.sleep(Math.max(0, last + interval - (yield* now)))
      last = yield* now
      const decided = yield* Effect.timeoutOption(changedRights(stream), interval)
      if (Option.isNone(decided)) return channel.end(subscriber)
      if (decided.value === undefined) continue
      const { response } = decided.value
      channel.end(subscriber, response === undefined ? resetEvent : errorEvent(bodyOf(response)))
    }
  }).pipe(Effect.onError(() => Effect.sync(() => channel.end(subscriber))))

/** The JSON text of an answer. */
const bodyOf = ({ body, status }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : `{"_type":"ErrorMessage","code":${status}}`
