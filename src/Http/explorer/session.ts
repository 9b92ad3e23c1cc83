/**
 * Who is signed in to the explorer. The refresh token, and the name with which its user has signed in, are in a cookie that no
 * script reads and no other site sends, so that a reload of the page does not sign out; access tokens are in the memory of the page.
 * Tokens are those of `Tokens.service`.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { Jwt } from "../../Security/Jwt.ts"
import { signInOf, signOut } from "../../Security/SignIns.ts"
import { errorOf } from "../HttpError.ts"
import { readParameters } from "../request/body.ts"
import { innerRequest } from "../request/innerRequest.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { InnerAnswer } from "../routes/innerAnswers.ts"
import { headersOf } from "../routes/route.ts"

/** How the endpoint of tokens answers. */
type AskTokens = (
  context: Context.Context<HttpServerRequest.HttpServerRequest>
) => Effect.Effect<InnerAnswer | undefined>

/** What sessions are made with. */
export interface SessionOptions {
  /** The name of the cookie: cookies of one host are sent to all its ports. */
  readonly cookieName: string
  readonly store: DocumentStore["Service"]
  /** The path of the endpoint of tokens. */
  readonly tokenPath: string
  readonly token: AskTokens
  readonly renewals: Effect.Success<ReturnType<typeof makeRenewals>>
  readonly revoke: AskTokens
  /** How long the cookie is kept: as long as a refresh token counts, in seconds. */
  readonly maxAge: number
  readonly limits: { readonly maxBodySize: number; readonly maxFields: number }
}

/**
 * Makes the renewals by the tokens of cookies. For some seconds, a token that has been used has the same answer (RFC 9700, section
 * 4.14.2): a page that is loaded again before the answer to it arrives sends the cookie that it had.
 */
export const makeRenewals = ({ token, tokenPath }: Pick<SessionOptions, "token" | "tokenPath">) =>
  Cache.makeWith((refresh: string) =>
    Effect.withFiber(({ context }) => {
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      return token(asking(context, request, tokenPath, { grant_type: "refresh_token", refresh_token: refresh }))
    }), {
    capacity: 1_000,
    timeToLive: (exit) => Exit.isSuccess(exit) && exit.value?.status === 200 ? "10 seconds" : 0
  })

/** Signs in by a name and a password, or renews by the cookie: as the token endpoint does, but for the refresh token. */
export const signingIn = (
  { cookieName, limits, maxAge, renewals, token, tokenPath }: SessionOptions
): ResponseEffect =>
  Effect.withFiber(({ context }) => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    return Effect.gen(function*() {
      yield* assertOwnPage(request)
      const { grant_type: grant = "", password, username } = yield* readParameters(request, limits)
      const [refresh, known] = grant === "refresh_token" ? cookieOf(request, cookieName) : []
      if (grant === "refresh_token" && refresh === undefined) {
        // Nobody is signed in, which is no mistake of a page that has just been opened.
        return HttpServerResponse.empty({ status: 204, headers: { "cache-control": "no-store" } })
      }
      const answer = refresh === undefined
        ? yield* token(asking(context, request, tokenPath, { grant_type: grant, username, password }))
        // The token is used up in the store, so that who leaves before the answer must find it kept.
        : yield* Effect.uninterruptible(Cache.get(renewals, refresh))
      const issued = answer?.status === 200 ? decodeTokens(answer.text ?? "") : Option.none()
      if (Option.isNone(issued)) {
        const forgotten = refresh === undefined ? {} : { "set-cookie": cookieFor(request, cookieName, "", 0) }
        return refused(answer, forgotten)
      }
      const { refresh_token: next, ...shown } = issued.value
      // A token says who somebody is, and not what they call themselves.
      const name = refresh !== undefined ? known : typeof username === "string" ? username : undefined
      const kept = name === undefined || name.length > maxName
        ? next
        : `${next}~${Buffer.from(name).toString("base64url")}`
      return HttpServerResponse.jsonUnsafe(name === undefined ? shown : { ...shown, username: name }, {
        headers: { "cache-control": "no-store", "set-cookie": cookieFor(request, cookieName, kept, maxAge) }
      })
    })
  })

/** Ends the sign-in of the cookie; with `?everywhere=true`, all sign-ins of the caller. */
export const signingOut = ({ cookieName, revoke, store, tokenPath }: SessionOptions): ResponseEffect =>
  Effect.withFiber(({ context }) => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    return Effect.gen(function*() {
      yield* assertOwnPage(request)
      const [token] = cookieOf(request, cookieName)
      if (/[?&]everywhere=true(?:&|$)/u.test(request.url)) {
        const user = Context.getOrUndefined(context, CurrentUser)
        const jwt = Context.getOrUndefined(context, Jwt)
        // An API key, for instance, is not to end how its owner is signed in.
        if (user === undefined || jwt === undefined || signInOf(user, jwt.application) === undefined) {
          return yield* Effect.fail(errorOf("Unauthorized", "errors.CredentialsNeeded"))
        }
        yield* Effect.provideService(signOut(user.subject), DocumentStore, store)
      }
      if (token !== undefined) yield* revoke(asking(context, request, `${tokenPath}/revoke`, { token }))
      return HttpServerResponse.empty({
        status: 204,
        headers: { "cache-control": "no-store", "set-cookie": cookieFor(request, cookieName, "", 0) }
      })
    })
  })

// internal

/** Another page neither signs somebody in, which would make them work in a stranger's name, nor out. */
const assertOwnPage = (request: HttpServerRequest.HttpServerRequest) => {
  const site = headersOf(request)["sec-fetch-site"]
  return site === undefined || site === "same-origin" || site === "none"
    ? Effect.void
    : Effect.fail(errorOf("Forbidden", "errors.Denied"))
}

/** The refresh token, and the name with which its user has signed in. */
const cookieOf = (
  request: HttpServerRequest.HttpServerRequest,
  name: string
): readonly [token?: string, name?: string] => {
  const [token = "", username] = (request.cookies[name] ?? "").split("~", 2)
  if (token === "") return []
  return username === undefined ? [token] : [token, Buffer.from(username, "base64url").toString()]
}

/** Longer names are not kept: cookies are short. */
const maxName = 256

/**
 * Without a path, it is for what is beside the endpoint, whatever prefix a proxy has. A browser takes it over https only, except on
 * this machine.
 */
const cookieFor = (
  request: HttpServerRequest.HttpServerRequest,
  name: string,
  value: string,
  maxAge: number
): string => {
  const { host = "", origin = "" } = headersOf(request)
  // A proxy may ask by the address of this machine: the page is where its origin is.
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/u.test(host) && !origin.startsWith("https:")
  return [`${name}=${value}`, `Max-Age=${maxAge}`, "HttpOnly", "SameSite=Strict", ...isLocal ? [] : ["Secure"]].join(
    "; "
  )
}

const asking = (
  context: Context.Context<never>,
  request: HttpServerRequest.HttpServerRequest,
  url: string,
  body: object
): Context.Context<HttpServerRequest.HttpServerRequest> => {
  const sent = { url, method: "POST", headers: {}, body: Buffer.from(JSON.stringify(body)), tool: "explorer" }
  return Context.add(context, HttpServerRequest.HttpServerRequest, innerRequest(request, sent))
}

/** What the endpoint of tokens has refused. A cookie that proves nobody is forgotten. */
const refused = (
  answer: InnerAnswer | undefined,
  forgotten: { readonly [header: string]: string }
): HttpServerResponse.HttpServerResponse => {
  const { headers = {}, status = 503, text = "" } = answer ?? {}
  const told = ["content-language", "retry-after", "vary"].flatMap((header) =>
    headers[header] === undefined ? [] : [[header, headers[header]] as const]
  )
  return HttpServerResponse.text(text, {
    status,
    contentType: "application/json",
    headers: {
      ...Object.fromEntries(told),
      "cache-control": "no-store",
      ...status === 400 ? forgotten : {}
    }
  })
}

const decodeTokens = Schema.decodeOption(Schema.fromJsonString(Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.String,
  expires_in: Schema.Finite,
  refresh_token: Schema.String
})))
