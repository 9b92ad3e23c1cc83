/**
 * What a request reads of changes: pages of the log, and its part in the channel that it shares with others who see the same.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Position } from "../../Repository/DocumentStore.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { Gone } from "../HttpError.ts"
import type { CallFailure } from "../response/callFailures.ts"
import { type Begun, unlessGone } from "./changesStart.ts"
import type { Channel, Subscriber } from "./channel.ts"
import { messagesOf } from "./messages.ts"
import { watchRights } from "./watchRights.ts"

/** The number of bytes that are taken from a channel at once. */
export const maxChunk = 65_536

export const noStore = "private, no-store"

/** Messages, and the place after them. */
export interface Page {
  readonly messages: ReadonlyArray<string>
  readonly position: Position
  readonly isUpToDate: boolean
}

/** Reads the next page of the log, whose changes may all be none for the caller. */
export const readChanges = ({ lists, live }: Begun, after: Position): Effect.Effect<Page, ReadError | Gone> =>
  Effect.map(
    unlessGone(live.store.changes.read(lists.map(({ collection }) => collection), { after, limit: pageSize })),
    ({ changes, isUpToDate, position }) => ({
      messages: changes.flatMap((change) => messagesOf(lists, change)),
      position,
      isUpToDate
    })
  )

/** Joins the channel for as long as the request lasts, or until its caller has other rights. */
export const subscribed = (
  stream: Begun
): Effect.Effect<{ readonly channel: Channel; readonly subscriber: Subscriber }, CallFailure> =>
  Effect.gen(function*() {
    const { fiber, lists, live, rights, scope } = stream
    const key = lists.map((list) => list.key).join("\n\n")
    const channel = yield* unlessGone(Scope.provide(live.channel({ key, lists, rights }), scope))
    const subscriber: Subscriber = {
      next: 0,
      after: "",
      seen: 0,
      resume: undefined,
      ended: undefined,
      interrupt: () => fiber.interruptUnsafe()
    }
    channel.subscribe(subscriber)
    yield* Scope.addFinalizer(scope, Effect.sync(() => channel.unsubscribe(subscriber)))
    if (lists.some(({ before, decide }) => decide !== undefined || before !== undefined)) {
      yield* Effect.forkIn(watchRights(stream, channel, subscriber), scope)
    }
    return { channel, subscriber }
  })

// internal

const pageSize = 256
