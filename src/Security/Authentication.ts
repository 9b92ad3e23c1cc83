/**
 * The schemes by which callers prove who they are: bearer tokens, HTTP basic, and API keys.
 *
 * **Details**
 *
 * An engine with access control accepts the schemes of the services that are provided to it: bearer tokens with `Jwt`, HTTP
 * basic with `Passwords`, and API keys with `ApiKeys`. {@link layer} adds a scheme, or replaces one of these.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import { Passwords } from "./Accounts.ts"
import { ApiKeys } from "./ApiKeys.ts"
import type { CurrentUser } from "./CurrentUser.ts"
import { Jwt } from "./Jwt.ts"
import { CredentialsInvalid, CredentialsUnchecked, TooManyAttempts } from "./SecurityError.ts"
import { hasAccount, isLiveIn } from "./SignIns.ts"

const typeId = "~appkernel/Security/Authentication/Scheme"

/**
 * A scheme.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scheme {
  readonly [typeId]: typeof typeId
  /** The name, one for each scheme of a service; the ready ones are `bearer`, `basic` and `apiKey`. */
  readonly id: string
  /** The header of a request that has the credentials, in lower case. */
  readonly header: string
  /**
   * The word before the credentials in the header, in lower case: `bearer`. Where there is one, requests may have it in any
   * case. Without one, the whole header is the credentials.
   */
  readonly word: string | undefined
  /** The entry in `WWW-Authenticate`, without its realm. */
  readonly challenge: Challenge
  /** Whether `verify` may fail with `TooManyAttempts`: the OpenAPI document then has 429. */
  readonly slowsGuesses: boolean
  /**
   * The user that the credentials prove. Fails with `CredentialsInvalid` if they prove nobody, with `CredentialsUnchecked` if
   * they can't be checked at the moment, and with `TooManyAttempts` if a guess is not checked: see `SignInAttempts`, which
   * schemes use whose secrets are not drawn at random.
   */
  readonly verify: (
    credentials: Redacted.Redacted<string>
  ) => Effect.Effect<CurrentUser["Service"], Refusal, DocumentStore>
}

/**
 * Why credentials don't count.
 *
 * @category errors
 * @since 0.1.0
 */
export type Refusal = CredentialsInvalid | CredentialsUnchecked | TooManyAttempts

/**
 * An entry in `WWW-Authenticate` (RFC 9110, section 11.6.1).
 *
 * @category models
 * @since 0.1.0
 */
export interface Challenge {
  /** The name of the scheme: `Bearer`. */
  readonly scheme: string
  /** The parameters after `realm`. */
  readonly parameters?: { readonly [name: string]: string } | undefined
  /** Further parameters if the request has credentials of this scheme that are not valid. */
  readonly invalid?: { readonly [name: string]: string } | undefined
}

/**
 * A scheme from its parts.
 *
 * **Example** (Credentials of a header that a gateway sets)
 *
 * ```ts
 * import { Authentication, SecurityError } from "appkernel"
 * import { Effect, Redacted } from "effect"
 *
 * const gateway = Authentication.make({
 *   id: "gateway",
 *   header: "x-gateway-user",
 *   challenge: { scheme: "Gateway" },
 *   verify: (credentials) => {
 *     const [subject = "", secret] = Redacted.value(credentials).split(" ")
 *     return secret === "of-the-gateway"
 *       ? Effect.succeed({ subject, roles: [], claims: {} })
 *       : Effect.fail(new SecurityError.CredentialsInvalid({ reason: "secret" }))
 *   }
 * })
 *
 * export const layer = Authentication.layer(gateway)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  parts: Omit<Scheme, typeof typeId | "word" | "slowsGuesses"> & {
    /** See {@link Scheme}. Defaults to none. */
    readonly word?: string | undefined
    /** See {@link Scheme}. Defaults to false. */
    readonly slowsGuesses?: boolean | undefined
  }
): Scheme => ({
  ...parts,
  slowsGuesses: parts.slowsGuesses === true,
  [typeId]: typeId,
  header: parts.header.toLowerCase(),
  word: parts.word?.toLowerCase()
})

/**
 * Bearer tokens (RFC 6750) of a `Jwt`, in the header `Authorization`. A token counts no more once its sign-in has ended: see
 * `Tokens.isLive`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const bearer = (jwt: Jwt["Service"]): Scheme => {
  const whileLive = (user: CurrentUser["Service"]) =>
    Effect.matchEffect(isLiveIn(jwt.application, user), {
      onFailure: refuse,
      onSuccess: (isLive) => isLive ? Effect.succeed(user) : refuse(new CredentialsInvalid({ reason: "revoked" }))
    })
  return make({
    id: "bearer",
    header: "authorization",
    word: "bearer",
    challenge: { scheme: "Bearer", invalid: { error: "invalid_token" } },
    verify: (token) => Effect.matchEffect(jwt.verify(token), { onFailure: refuse, onSuccess: whileLive })
  })
}

/**
 * A name and a password (RFC 7617), in UTF-8, in the header `Authorization`. A name has no colon, a password may have some.
 *
 * @category constructors
 * @since 0.1.0
 */
export const basic = (passwords: Passwords["Service"]): Scheme =>
  make({
    id: "basic",
    header: "authorization",
    word: "basic",
    challenge: { scheme: "Basic", parameters: { charset: "UTF-8" } },
    slowsGuesses: true,
    verify: (credentials) => {
      const pair = pairOf(Redacted.value(credentials))
      return pair === undefined
        ? Effect.fail(new CredentialsInvalid({ reason: "malformed" }))
        : Effect.mapBoth(passwords.verify(pair.login, pair.password), {
          onFailure: unlessInvalid,
          onSuccess: ({ claims, roles, subject }) => ({ claims, roles, subject })
        })
    }
  })

/**
 * API keys, in the header `X-API-Key`. With `Accounts`, a key counts no more once the account of its owner is gone or
 * blocked: after `security.revocation_delay` at most.
 *
 * @category constructors
 * @since 0.1.0
 */
export const apiKey = (keys: ApiKeys["Service"]): Scheme =>
  make({
    id: "apiKey",
    header: "x-api-key",
    challenge: { scheme: "ApiKey", parameters: { header: "X-API-Key" } },
    verify: (key) =>
      Effect.flatMap(keys.verify(key), (user) =>
        Effect.flatMap(
          hasAccount(user.subject),
          (isKnown) => isKnown ? Effect.succeed(user) : Effect.fail(new CredentialsInvalid({ reason: "account" }))
        )).pipe(Effect.mapError(unlessInvalid))
  })

/**
 * Adds a scheme to those of an engine, or replaces the one with its `id`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: <E = never, R = never>(scheme: Scheme | Effect.Effect<Scheme, E, R>) => Layer.Layer<never, E, R> = (
  scheme
) =>
  // An engine finds schemes by what they are, since it can't name those of applications.
  Layer.effectContext(Effect.map(
    Effect.isEffect(scheme) ? scheme : Effect.succeed(scheme),
    (scheme): Context.Context<never> => Context.makeUnsafe(new Map([[`${typeId}/${scheme.id}`, scheme]]))
  ))

/** The schemes of the services and layers that are provided. @internal */
export const provided: Effect.Effect<ReadonlyArray<Scheme>> = Effect.map(Effect.context<never>(), (context) => {
  const schemes = new Map<string, Scheme>()
  const jwt = Context.getOrUndefined(context, Jwt)
  const passwords = Context.getOrUndefined(context, Passwords)
  const keys = Context.getOrUndefined(context, ApiKeys)
  if (jwt !== undefined) schemes.set("bearer", bearer(jwt))
  const own = (scheme: Scheme): Scheme => jwt === undefined ? scheme : ofOwnUsers(scheme, jwt)
  if (passwords !== undefined) schemes.set("basic", own(basic(passwords)))
  if (keys !== undefined) schemes.set("apiKey", own(apiKey(keys)))
  for (const [key, scheme] of context.mapUnsafe) {
    if (key.startsWith(`${typeId}/`)) schemes.set(scheme.id, scheme)
  }
  return [...schemes.values()]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An account with an id as users of another issuer have them proves none of these. */
const ofOwnUsers = (scheme: Scheme, { isForeign }: Jwt["Service"]): Scheme => ({
  ...scheme,
  verify: (credentials) =>
    Effect.flatMap(
      scheme.verify(credentials),
      (user) =>
        isForeign(user.subject)
          ? Effect.fail(new CredentialsInvalid({ reason: "account" }))
          : Effect.succeed(user)
    )
})

const refuse = (error: Refusal | Error): Effect.Effect<never, Refusal> => Effect.fail(unlessInvalid(error))

/** What keeps the service from checking credentials is for the log. */
const unlessInvalid = (error: Refusal | Error): Refusal =>
  error instanceof CredentialsInvalid || error instanceof CredentialsUnchecked || error instanceof TooManyAttempts
    ? error
    : new CredentialsUnchecked({ detail: error.message })

/** The name before the first colon, and the password behind it. */
const pairOf = (text: string) => {
  const bytes = Result.getOrUndefined(Base64.decode(text))
  const pair = bytes === undefined ? undefined : Result.getOrUndefined(decodeUtf8(bytes))
  const colon = pair?.indexOf(":") ?? -1
  // RFC 7617, section 2: neither has control characters.
  if (pair === undefined || colon === -1 || /\p{Cc}/u.test(pair)) return undefined
  return { login: pair.slice(0, colon), password: Redacted.make(pair.slice(colon + 1), { label: "password" }) }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeUtf8 = (bytes: Uint8Array): Result.Result<string, unknown> => Result.try(() => utf8.decode(bytes))
