/** Finds the credentials of a request, checks them by the schemes of the service, and answers 401 to wrong ones. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { textOfKey } from "../../internal/texts.ts"
import { varyWith } from "../../internal/vary.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Challenge, Refusal, Scheme } from "../../Security/Authentication.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import type { Reason } from "../../Security/SecurityError.ts"
import { tooManyRequestsAfter } from "../messages/message.ts"
import type { ErrorResponses } from "../response/translatedResponses.ts"

type Response = HttpServerResponse.HttpServerResponse

type Answered<E, R> = Effect.Effect<Response, E, R | DocumentStore | HttpServerRequest.HttpServerRequest>

/** Finds out who calls. */
export interface Authenticator {
  /**
   * Runs a handler with the caller as `CurrentUser`, or without one if the request has no credentials. The handler does
   * not run if the credentials are wrong (401), after too many failed attempts (429), or if the credentials can't be
   * checked (503).
   */
  readonly authenticated: <E, R>(handler: Effect.Effect<Response, E, R>) => Answered<E, R>
  /** The 401 for a request that has no credentials and needs some. */
  readonly credentialsNeeded: Effect.Effect<Response>
}

/** Authenticates by schemes. `realm` names the service in challenges. */
export const makeAuthenticator = ({ errorResponses, realm, schemes }: {
  readonly schemes: ReadonlyArray<Scheme>
  readonly realm: string
  readonly errorResponses: ErrorResponses
}): Authenticator => {
  const find = makeFinder(schemes)
  const { forAll, forCaller } = makeCallerHeaders([...new Set(schemes.map(({ header }) => header))])
  const challenges = (invalid?: Scheme): { readonly [name: string]: string } => ({
    "www-authenticate": schemes.map(({ challenge, id }) => challengeOf(challenge, realm, id === invalid?.id)).join(", ")
  })
  const needed = errorResponses.sentence("Unauthorized", textOfKey("errors.CredentialsNeeded"), challenges())
  const refusals = new Map<Scheme | undefined, Effect.Effect<Response>>(
    [undefined, ...schemes].map((scheme) => [
      scheme,
      errorResponses.sentence("Unauthorized", textOfKey("errors.CredentialsInvalid"), challenges(scheme))
    ])
  )
  const unchecked = errorResponses.sentence("ServiceUnavailable", textOfKey("errors.CredentialsUnchecked"))
  const refused = (reason: Reason, scheme?: Scheme): Effect.Effect<Response> =>
    Effect.andThen(
      Effect.tap(
        counted(reason, scheme),
        () => Effect.annotateLogs(Effect.logInfo("The credentials are refused"), { scheme: scheme?.id, reason })
      ),
      refusals.get(scheme) ?? needed
    )
  const failed = (error: Refusal, scheme: Scheme): Effect.Effect<Response> => {
    switch (error._tag) {
      case "CredentialsInvalid":
        return refused(error.reason, scheme)
      case "CredentialsUnchecked":
        return Effect.andThen(Effect.annotateLogs(Effect.logWarning(error.message), { scheme: scheme.id }), unchecked)
      case "TooManyAttempts": {
        const wait = Duration.toMillis(error.retryAfter)
        return Effect.andThen(
          Effect.tap(
            counted("slowed", scheme),
            () => Effect.annotateLogs(Effect.logInfo(error.message), { scheme: scheme.id })
          ),
          errorResponses.failure(tooManyRequestsAfter("errors.TooManyAttempts", wait))
        )
      }
    }
  }
  return {
    credentialsNeeded: Effect.map(needed, forCaller),
    authenticated: (handler) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const found = find(NodeHttpServerRequest.toIncomingMessage(request))
        if (found === undefined) {
          leaveUser(fiber)
          return Effect.map(handler, forAll)
        }
        if (typeof found === "string") return Effect.map(refused(found), forCaller)
        const { credentials, scheme } = found
        return Effect.map(
          Effect.matchEffect(scheme.verify(credentials), {
            onFailure: (error) => failed(error, scheme),
            onSuccess: (user) => {
              enterUser(fiber, user)
              return handler
            }
          }),
          forCaller
        )
      })
  }
}

const refusedCredentials = Metric.counter("appkernel.credentials.refused", {
  description: "Requests whose credentials were refused",
  incremental: true
})

const counted = (reason: string, scheme?: Scheme): Effect.Effect<void> =>
  Metric.update(
    Metric.withAttributes(refusedCredentials, { reason, ...(scheme === undefined ? {} : { scheme: scheme.id }) }),
    1
  )

/** Sets the user until the end of the request, which restores the context of its fiber. The access log reads the user. */
const enterUser = (fiber: Fiber.Fiber<unknown, unknown>, user: CurrentUser["Service"]): void => {
  fiber.setContext(Context.add(fiber.context, CurrentUser, user))
  if (fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer) return
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  if (span !== undefined && span._tag === "Span" && span.sampled) span.attribute("enduser.id", user.subject)
}

/** Removes the user of a server that itself runs for one, as in a test: callers don't get that user's rights. */
const leaveUser = (fiber: Fiber.Fiber<unknown, unknown>): void => {
  if (Context.getOrUndefined(fiber.context, CurrentUser) !== undefined) {
    fiber.setContext(Context.omit(CurrentUser)(fiber.context))
  }
}

interface Found {
  readonly scheme: Scheme
  readonly credentials: Redacted.Redacted<string>
}

/**
 * Finds the credentials of a request, or the reason why they can't be used. A connection that sends the same credentials
 * again gets the same object, so that a scheme can cache its check by that object.
 */
const makeFinder = (schemes: ReadonlyArray<Scheme>) => {
  const latest = new WeakMap<Socket, { readonly header: string; readonly value: string; readonly found: Found }>()
  const byHeader = [...new Set([...standardHeaders, ...schemes.map(({ header }) => header)])].map((header) => {
    const own = schemes.filter((scheme) => scheme.header === header)
    return {
      header,
      whole: own.find(({ word }) => word === undefined),
      byWord: new Map(own.map((scheme) => [scheme.word, scheme]))
    }
  })
  const parse = ({ byWord, whole }: (typeof byHeader)[number], value: string): Found | Reason => {
    const space = value.indexOf(" ")
    const scheme = byWord.get(value.slice(0, Math.max(space, 0)).toLowerCase())
    if (scheme !== undefined) return { scheme, credentials: Redacted.make(value.slice(space + 1).trim()) }
    if (whole !== undefined) return { scheme: whole, credentials: Redacted.make(value) }
    return space === -1 && byWord.size > 0 ? "malformed" : "scheme"
  }
  return (
    { headers, rawHeaders, socket }: Pick<IncomingMessage, "headers" | "rawHeaders" | "socket">
  ): Found | Reason | undefined => {
    let found: Found | Reason | undefined
    for (const own of byHeader) {
      const { header } = own
      const value = headers[header]
      if (value === undefined) continue
      // Node takes the first of several headers `Authorization`; a proxy may have checked another one.
      if (found !== undefined || typeof value !== "string" || isRepeated(rawHeaders, header)) return "several"
      const before = latest.get(socket)
      if (before !== undefined && before.header === header && before.value === value) {
        found = before.found
        continue
      }
      found = parse(own, value)
      if (typeof found !== "string") latest.set(socket, { header, value, found })
    }
    return found
  }
}

/** A request with one of these headers has credentials, even if no scheme reads the header. */
const standardHeaders = ["authorization", "x-api-key"]

const isRepeated = (rawHeaders: ReadonlyArray<string>, name: string): boolean => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i]
    if (raw?.length === name.length && raw.toLowerCase() === name) count++
  }
  return count > 1
}

const challengeOf = ({ invalid, parameters, scheme }: Challenge, realm: string, isInvalid: boolean): string =>
  `${scheme} ${
    Object.entries({ realm, ...parameters, ...(isInvalid ? invalid : {}) })
      .map(([name, value]) => `${name}=${quoted(value)}`).join(", ")
  }`

/** A quoted string of a header (RFC 9110, section 5.6.4). */
const quoted = (text: string): string => `"${text.replaceAll(/[^ -~]/gu, "?").replaceAll(/["\\]/gu, "\\$&")}"`

/** Adds the headers for caches: `Vary` names the headers of credentials, and the response to a caller is `private`. */
const makeCallerHeaders = (credentialHeaders: ReadonlyArray<string>): CallerHeaders => {
  const names = credentialHeaders.map((name) =>
    name.split("-").map((part) => part === "api" ? "API" : part.charAt(0).toUpperCase() + part.slice(1)).join("-")
  )
  const all = varyWith(undefined, names)
  const forAll: CallerHeaders["forAll"] = (response) => {
    const known = response.headers["vary"]
    return HttpServerResponse.setHeader(response, "vary", known === undefined ? all : varyWith(known, names))
  }
  return {
    forAll,
    forCaller: (response) => {
      const known = response.headers["cache-control"]
      const varied = forAll(response)
      return known !== undefined && isPrivate(known)
        ? varied
        : HttpServerResponse.setHeader(varied, "cache-control", "private, no-cache")
    }
  }
}

interface CallerHeaders {
  /** For a response that is the same for all requests without credentials. */
  readonly forAll: (response: Response) => Response
  /** For a response to a caller, or about missing or wrong credentials. */
  readonly forCaller: (response: Response) => Response
}

/** Whether the application has forbidden shared caches to store the response. */
const isPrivate = (cacheControl: string): boolean =>
  cacheControl.toLowerCase().split(",").some((directive) => {
    const name = directive.trim()
    return name === "no-store" || name === "private"
  })
