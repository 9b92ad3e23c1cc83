/**
 * Decides again, while a stream goes on, on what its caller may see.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import { Lifetimes } from "../../Security/SignIns.ts"
import { rightsOf } from "./changesRequest.ts"
import type { Begun, Decided } from "./changesStart.ts"
import type { Channel, Subscriber } from "./channel.ts"
import { DecideAgain } from "./decideAgain.ts"
import type { LiveStreams } from "./liveStreams.ts"
import { controlMessage, dataEvent, errorEvent } from "./messages.ts"

/** @internal */
export interface Changed {
  /** What the request would be answered now; `undefined` if it would see other documents or fields. */
  readonly response: HttpServerResponse.HttpServerResponse | undefined
}

/**
 * The decision on the request at a later time, by facts of then. The context of its fiber is another one then.
 *
 * @internal
 */
export const decideLater = (
  { context }: Fiber.Fiber<unknown, unknown>,
  request: HttpServerRequest.HttpServerRequest,
  { decisionInterval }: LiveStreams
): Effect.Effect<Decided> | undefined => {
  const again = Context.get(context, DecideAgain)
  if (again === undefined) return undefined
  const lifetimes = { ...Context.get(context, Lifetimes), revocationDelay: decisionInterval }
  // What rules have decided on a request is known by its object, so each decision has another one.
  return Effect.suspend(() =>
    Effect.provideContext(
      again,
      context.pipe(
        Context.add(HttpServerRequest.HttpServerRequest, request.modify({})),
        Context.add(Lifetimes, lifetimes)
      )
    )
  )
}

/**
 * How the answer to the request would differ now; `undefined` if it would not.
 *
 * @internal
 */
export const changedRights = (stream: Begun): Effect.Effect<Changed | undefined> =>
  Effect.gen(function*() {
    const { before, decide } = stream
    const changed = decide === undefined ? undefined : yield* decidedOtherwise(stream, decide)
    if (changed !== undefined || before === undefined) return changed
    // The hook runs as it did at the beginning, and the next request is told why it refuses.
    return yield* Effect.match(before, { onFailure: () => ({ response: undefined }), onSuccess: () => undefined })
  })

/** @internal */
export const decidedOtherwise = (
  { rights }: Begun,
  decide: Effect.Effect<Decided>
): Effect.Effect<Changed | undefined> =>
  Effect.map(decide, (decided) =>
    "response" in decided
      ? decided
      : rightsOf(decided.decision) === rights
      ? undefined
      : { response: undefined })

/** @internal */
export const resetEvent = Buffer.concat([...dataEvent([controlMessage("reset")], undefined)])

/**
 * Ends a stream when its caller has lost the right to it, sees something else of the list, or when this can't be decided in time.
 *
 * @internal
 */
export const watchRights = (stream: Begun, channel: Channel, subscriber: Subscriber): Effect.Effect<void> =>
  Effect.gen(function*() {
    const interval = Duration.toMillis(stream.live.decisionInterval)
    let last = yield* Clock.currentTimeMillis
    while (subscriber.ended === undefined) {
      yield* Effect.sleep(Math.max(0, last + interval - (yield* Clock.currentTimeMillis)))
      last = yield* Clock.currentTimeMillis
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
