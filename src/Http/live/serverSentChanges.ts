/**
 * Answers with a body of events that has no end.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { Gone, TooManyRequests } from "../HttpError.ts"
import { InnerRequest } from "../request/innerRequest.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { Begun } from "./changesStart.ts"
import { changesPage, maxChunk, noStore, noteReads, subscribed, writeReads } from "./changesSubscriber.ts"
import type { Subscriber } from "./channel.ts"
import { controlEvent, cursorAt, dataEvent, drained, offsetOf } from "./messages.ts"
import { costlyEvent } from "./tellChanges.ts"
import { resetEvent } from "./watchRights.ts"

/** Tells the changes until the client goes away or loses its rights. */
export const events = (stream: Begun): ResponseEffect =>
  Effect.gen(function*() {
    const { first, position, reservation, responses, rights, scope } = stream
    const { channel, readBy, subscriber } = yield* subscribed(stream)
    noteReads(stream, stream.reads)
    yield* Scope.provide(endWithClient(stream.fiber, subscriber), scope)
    const began = yield* Clock.currentTimeMillis
    let at = position
    let { isUpToDate } = stream
    let isJoined = false
    let hasBegun = reservation !== undefined
    /** What comes before the changes. It ends in the middle if the stream does, since nothing can be said then. */
    function* beginning(): Generator<Uint8Array> {
      const offset = offsetOf(position, rights)
      for (const chunk of first.length === 0 ? [] : dataEvent(drained(first), offset)) {
        channel.touch(subscriber)
        if (subscriber.ended !== undefined) {
          subscriber.ended = { last: undefined }
          return
        }
        yield chunk
      }
      yield controlEvent(offset, cursorAt(began, stream.cursor), isUpToDate && channel.isAtEnd(position))
    }
    const next: Effect.Effect<ReadonlyArray<Uint8Array>, Cause.Done | ReadError | Gone | TooManyRequests> = Effect
      .suspend(() => {
        channel.touch(subscriber)
        if (subscriber.ended !== undefined) {
          const { last } = subscriber.ended
          subscriber.ended = { last: undefined }
          return last === undefined ? Cause.done() : Effect.succeed([last])
        }
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (!hasBegun) {
            hasBegun = true
            return Effect.succeed([...beginning()])
          }
          // Its entries say by themselves whether they are the last, and the log does where there are none.
          if (!isJoined && channel.isHeldAfter(at) && (isUpToDate || !channel.isAtEnd(at))) {
            isJoined = true
            channel.join(subscriber, at)
          }
          if (!isJoined) {
            return Effect.flatMap(changesPage(stream, at), ({ messages, reads, ...page }) => {
              ;({ isUpToDate, position: at } = page)
              const offset = offsetOf(at, rights)
              return messages.length === 0 && !isUpToDate ? next : Effect.as(writeReads(stream, reads), [
                ...messages.length === 0 ? [] : dataEvent(messages, offset),
                controlEvent(offset, cursorAt(now, undefined), isUpToDate)
              ])
            })
          }
          const entries = channel.take(subscriber, maxChunk)
          // It has fallen behind what is held. Its client resumes at the place that it was told last.
          if (entries === undefined) return Cause.done()
          return entries.length === 0
            ? Effect.andThen(channel.wait(subscriber), next)
            : Effect.as(
              writeReads(stream, entries.flatMap((entry) => entry.read ?? [])),
              entries.map((entry) => channel.chunkOf(entry, now))
            )
        })
      })
    const unlessCostly = Effect.catchTag(next, "TooManyRequests", () => {
      channel.end(subscriber, costlyEvent)
      return next
    })
    // What the stream tells is never empty, and any failure but an interruption is its end.
    const pull = Effect.catchCause(
      unlessCostly,
      (cause) => Cause.hasInterrupts(cause) ? Effect.failCause(cause as Cause.Cause<never>) : Cause.done()
    ) as Effect.Effect<readonly [Uint8Array, ...Array<Uint8Array>], Cause.Done>
    const changes = Stream.fromPull(Effect.succeed(pull))
    const length = first.reduce((sum, message) => sum + message.length, 0)
    const body = reservation === undefined
      ? changes
      : Stream.concat(responses.paced(beginning(), length, reservation), changes)
    // With a time limit, the fiber of the handler has ended by then.
    const told = Effect.withFiber<typeof body>((reader) => {
      readBy(reader)
      return Effect.succeed(body)
    })
    return HttpServerResponse.stream(Stream.unwrap(told), eventStream)
  })

/** Says no more than that the caller sees something else now: with its place, the next request is told what. */
export const resetEvents = (): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(resetEvent, eventStream)

// internal

const eventStream = {
  contentType: "text/event-stream",
  headers: { "cache-control": noStore, "x-accel-buffering": "no" }
}

/**
 * Ends a stream when its client closes its side of the connection. Others who do so still read their answer, but no client reads one
 * without an end.
 */
const endWithClient = (
  { context }: Fiber.Fiber<unknown, unknown>,
  { interrupt }: Subscriber
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    // The connection is that of the outer request, which ends with what it asks for.
    if (request.source instanceof InnerRequest) return Effect.void
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    if (socket.readableEnded) interrupt()
    socket.once("end", interrupt)
    return Effect.addFinalizer(() => Effect.sync(() => socket.off("end", interrupt)))
  })
