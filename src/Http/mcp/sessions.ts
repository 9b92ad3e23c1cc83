/**
 * The sessions of the protocol's revisions before 2026-07-28. A session has no rights: each request has its own credentials. It
 * belongs to the caller who began it, and ends with the token that it was begun or last used with, or an hour after its last use.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { innerRequest } from "../request/innerRequest.ts"
import type { Routed } from "../routes/route.ts"

/** Answers requests of sessions. `protocol` begins them, and ends them for `DELETE`. */
export const withSessions = (path: `/${string}`, protocol: Routed): Routed => {
  const sessions = new Map<string, Session>()
  const end = (outer: HttpServerRequest.HttpServerRequest, id: string) => {
    sessions.delete(id)
    const request = innerRequest(outer, {
      method: "DELETE",
      url: path,
      headers: { [header]: id },
      body: undefined,
      tool: ""
    })
    return Effect.provideService(protocol, HttpServerRequest.HttpServerRequest, request)
  }
  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const user = Context.getOrUndefined(fiber.context, CurrentUser)
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const until = Math.min(now + longest, expiryOf(user) ?? Infinity)
    const id = request.headers[header]
    if (id !== undefined) {
      const session = sessions.get(id)
      if (session === undefined || session.subject !== user?.subject) return notFound
      if (session.until <= now) return Effect.andThen(end(request, id), notFound)
      sessions.delete(id)
      if (request.method === "DELETE") return protocol
      sessions.set(id, { ...session, until })
      return protocol
    }
    // Requests without a session begin some, or are of the revision that has none.
    const [oldest] = sessions
    const isOver = oldest !== undefined && (oldest[1].until <= now || sessions.size >= most)
    return (isOver ? end(request, oldest[0]) : Effect.void).pipe(
      Effect.andThen(protocol),
      // After the handlers of the protocol, one of which sets the header.
      Effect.tap(HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.sync(() => {
          const begun = response.headers[header]
          if (begun !== undefined) sessions.set(begun, { subject: user?.subject, until })
          return response
        })
      ))
    )
  })
}

// internal

interface Session {
  readonly subject: string | undefined
  /** In milliseconds. */
  readonly until: number
}

const header = "mcp-session-id"

const longest = 3_600_000

const most = 10_000

/** A client that gets this begins a new session. */
const notFound = Effect.succeed(HttpServerResponse.empty({ status: 404 }))

/** When the token of a user expires. */
const expiryOf = (user: CurrentUser["Service"] | undefined): number | undefined => {
  const expires = user?.claims["exp"]
  return typeof expires === "number" ? expires * 1000 : undefined
}
