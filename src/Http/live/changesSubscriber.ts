/**
 * What a request reads of changes: pages of the log, and its part in the channel that it shares with others who see the same.
 */
import { beginStep, isStepDone, workDone } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Position } from "../../Repository/DocumentStore.ts"
import type { Touched } from "../../Repository/internal.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { Gone, TooManyRequests } from "../HttpError.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { type Begun, unlessGone } from "./changesStart.ts"
import type { Channel, Subscriber } from "./channel.ts"
import { ToldChange } from "./messages.ts"
import { costly } from "./tellChanges.ts"
import { watchRights } from "./watchRights.ts"

/** The number of bytes that are taken from a channel at once. */
export const maxChunk = 65_536

export const noStore = "private, no-store"

/** Messages, and the place after them. */
export interface ChangesPage {
  readonly messages: ReadonlyArray<string>
  /** The documents that they give. */
  readonly reads: ReadonlyArray<Touched>
  readonly position: Position
  readonly isUpToDate: boolean
}

/**
 * Reads the next page of the log, whose changes may all be none for the caller. It has no more than a few, if they take much work
 * or room.
 */
export const changesPage = (
  { lists, live }: Begun,
  after: Position
): Effect.Effect<ChangesPage, ReadError | Gone | TooManyRequests> =>
  Effect.gen(function*() {
    const collections = lists.map(({ collection }) => collection)
    const page = yield* unlessGone(live.store.changes.read(collections, { after, limit: pageSize }))
    const messages: Array<string> = []
    const reads: Array<Touched> = []
    let length = 0
    beginStep()
    for (const [i, change] of page.changes.entries()) {
      const before = workDone()
      const { messages: own, read } = new ToldChange(change).toldTo(lists)
      if (workDone() - before > live.workLimits.ofCaller) return yield* costly(retryMillis)
      for (const message of own) length += message.length
      messages.push(...own)
      if (read !== undefined) reads.push(read)
      if (i === page.changes.length - 1) break
      if (length > maxChunk) return { messages, reads, position: change.position, isUpToDate: false }
      if (isStepDone()) {
        yield* Effect.yieldNow
        beginStep()
      }
    }
    return { messages, reads, position: page.position, isUpToDate: page.isUpToDate }
  })

/** Notes for the audit log what the caller is given. */
export const noteReads = ({ lists }: Pick<Begun, "lists">, reads: ReadonlyArray<Touched>): void => {
  for (const { collection, trail } of lists) {
    for (const read of reads) if (read.model === collection) trail?.read(read)
  }
}

/** {@link noteReads} of a body that is being sent. */
export const writeReads = (stream: Pick<Begun, "lists">, reads: ReadonlyArray<Touched>): Effect.Effect<void> =>
  Effect.suspend(() => {
    noteReads(stream, reads)
    return Effect.forEach(stream.lists, ({ trail }) => trail?.flush ?? Effect.void, { discard: true })
  })

interface Subscribed {
  readonly channel: Channel
  readonly subscriber: Subscriber
  /** Is told which fiber reads the stream, if it is not that of the handler. */
  readonly readBy: (reader: Fiber.Fiber<unknown, unknown>) => void
}

/** Joins the channel for as long as the request lasts, or until its caller has other rights. */
export const subscribed = (stream: Begun): Effect.Effect<Subscribed, HandlerFailure> =>
  Effect.gen(function*() {
    const { caller, fiber, lists, live, rights, scope } = stream
    const key = lists.map((list) => list.key).join("\n\n")
    const channel = yield* unlessGone(Scope.provide(live.channel({ key, lists, rights }, caller), scope))
    let reader = fiber
    let isInterrupted = false
    const subscriber: Subscriber = {
      caller,
      next: 0,
      after: "",
      seen: 0,
      resume: undefined,
      ended: undefined,
      interrupt: () => {
        isInterrupted = true
        reader.interruptUnsafe()
      }
    }
    const readBy = (other: Fiber.Fiber<unknown, unknown>): void => {
      reader = other
      if (isInterrupted) reader.interruptUnsafe()
    }
    channel.subscribe(subscriber)
    yield* Scope.addFinalizer(scope, Effect.sync(() => channel.unsubscribe(subscriber)))
    if (lists.some(({ before, decide }) => decide !== undefined || before !== undefined)) {
      yield* Effect.forkIn(watchRights(stream, channel, subscriber), scope)
    }
    return { channel, subscriber, readBy }
  })

// internal

// Documents may be large, and a page has two of each change.
const pageSize = 64

const retryMillis = 60_000
