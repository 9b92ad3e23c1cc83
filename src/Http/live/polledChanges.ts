/**
 * Answers with a page of changes, at once or when there are some.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import { millisLeft } from "../../internal/deadline.ts"
import type { Position } from "../../Repository/DocumentStore.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { Gone, TooManyRequests } from "../HttpError.ts"
import { includesTag } from "../request/entityTags.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import * as responses from "../response/json.ts"
import type { Begun } from "./changesStart.ts"
import { type ChangesPage, changesPage, maxChunk, noStore, noteReads, subscribed } from "./changesSubscriber.ts"
import { beforeAllDocuments, controlMessage, cursorAt, drained, jsonArray, offsetOf } from "./messages.ts"
import { changedRights } from "./watchRights.ts"

/** Answers with the changes that there are. */
export const page = (stream: Begun, ifNoneMatch: string | undefined, offset: string | undefined): ResponseEffect =>
  Effect.gen(function*() {
    const read = offset === "now" ? { ...stream, messages: [], reads: [] } : yield* firstPage(stream)
    const next = offsetOf(read.position, stream.rights)
    const headers = headersOf(next, read.isUpToDate)
    if (offset === "now") return responses.json("[]", 200, headers)
    const etag = `"${offset ?? beforeAllDocuments}:${next}"`
    return includesTag(ifNoneMatch, etag)
      ? HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } })
      : jsonOf(stream, read, { ...headers, etag })
  })

/** Answers when there are changes, or at the end of the waiting time. */
export const poll = (stream: Begun): ResponseEffect =>
  Effect.gen(function*() {
    let read = yield* firstPage(stream)
    if (read.messages.length > 0) return yield* polled(stream, read)
    const { channel, subscriber } = yield* subscribed(stream)
    // What was written before the channel began is not in it.
    do {
      read = yield* readPage(stream, read.position)
      if (read.messages.length > 0) return yield* polled(stream, read)
    } while (!channel.isHeldAfter(read.position))
    channel.join(subscriber, read.position)
    let nothing: ChangesPage = read
    const next = Effect.gen(function*() {
      while (subscriber.ended === undefined) {
        channel.touch(subscriber)
        const entries = channel.take(subscriber, maxChunk)
        // It has fallen behind what is held, and the next request reads on.
        if (entries === undefined) break
        const messages = entries.flatMap((entry) => entry.messages)
        const { isUpToDate, next: position } = entries.at(-1) ?? { isUpToDate: true, next: nothing.position }
        nothing = { messages: [], reads: [], position, isUpToDate }
        if (messages.length > 0) return { ...nothing, messages, reads: entries.flatMap((entry) => entry.read ?? []) }
        yield* channel.wait(subscriber)
      }
      return { ...nothing, isUpToDate: false }
    })
    const left = yield* millisLeft
    const found = yield* Effect.timeoutOption(next, sooner(stream.live.pollTimeout, left, 1 - decisionShare))
    const decided = yield* Effect.timeoutOption(
      changedRights(stream),
      sooner(stream.live.decisionInterval, left, decisionShare)
    )
    if (Option.isNone(decided)) return yield* polled(stream, { ...read, isUpToDate: false })
    if (decided.value === undefined) return yield* polled(stream, Option.getOrElse(found, () => nothing))
    return decided.value.response ?? (yield* polledReset(stream))
  })

/** Says no more than that the caller sees something else now: with its place, the next request gets the list anew. */
export const polledReset = (stream: Begun): ResponseEffect =>
  polled(stream, { messages: [controlMessage("reset")], reads: [], position: undefined, isUpToDate: false })

// internal

/** The share of the time that a request has left which the decision after its wait may take. */
const decisionShare = 0.1

/** A time, or a share of what a request has left, if this is shorter. */
const sooner = (time: Duration.Duration, left: number | undefined, share: number): Duration.Duration =>
  left === undefined ? time : Duration.min(time, Duration.millis(left * share))

const firstPage = (stream: Begun): Effect.Effect<ChangesPage, ReadError | Gone | TooManyRequests> =>
  stream.first.length > 0 ? Effect.succeed({ ...stream, messages: stream.first }) : readPage(stream, stream.position)

/** Reads until there is something to tell. */
const readPage = (stream: Begun, after: Position): Effect.Effect<ChangesPage, ReadError | Gone | TooManyRequests> =>
  Effect.flatMap(
    changesPage(stream, after),
    (page) => page.messages.length > 0 || page.isUpToDate ? Effect.succeed(page) : readPage(stream, page.position)
  )

const headersOf = (offset: string, isUpToDate: boolean, cursor?: string): { readonly [name: string]: string } => ({
  "cache-control": noStore,
  "stream-next-offset": offset,
  ...isUpToDate ? { "stream-up-to-date": "true" } : {},
  ...cursor === undefined ? {} : { "stream-cursor": cursor }
})

/** The messages as JSON, which is made as the client takes it if it begins with a large list. */
const jsonOf = (
  { first, lists, reservation, responses: large }: Begun,
  { messages, reads }: Pick<ChangesPage, "messages" | "reads">,
  headers: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse => {
  noteReads({ lists }, reads)
  if (reservation === undefined) return responses.json(`[${messages.join()}]`, 200, headers)
  // A reservation is for the list alone.
  const length = first.reduce((sum, message) => sum + message.length, 0)
  return HttpServerResponse.stream(large.paced(jsonArray(drained(first)), length, reservation), {
    contentType: "application/json",
    headers
  })
}

const polled = (
  stream: Begun,
  { isUpToDate, messages, position, reads }: Omit<ChangesPage, "position"> & { readonly position: Position | undefined }
): ResponseEffect =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const offset = position === undefined ? beforeAllDocuments : offsetOf(position, stream.rights)
    const headers = headersOf(offset, isUpToDate, cursorAt(now, stream.cursor))
    return messages.length === 0
      ? HttpServerResponse.empty({ status: 204, headers })
      : jsonOf(stream, { messages, reads }, headers)
  })
