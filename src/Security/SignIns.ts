/**
 * Sign-ins: from the credentials of a user to tokens, and their end. `Tokens` exports what programs use.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Crypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { defaultOf } from "../internal/configurationKeys.ts"
import { DocumentStore } from "../Repository/DocumentStore.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import { Accounts } from "./Accounts.ts"
import { CurrentUser } from "./CurrentUser.ts"
import { Jwt } from "./Jwt.ts"
import { hashOf, isSameHash } from "./keys/hash.ts"
import { stampOf } from "./keys/passwordStamp.ts"
import { CredentialsInvalid, type KeysInvalid } from "./SecurityError.ts"
import { type SignIn, type SignInCollection, signInsIn } from "./signIns/collection.ts"
import { type Claimed, Liveness } from "./signIns/liveness.ts"

/**
 * How long tokens count.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lifetimes {
  /** The lifetime of an access token. Defaults to 15 minutes. */
  readonly accessToken: Duration.Duration
  /** The time in which a refresh token can be used. Defaults to 30 days. */
  readonly refreshToken: Duration.Duration
  /**
   * The time after which no process accepts a token whose sign-in has ended, or whose account is gone, blocked, has another
   * password or has lost a role. Each process asks the store that often for each sign-in. Defaults to 30 seconds; zero asks
   * on every request.
   */
  readonly revocationDelay: Duration.Duration
}

/**
 * The current lifetimes: `security.access_token_lifetime`, `security.refresh_token_lifetime` and
 * `security.revocation_delay` of the configuration.
 *
 * @category references
 * @since 0.1.0
 */
export const Lifetimes: Context.Reference<Lifetimes> = Context.Reference<Lifetimes>(
  "appkernel/Security/SignIns/Lifetimes",
  {
    defaultValue: () => ({
      accessToken: defaultOf("security.access_token_lifetime"),
      refreshToken: defaultOf("security.refresh_token_lifetime"),
      revocationDelay: defaultOf("security.revocation_delay")
    })
  }
)

/**
 * The tokens of a sign-in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issued {
  readonly accessToken: Redacted.Redacted<string>
  /** The token that renews the sign-in. It can be used once. */
  readonly refreshToken: Redacted.Redacted<string>
  /** The lifetime of the access token. */
  readonly expiresIn: Duration.Duration
}

/**
 * Begins a sign-in of a user whom the program has authenticated. The access token names the sign-in (`sid`) and itself
 * (`jti`). The sign-in ends when the account gets another password than the one of `stamp`, which is by default the one that
 * it has now.
 *
 * @category constructors
 * @since 0.1.0
 */
export const signIn: (
  user: { readonly subject: string; readonly roles: ReadonlyArray<string>; readonly stamp?: string | undefined }
) => Effect.Effect<Issued, KeysInvalid | StoreError, Jwt | DocumentStore> = Effect.fn("Tokens.signIn")(
  function*({ roles, stamp, subject }) {
    const { signIns } = yield* current
    const lifetimes = yield* Lifetimes
    const now = yield* Clock.currentTimeMillis
    const handle = yield* random(handleBytes)
    const secret = yield* random(secretBytes)
    const id = hashOf(handle)
    const account = stamp === undefined ? yield* factsOf(subject) : { roles, stamp }
    const accessToken = yield* accessTokenOf({ id, roles, subject, accountRoles: account?.roles ?? roles })
    const expires = now + Duration.toMillis(lifetimes.refreshToken)
    yield* signIns.insert({
      id,
      subject,
      token: hashOf(secret),
      stamp: account?.stamp,
      expires,
      began: now,
      used: now
    })
    return { accessToken, refreshToken: refreshTokenOf(handle, secret), expiresIn: lifetimes.accessToken }
  }
)

/**
 * New tokens for a refresh token, which has no use then. Roles are those that the account has now. Fails with
 * `CredentialsInvalid` if the token proves nobody any more, for instance since the account has another password. A token that comes a second time ends its sign-in, and with it
 * all tokens that came from it: of several at once, one gets tokens, which end, too.
 *
 * @category combinators
 * @since 0.1.0
 */
export const refresh: (
  token: Redacted.Redacted<string>
) => Effect.Effect<
  Issued,
  CredentialsInvalid | KeysInvalid | StoreError,
  Jwt | Accounts | DocumentStore
> = Effect.fn("Tokens.refresh")(function*(token) {
  const { end, signIns } = yield* current
  const accounts = yield* Accounts
  const lifetimes = yield* Lifetimes
  const parts = partsOf(token)
  if (parts === undefined) return yield* new CredentialsInvalid({ reason: "malformed" })
  const found = yield* signIns.find(parts.id)
  if (found === undefined) return yield* new CredentialsInvalid({ reason: "revoked" })
  const endAs = (reason: CredentialsInvalid["reason"]) =>
    Effect.andThen(end(parts.id), Effect.fail(new CredentialsInvalid({ reason })))
  const reused = Effect.andThen(
    Effect.logWarning(`A refresh token of ${found.subject} was used twice: its sign-in has ended`),
    endAs("reused")
  )
  if (!isSameHash(hashOf(parts.secret), found.token)) return yield* reused
  const now = yield* Clock.currentTimeMillis
  if (now >= found.expires) return yield* endAs("expired")
  const account = Option.getOrUndefined(yield* accounts.findBySubject(found.subject))
  if (account === undefined) return yield* endAs("account")
  const stamp = stampOf(Redacted.value(account.secret))
  if (!isOfPassword(found, stamp)) return yield* endAs("revoked")
  const { roles } = account
  const accessToken = yield* accessTokenOf({ id: found.id, roles, subject: found.subject, accountRoles: roles })
  const secret = yield* random(secretBytes)
  // The last step, so that a failure before it leaves the token as it was.
  const expires = now + Duration.toMillis(lifetimes.refreshToken)
  const isRotated = yield* signIns.rotate({ ...found, stamp: found.stamp ?? stamp }, hashOf(secret), {
    expires,
    used: now
  })
  // It was used meanwhile, or the sign-in has ended.
  if (!isRotated) {
    return yield* (yield* signIns.find(parts.id)) === undefined ? new CredentialsInvalid({ reason: "revoked" }) : reused
  }
  return { accessToken, refreshToken: refreshTokenOf(parts.handle, secret), expiresIn: lifetimes.accessToken }
})

/**
 * Ends the sign-in of a refresh token or an access token, and with it all tokens that came from it. A token that proves
 * nobody is ignored.
 *
 * @category combinators
 * @since 0.1.0
 */
export const revoke: (
  token: Redacted.Redacted<string>
) => Effect.Effect<void, StoreError, Jwt | DocumentStore> = Effect.fn("Tokens.revoke")(function*(token) {
  const { end } = yield* current
  const parts = partsOf(token)
  if (parts !== undefined) return yield* end(parts.id)
  const jwt = yield* Jwt
  const user = yield* Effect.option(jwt.verify(token))
  const id = Option.isSome(user) ? signInOf(user.value, jwt.application) : undefined
  if (id !== undefined) yield* end(id)
})

/**
 * Ends all sign-ins of a user. Returns their number. Tokens that the program signed itself, by `Jwt`, belong to none.
 *
 * @category combinators
 * @since 0.1.0
 */
export const signOut: (subject: string) => Effect.Effect<number, StoreError, DocumentStore> = Effect.fn(
  "Tokens.signOut"
)(function*(subject) {
  const { liveness, signIns } = yield* current
  return yield* Effect.ensuring(signIns.endAll(subject), liveness.endAll(subject))
})

/**
 * A sign-in that has not ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  /** The `sid` of its access tokens. */
  readonly id: string
  readonly began: DateTime.Utc
  /** When its tokens were issued or renewed the last time. */
  readonly lastUsed: DateTime.Utc
  /** When it ends if it is not used until then. */
  readonly expires: DateTime.Utc
  /** Whether the token of the user is of it. */
  readonly isCurrent: boolean
}

/**
 * The sign-ins of a user that go on, those that were used last first, up to a hundred.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sessions: (
  user: CurrentUser["Service"]
) => Effect.Effect<ReadonlyArray<Session>, StoreError, Jwt | DocumentStore> = Effect.fn("Tokens.sessions")(
  function*(user) {
    const { signIns } = yield* current
    const { application } = yield* Jwt
    const found = yield* signIns.list(user.subject, yield* Clock.currentTimeMillis)
    const account = found.length === 0 ? undefined : yield* factsOf(user.subject)
    return account === undefined ? [] : found.filter((one) => isOfPassword(one, account.stamp)).map((one): Session => ({
      id: one.id,
      began: DateTime.makeUnsafe(one.began),
      lastUsed: DateTime.makeUnsafe(one.used),
      expires: DateTime.makeUnsafe(one.expires),
      isCurrent: one.id === signInOf(user, application)
    }))
  }
)

/**
 * Ends one of the sign-ins of a user. One that has ended, or that is somebody else's, is ignored.
 *
 * @category combinators
 * @since 0.1.0
 */
export const endSession: (
  subject: string,
  id: string
) => Effect.Effect<void, StoreError, DocumentStore> = Effect.fn("Tokens.endSession")(function*(subject, id) {
  const { end, signIns } = yield* current
  if ((yield* signIns.find(id))?.subject === subject) yield* end(id)
})

/**
 * Whether the sign-in of a verified token has not ended, and its account is neither gone nor blocked, has the same password,
 * and each role that it had when the token was issued. The answer may be as old as `revocationDelay` of {@link Lifetimes}; the end of a sign-in is known at once to the process that ended it. Tokens
 * of other issuers, and those without a sign-in, are not asked about.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLive: (
  user: CurrentUser["Service"]
) => Effect.Effect<boolean, StoreError, Jwt | DocumentStore> = (user) =>
  Effect.flatMap(Jwt, ({ application }) => isLiveIn(application, user))

/**
 * {@link isLive} for the tokens of an application. Requests with tokens that are known to live need no further step.
 *
 * @internal
 */
export const isLiveIn = (
  application: string,
  user: CurrentUser["Service"]
): Effect.Effect<boolean, StoreError, DocumentStore> =>
  Effect.withFiber((fiber) => {
    const id = signInOf(user, application)
    if (id === undefined) return Effect.succeed(true)
    const { liveness, signIns } = signInsOf(Context.getUnsafe(fiber.context, DocumentStore))
    const { revocationDelay } = Context.get(fiber.context, Lifetimes)
    const signIn = { id, subject: user.subject, roles: accountRolesOf(user) }
    return liveness.check(signIn, Duration.toMillis(revocationDelay), asked(signIns, signIn))
  })

/**
 * Whether the user has an account, as far as this process knows: the store is asked as often as for a sign-in. Without
 * `Accounts`, everybody has one.
 *
 * @internal
 */
export const hasAccount = (subject: string): Effect.Effect<boolean, StoreError, DocumentStore> =>
  Effect.withFiber((fiber) => {
    const { liveness } = signInsOf(Context.getUnsafe(fiber.context, DocumentStore))
    const { revocationDelay } = Context.get(fiber.context, Lifetimes)
    const owner = { id: `account ${subject}`, subject }
    return liveness.check(owner, Duration.toMillis(revocationDelay), factsOf(subject))
  })

/**
 * Lets the sign-in of the current request go on if its user gets the password of a hash: it ends the others alone. So it
 * runs before the hash is stored, whosever it is.
 *
 * @internal
 */
export const keepSignIn = (hash: string): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    const user = Context.getOrUndefined(context, CurrentUser)
    const jwt = Context.getOrUndefined(context, Jwt)
    const store = Context.getOrUndefined(context, DocumentStore)
    const id = user === undefined || jwt === undefined ? undefined : signInOf(user, jwt.application)
    if (user === undefined || store === undefined || id === undefined) return Effect.void
    return keep(id, user.subject, stampOf(hash)).pipe(
      Effect.provideService(DocumentStore, store),
      Effect.catch((error) =>
        Effect.logWarning(`A sign-in does not outlive the change of a password: ${error.message}`)
      )
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const handleBytes = 16
const secretBytes = 32

/** A handle and a secret as base64url. Who has the handle has had a refresh token of the sign-in. */
const form = /^([\w-]{22})\.([\w-]{43})$/u

const partsOf = (token: Redacted.Redacted<string>) => {
  const match = form.exec(Redacted.value(token))
  if (match === null) return undefined
  const [, handle = "", secret = ""] = match
  return { handle, secret, id: hashOf(handle) }
}

const refreshTokenOf = (handle: string, secret: string) =>
  Redacted.make(`${handle}.${secret}`, { label: "refresh token" })

const random = (bytes: number) =>
  Effect.map(Crypto.WebCrypto, (crypto) => Base64Url.encode(crypto.getRandomValues(new Uint8Array(bytes))))

const accessTokenOf = Effect.fnUntraced(function*({ accountRoles, id, roles, subject }: {
  readonly id: string
  readonly roles: ReadonlyArray<string>
  /** The roles of the account. */
  readonly accountRoles: ReadonlyArray<string>
  readonly subject: string
}) {
  const { sign } = yield* Jwt
  const { accessToken } = yield* Lifetimes
  const others = roles.every((role) => accountRoles.includes(role)) ? {} : { account_roles: accountRoles }
  return yield* sign({ subject, roles, claims: { sid: id, jti: yield* random(16), ...others }, expiresIn: accessToken })
})

/** The roles of the account, of those that the token gives or of all: without one of them the token does not count. */
const accountRolesOf = ({ claims, roles }: CurrentUser["Service"]): ReadonlyArray<string> => {
  const accountRoles = claims["account_roles"]
  return Array.isArray(accountRoles) ? accountRoles : roles
}

/** The sign-in that a token of this application names. Tokens of other issuers may have a `sid` of their own. @internal */
export const signInOf = ({ claims }: CurrentUser["Service"], application: string): string | undefined => {
  const { iss, sid } = claims
  return iss === application && typeof sid === "string" ? sid : undefined
}

interface SignInsOfStore {
  readonly signIns: SignInCollection
  readonly liveness: Liveness
  /** Ends a sign-in, for this process at once. */
  readonly end: (id: string) => Effect.Effect<void, StoreError>
}

const signInsOf = memoize((store: DocumentStore["Service"]): SignInsOfStore => {
  const signIns = signInsIn(store)
  const liveness = new Liveness()
  return { signIns, liveness, end: (id) => Effect.ensuring(signIns.end(id), liveness.end(id)) }
})

/** The sign-ins of the current store. */
const current = Effect.map(DocumentStore, signInsOf)

/** What the store and the accounts say of a sign-in. */
const asked = Effect.fnUntraced(function*(signIns: SignInCollection, { id, subject }: Claimed) {
  const found = yield* signIns.find(id)
  if (found?.subject !== subject) return undefined
  const account = yield* factsOf(subject)
  return account === undefined || !isOfPassword(found, account.stamp) ? undefined : account
})

interface Facts {
  readonly roles: ReadonlyArray<string> | undefined
  readonly stamp: string | undefined
}

const everybody: Facts = { roles: undefined, stamp: undefined }

/**
 * The roles and the stamp of a user's account; `undefined` without an account. Without `Accounts`, every user counts as
 * having one.
 */
const factsOf = Effect.fnUntraced(function*(subject: string) {
  const accounts = yield* Effect.serviceOption(Accounts)
  if (Option.isNone(accounts)) return everybody
  const account = Option.getOrUndefined(yield* accounts.value.findBySubject(subject))
  if (account === undefined) return undefined
  const facts: Facts = { roles: account.roles, stamp: stampOf(Redacted.value(account.secret)) }
  return facts
})

const isOfPassword = ({ next, stamp }: SignIn, current: string | undefined): boolean =>
  current === undefined || stamp === undefined || current === stamp || next.includes(current)

const keep = Effect.fnUntraced(function*(id: string, subject: string, next: string) {
  const { signIns } = yield* current
  const found = yield* signIns.find(id)
  const stamp = (yield* factsOf(subject))?.stamp
  if (found?.subject !== subject || stamp === undefined || !isOfPassword(found, stamp)) return
  yield* signIns.keep(id, stamp, next)
})
