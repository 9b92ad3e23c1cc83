/**
 * Signed addresses of files: each is for one `GET` of one file until a time, with the rights that the one who asked for it has at the
 * time of its use. One that is bound answers nobody else.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { Jwt } from "../../Security/Jwt.ts"
import { hasAccount, isLiveIn, Lifetimes, signInOf } from "../../Security/SignIns.ts"
import { yesOrNo } from "../description/queryParameters.ts"
import { errorOf } from "../HttpError.ts"
import { queryReader } from "../query/parameterReader.ts"
import { pathOfRequest } from "../request/requestPath.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import * as responses from "../response/json.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { type RequestFiber, type Responding, withParameters } from "../routes/route.ts"

/** What makes the addresses of the files of a field, and what answers at them. */
export const addresses = ({ credentialsNeeded, field, respond, respondBadRequest, secret }: {
  /** The 401 to who sends no credentials to a bound address; `undefined` without access control. */
  readonly credentialsNeeded: ResponseEffect | undefined
  readonly field: string
  readonly secret: Redacted.Redacted
  /** Answers a `GET` of the file to the user of the fiber. */
  readonly respond: Responding
  readonly respondBadRequest: BadRequestResponder
}) => {
  const key = createHash("sha256").update(`appkernel/file\n${Redacted.value(secret)}`).digest()

  /** What a path says beside its claims, which nobody can read or change. */
  const besides = (path: string, isBound: boolean): Buffer =>
    Buffer.from(`${field}\n${path}${isBound ? "\nbound" : ""}`)

  const readParameters = credentialsNeeded === undefined ? readOfNobody : readOfCaller

  const sealed = (claims: string, path: string, isBound: boolean): string => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(besides(path, isBound))
    return Buffer.concat([nonce, cipher.update(claims, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
      "base64url"
    )
  }

  const opened = (text: string, path: string, isBound: boolean): Result.Result<Claims, unknown> => {
    const bytes = Buffer.from(text, "base64url")
    const claims = Result.try(() => {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(besides(path, isBound)).setAuthTag(bytes.subarray(-16))
      return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8")
    })
    return Result.flatMap(claims, (claims) => decodeClaims(claims))
  }

  /** Answers with the address to who may read the file now. */
  const sign = (get: ResponseEffect): ResponseEffect =>
    withParameters((parameters, fiber) => {
      const read = readParameters(parameters)
      if (Result.isFailure(read)) return respondBadRequest(read.failure)
      const { bound, expires_in: seconds = defaultSeconds } = read.success
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const path = pathOfRequest(request).replace(/\/address$/u, "")
      const user = Context.getOrUndefined(fiber.context, CurrentUser)
      const isBound = bound === "true"
      if (isBound && user === undefined && credentialsNeeded !== undefined) return credentialsNeeded
      const now = Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() / 1000)
      const expires = now + Math.min(seconds, lifetimeFor(user, now, fiber))
      const claims = JSON.stringify({ expires, ...user === undefined ? {} : { user } })
      const href = `${path}/signed/${sealed(claims, path, isBound)}`
      return Effect.as(
        Effect.provideService(get, HttpServerRequest.ParsedSearchParams, {}),
        HttpServerResponse.setHeader(
          responses.json(JSON.stringify({ href, expires: DateTime.formatIso(DateTime.makeUnsafe(expires * 1000)) })),
          "cache-control",
          "no-store"
        )
      )
    })

  const open: ResponseEffect = Effect.withFiber<HttpServerResponse.HttpServerResponse, HandlerFailure>((fiber) => {
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    // A document's identifier may be `signed`, too.
    const own = pathOfRequest(request)
    const path = own.slice(0, own.lastIndexOf("/signed/"))
    const signature = params["signature"] ?? ""
    const free = Result.getOrUndefined(opened(signature, path, false))
    const signed = free ?? Result.getOrUndefined(opened(signature, path, true))
    if (signed === undefined || signed.expires * 1000 <= fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()) {
      return denied
    }
    // What was signed is what a `CurrentUser` is.
    const user = signed.user as CurrentUser["Service"] | undefined
    if (free === undefined) {
      const caller = Context.getOrUndefined(fiber.context, CurrentUser)
      if (caller === undefined) return credentialsNeeded ?? denied
      return isSame(caller, user, fiber) ? privately(request) : denied
    }
    fiber.setContext(
      user === undefined ? Context.omit(CurrentUser)(fiber.context) : Context.add(fiber.context, CurrentUser, user)
    )
    return Effect.flatMap(isKnown(user, fiber), (isKnown) => isKnown ? privately(request) : denied)
  })

  /** Nobody else may keep what the address is for, nor learn the address from where the file leads. */
  const privately = (request: HttpServerRequest.HttpServerRequest): ResponseEffect =>
    Effect.map(
      Effect.provideService(respond, HttpServerRequest.HttpServerRequest, request),
      (response) =>
        HttpServerResponse.setHeaders(response, {
          "cache-control": response.headers["cache-control"]?.includes("no-store") === true
            ? "no-store"
            : "private, no-cache",
          "referrer-policy": "no-referrer"
        })
    )

  return { sign, open }
}

// internal

const denied: ResponseEffect = Effect.fail(errorOf("Forbidden", "errors.Denied"))

/** Two issuers may give one subject to two people. Whoever has no issuer has an account here, as who has a token of ours. */
const isSame = (
  caller: CurrentUser["Service"],
  signed: CurrentUser["Service"] | undefined,
  fiber: RequestFiber
): boolean => {
  const jwt = Context.getOrUndefined(fiber.context, Jwt)
  const issuerOf = (user: CurrentUser["Service"] | undefined) => user?.claims["iss"] ?? jwt?.application
  return caller.subject === signed?.subject && issuerOf(caller) === issuerOf(signed)
}

/** Whether the user has a sign-in that can be looked up when the address is used. */
const isSignedIn = (user: CurrentUser["Service"], fiber: RequestFiber): boolean => {
  const jwt = Context.getOrUndefined(fiber.context, Jwt)
  return jwt !== undefined && signInOf(user, jwt.application) !== undefined
}

/** Other credentials can't be checked again, so what they sign lives no longer than an access token, nor than they do. */
const lifetimeFor = (user: CurrentUser["Service"] | undefined, now: number, fiber: RequestFiber): number => {
  if (user === undefined || isSignedIn(user, fiber)) return Infinity
  const { exp } = user.claims
  const { accessToken } = Context.get(fiber.context, Lifetimes)
  return Math.floor(Math.min(Duration.toSeconds(accessToken), typeof exp === "number" ? exp - now : Infinity))
}

/** Whether the sign-in of a user lives on, or otherwise the account, as far as it can be known. */
const isKnown = (user: CurrentUser["Service"] | undefined, fiber: RequestFiber): Effect.Effect<boolean, StoreError> => {
  const jwt = Context.getOrUndefined(fiber.context, Jwt)
  if (user === undefined) return Effect.succeed(true)
  const known = jwt !== undefined && isSignedIn(user, fiber)
    ? isLiveIn(jwt.application, user)
    // A token of another issuer may be of somebody without an account here.
    : typeof user.claims["iss"] === "string"
    ? Effect.succeed(true)
    : hasAccount(user.subject)
  return Effect.provideService(known, DocumentStore, Context.getUnsafe(fiber.context, DocumentStore))
}

const defaultSeconds = 300

const expiring = {
  expires_in: {
    schema: Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 86_400 })),
    message: "must be a whole number of seconds from 1 to 86,400",
    isRequired: false
  }
} as const

const isUnknown = "is not a parameter of an address"

const readOfCaller = queryReader({ ...expiring, bound: yesOrNo }, isUnknown)

const readOfNobody: typeof readOfCaller = queryReader(expiring, isUnknown)

const Claims = Schema.Struct({ expires: Schema.Int, user: Schema.optionalKey(Schema.Unknown) })

type Claims = typeof Claims.Type

const decodeClaims = SchemaParser.decodeUnknownResult(
  Schema.fromJsonString(Claims)
)
