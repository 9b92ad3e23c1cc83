/**
 * The subscriptions of a session to resources. The stream that its client opens by `GET` says which of them have changed, and not
 * how: the client reads them again, by what it may then.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { innerRequest } from "../request/innerRequest.ts"
import { innerResponses } from "../routes/innerAnswers.ts"
import type { Responding, Route } from "../routes/route.ts"

/** How a resource is followed, in the name of whoever asks. */
export interface Following {
  /** What is wrong with a subscription to it, in a sentence. */
  readonly problem: Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Runs an effect when it begins and for each change, for as long as the caller may see the resource. */
  readonly follow: (tell: Effect.Effect<void>) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
}

/** What tells a client that a resource has changed. */
export const updated = "notifications/resources/updated"

/** `undefined` if there is no such resource, or none that can be followed. */
export type FollowingOf = (uri: string) => Following | undefined

/** The subscriptions of a session. */
export interface Subscriptions {
  readonly uris: Set<string>
  /** The stream, while the client has it open. */
  open: {
    readonly changed: Queue.Queue<string, Cause.Done>
    readonly follow: (uri: string) => Effect.Effect<unknown>
    readonly leave: (uri: string) => Effect.Effect<void>
  } | undefined
}

/** Answers a message that subscribes, or ends a subscription; `undefined` for others. */
export const subscribing = (text: string, subscriptions: Subscriptions, followingOf: FollowingOf) => {
  // Most messages are others.
  const message = text.includes("subscribe") ? Option.getOrUndefined(parse(text)) : undefined
  if (message === undefined) return undefined
  const { id, method, params: { uri } } = message
  const answer = (rest: object) => HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id, ...rest })
  const failed = (message: string) => answer({ error: { code: invalidParams, message } })
  return Effect.gen(function*() {
    if (method === "resources/unsubscribe") {
      subscriptions.uris.delete(uri)
      yield* subscriptions.open?.leave(uri) ?? Effect.void
      return answer({ result: {} })
    }
    const { uris } = subscriptions
    const isFull = () => uris.size >= most && !uris.has(uri)
    const full = failed(`A session has at most ${most} subscriptions`)
    if (isFull()) return full
    const following = uri.length > maxLength ? undefined : followingOf(uri)
    if (following === undefined) return failed(`${uri.slice(0, maxLength)} can't be followed`)
    const problem = yield* following.problem
    if (problem !== undefined) return failed(problem)
    // Others may have been answered meanwhile.
    if (isFull()) return full
    uris.add(uri)
    yield* subscriptions.open?.follow(uri) ?? Effect.void
    return answer({ result: {} })
  })
}

/** The stream of a session, until a time in monotonic milliseconds. Its client has one: another one ends it. */
export const told = Effect.fnUntraced(function*(subscriptions: Subscriptions, followingOf: FollowingOf, until: number) {
  const context = yield* Effect.context<HttpServerRequest.HttpServerRequest>()
  const changed = yield* Queue.unbounded<string, Cause.Done>()
  const followed = yield* FiberMap.make<string>()
  const now = monotonicMillis(yield* Clock.Clock)
  // What the client has not taken yet is told once.
  const pending = new Set<string>()
  const open: NonNullable<Subscriptions["open"]> = {
    changed,
    follow: (uri) => {
      const tell = Effect.sync(() => {
        if (pending.has(uri)) return
        pending.add(uri)
        Queue.offerUnsafe(changed, uri)
      })
      // At the end as well: the client learns by another read why that is.
      const changes = Effect.andThen(followingOf(uri)?.follow(tell) ?? Effect.void, tell)
      return FiberMap.run(followed, uri, Effect.provideContext(changes, context))
    },
    leave: (uri) => FiberMap.remove(followed, uri)
  }
  if (subscriptions.open !== undefined) Queue.endUnsafe(subscriptions.open.changed)
  subscriptions.open = open
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (subscriptions.open === open) subscriptions.open = undefined
    })
  )
  const { socket } = NodeHttpServerRequest.toIncomingMessage(
    Context.get(context, HttpServerRequest.HttpServerRequest)
  )
  const end = () => void Queue.endUnsafe(changed)
  // A client that closes its side reads no answer without an end.
  yield* Effect.acquireRelease(
    Effect.sync(() => socket.once("end", end)),
    () => Effect.sync(() => socket.off("end", end))
  )
  yield* Effect.forEach(subscriptions.uris, open.follow)
  return HttpServerResponse.stream(
    Stream.fromQueue(changed).pipe(
      Stream.map((uri) => {
        pending.delete(uri)
        return `data: ${JSON.stringify({ jsonrpc: "2.0", method: updated, params: { uri } })}\n\n`
      }),
      Stream.merge(Stream.map(Stream.tick("15 seconds"), () => ": \n\n"), { haltStrategy: "left" }),
      Stream.encodeText,
      // Before the session ends, so that the next stream goes on with it.
      Stream.interruptWhen(Effect.delay(Effect.void, Math.max(0, until - now - Math.min(60_000, (until - now) / 2))))
    ),
    { contentType: eventStream, headers: { "cache-control": "no-store", "x-accel-buffering": "no" } }
  )
})

/** Follows documents by the stream of their collection. */
export const followingDocuments = Effect.fnUntraced(function*(route: Route, responding: Responding) {
  const responses = yield* innerResponses({ method: "GET", path: route.path }, responding)
  /** Asks for changes from now on, and says with which status that was answered. */
  const asking = (id: string, live: object, each: (lines: Stream.Stream<string>) => Effect.Effect<void>) => {
    // In quotes it has no signs, and is read as the field's type.
    const query = new URLSearchParams({ ...live, offset: "now", id: `"${id.replaceAll(/["\\]/gu, "\\$&")}"` })
    return Effect.suspend(() => {
      let status = 0
      const handled = responses((response) => {
        status = response.status
        const lines = HttpServerResponse.toClientResponse(response).stream.pipe(Stream.decodeText(), Stream.splitLines)
        // Whoever asks may end it, though a response is sent to its end otherwise.
        return status === 200 ? Effect.interruptible(each(Stream.orDie(lines))) : Effect.void
      })
      return Effect.map(handled, () => status)
    }).pipe(Effect.updateService(HttpServerRequest.HttpServerRequest, (outer) =>
      innerRequest(outer, {
        method: "GET",
        url: `${route.path}?${query}`,
        headers: { accept: `${eventStream}, application/json` },
        body: undefined,
        tool: "resources/subscribe"
      })))
  }
  return (id: string): Following => ({
    problem: Effect.map(
      asking(id, {}, () => Effect.void),
      (status) => status === 200 ? undefined : isBusy(status) ? "Ask again later" : `You may not follow ${route.path}`
    ),
    follow: (tell) =>
      asking(id, { live: "sse" }, (lines) =>
        Effect.andThen(
          tell,
          Stream.runForEach(Stream.filter(lines, (line) => line === "event: data"), () => tell)
        )).pipe(
          // A stream ends at times, and goes on for as long as the caller may see the document.
          Effect.repeat({ schedule: Schedule.spaced("1 second"), while: (status) => status === 200 }),
          Effect.repeat({ schedule: backOff, while: isBusy }),
          Effect.asVoid
        )
  })
})

// internal

const eventStream = "text/event-stream"

/** Of JSON-RPC. */
const invalidParams = -32_602

const most = 100

/** In characters. */
const maxLength = 2048

const isBusy = (status: number): boolean => status === 429 || status === 503

/** The service has as many streams as it may have: one second, two, four and so on to a minute. */
const backOff = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")])

const parse = Schema.decodeOption(Schema.fromJsonString(Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Finite]),
  method: Schema.Literals(["resources/subscribe", "resources/unsubscribe"]),
  params: Schema.Struct({ uri: Schema.String })
})))
