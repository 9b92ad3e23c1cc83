/**
 * The sessions of the protocol's revisions before 2026-07-28. A session has no rights: each request has its own credentials. It
 * belongs to the caller who began it, and ends with the token that it was begun or last used with, or an hour after its last use.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { innerRequest } from "../request/innerRequest.ts"
import type { Routed } from "../routes/route.ts"
import { type FollowingOf, subscribing, type Subscriptions, told } from "./subscriptions.ts"

/** Answers requests of sessions. `protocol` begins them, and ends them for `DELETE`. */
export const withSessions = (
  path: `/${string}`,
  protocol: Routed,
  /** `undefined` if nothing can be followed. */
  followingOf: FollowingOf | undefined
): {
  readonly answered: Routed
  /** Ends the streams of all sessions, for the service stops. */
  readonly end: Effect.Effect<void>
} => {
  const sessions = new Map<string, Session>()
  let isEnding = false
  const forget = (outer: HttpServerRequest.HttpServerRequest, id: string, session: Session) => {
    sessions.delete(id)
    const request = innerRequest(outer, {
      method: "DELETE",
      url: path,
      headers: { [header]: id },
      body: undefined,
      tool: ""
    })
    return Effect.andThen(
      endStream(session),
      Effect.provideService(protocol, HttpServerRequest.HttpServerRequest, request)
    )
  }
  const answered: Routed = Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const user = Context.getOrUndefined(fiber.context, CurrentUser)
    const clock = fiber.getRef(Clock.Clock)
    const now = monotonicMillis(clock)
    const until = now + Math.min(longest, (expiryOf(user) ?? Infinity) - clock.currentTimeMillisUnsafe())
    const id = request.headers[header]
    if (id !== undefined) {
      const session = sessions.get(id)
      if (session === undefined || session.subject !== user?.subject) return notFound
      if (session.until <= now) return Effect.andThen(forget(request, id, session), notFound)
      sessions.delete(id)
      if (request.method === "DELETE") return Effect.andThen(endStream(session), protocol)
      sessions.set(id, { ...session, until })
      const { subscriptions } = session
      // Clients ask again as soon as a stream ends.
      if (request.method === "GET") {
        return followingOf === undefined
          ? notAllowed
          : isEnding
          ? unavailable
          : told(subscriptions, followingOf, until)
      }
      const own = request.headers[revision] === assumed
        ? request.modify({ headers: Headers.remove(request.headers, revision) })
        : request
      if (followingOf === undefined || !revisions.has(own.headers[revision])) {
        return Effect.provideService(protocol, HttpServerRequest.HttpServerRequest, own)
      }
      return Effect.flatMap(
        Effect.option(own.text),
        (text) => subscribing(Option.getOrElse(text, () => ""), subscriptions, followingOf) ?? protocol
      ).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, own)
      )
    }
    if (request.method === "GET") return notAllowed
    // Requests without a session begin some, or are of the revision that has none.
    const [oldest] = sessions
    const isOver = oldest !== undefined && (oldest[1].until <= now || sessions.size >= most)
    return (isOver ? forget(request, ...oldest) : Effect.void).pipe(
      Effect.andThen(protocol),
      // After the handlers of the protocol, one of which sets the header.
      Effect.tap(HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.sync(() => {
          const begun = response.headers[header]
          if (begun === undefined) return response
          sessions.set(begun, { subject: user?.subject, until, subscriptions: { uris: new Set(), open: undefined } })
          return followingOf === undefined ? response : withSubscriptions(response)
        })
      ))
    )
  })
  const end = Effect.suspend(() => {
    isEnding = true
    return Effect.forEach(sessions.values(), endStream, { discard: true })
  })
  return { answered, end }
}

// internal

interface Session {
  readonly subject: string | undefined
  /** In monotonic milliseconds. */
  readonly until: number
  readonly subscriptions: Subscriptions
}

const header = "mcp-session-id"

const revision = "mcp-protocol-version"

/** What a request without a revision is of, if nothing else says that. A session does. */
const assumed = "2025-03-26"

/** Those that have sessions, of which a request need not name one. The protocol refuses the others. */
const revisions: ReadonlySet<string | undefined> = new Set([undefined, "2025-06-18", "2025-11-25"])

const longest = 3_600_000

const most = 10_000

/** A client that gets this begins a new session. */
const notFound = Effect.succeed(HttpServerResponse.empty({ status: 404 }))

const unavailable = Effect.succeed(HttpServerResponse.empty({ status: 503 }))

/** There is no stream without a session. */
const notAllowed = Effect.succeed(HttpServerResponse.empty({ status: 405, headers: { allow: "POST, DELETE" } }))

const endStream = ({ subscriptions: { open } }: Session): Effect.Effect<unknown> =>
  open === undefined ? Effect.void : Queue.end(open.changed)

/** The answer that begins a session. The protocol has subscriptions on one connection only, so it does not say that there are some. */
const withSubscriptions = (response: HttpServerResponse.HttpServerResponse) => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  const text = new TextDecoder().decode(body.body).replace("\"subscribe\":false", "\"subscribe\":true")
  return HttpServerResponse.setBody(response, HttpBody.text(text, body.contentType))
}

/** When the token of a user expires. */
const expiryOf = (user: CurrentUser["Service"] | undefined): number | undefined => {
  const expires = user?.claims["exp"]
  return typeof expires === "number" ? expires * 1000 : undefined
}
