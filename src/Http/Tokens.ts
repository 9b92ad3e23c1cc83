/**
 * Tokens for people who sign in: a ready service that issues, renews and revokes them.
 *
 * **Details**
 *
 * `POST <urlBase>/token` takes JSON or a form (RFC 6749):
 *
 * | `grant_type` | with | |
 * |---|---|---|
 * | `password` | `username`, `password` | signs in to an account of `Accounts` |
 * | `refresh_token` | `refresh_token` | renews the tokens of a sign-in |
 *
 * The response has an `access_token`, which is a JSON web token of 15 minutes, its `expires_in` in seconds, and a
 * `refresh_token`, which counts once and for 30 days. One that comes a second time ends the sign-in: all tokens that came
 * from it. Errors have the codes of RFC 6749 as their `error`. Wrong credentials are `invalid_grant`, which is a 400 there:
 * a 401 is about the `Authorization` of a request.
 *
 * `POST <urlBase>/token/revoke` ends the sign-in of a `token`, whichever of both it is (RFC 7009).
 *
 * `GET <urlBase>/token/sessions` lists the sign-ins of the caller that go on, and `DELETE <urlBase>/token/sessions/<id>` ends one. Both
 * are for who has signed in: for other credentials, as an API key, there are none.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { Anonymous, Authenticated } from "../Access/Permission.ts"
import { Passwords, type Verified } from "../Security/Accounts.ts"
import { CurrentUser } from "../Security/CurrentUser.ts"
import { Jwt } from "../Security/Jwt.ts"
import type { CredentialsInvalid } from "../Security/SecurityError.ts"
import * as SignIns from "../Security/SignIns.ts"
import { TooManyRequests } from "./HttpError.ts"
import { tooManyRequestsAfter } from "./messages/message.ts"
import * as Service from "./Service.ts"
import {
  description,
  InvalidGrant,
  InvalidRequest,
  type TokenRequest,
  type TokenResponse,
  UnsupportedGrantType
} from "./TokensApi.ts"

export {
  endSession,
  isLive,
  type Issued,
  Lifetimes,
  refresh,
  revoke,
  type Session,
  sessions,
  signIn,
  signOut
} from "../Security/SignIns.ts"
export { InvalidGrant, InvalidRequest, TokenRequest, TokenResponse, UnsupportedGrantType } from "./TokensApi.ts"

/**
 * The service. Its paths do not have the segment of its name. `TokensApi` has its description, for clients and browsers.
 *
 * **Example** (A shop that users sign in to)
 *
 * ```ts check
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import {
 *   Accounts,
 *   Anonymous,
 *   Converter,
 *   CurrentSubject,
 *   EmbeddedStore,
 *   Index,
 *   Jwt,
 *   KernelEngine,
 *   Model,
 *   Resource,
 *   Role,
 *   Tokens
 * } from "appkernel"
 * import { Layer, Schema } from "effect"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id({ prefix: "U" }),
 *   email: Schema.String.pipe(Model.indexed(Index.unique)),
 *   password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
 *   roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
 * }) {}
 *
 * const Users = Resource.make(User, { methods: ["GET", "POST"] })
 *   // Who signs up is a user: only administrators write roles.
 *   .grant(Anonymous, { methods: "POST", check: () => ($) => $.roles.equals(["user"]), readOnly: ["roles"] })
 *   .grant(CurrentSubject, { methods: "GET" })
 *   .require(Role("admin"))
 *
 * const engine = KernelEngine.make("shop")
 *   .register(Users, { urlBase: "/api/v1" })
 *   .register(Tokens.service, { urlBase: "/api/v1" })
 *   .enableSecurity()
 *
 * engine.layer.pipe(
 *   Layer.provide([EmbeddedStore.layer, Jwt.layer, Accounts.fromModel(User, { login: "email", secret: "password" })]),
 *   engine.launch,
 *   NodeRuntime.runMain
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const service = Service.implement(description, {
  token: ({ payload }) => Effect.andThen(noStore, granted(payload)),
  revoke: ({ payload }) => Effect.andThen(noStore, revoked(payload.token)),
  sessions: () => Effect.andThen(noStore, listed),
  end_session: ({ params: { id } }) => ofCaller(({ subject }) => SignIns.endSession(subject, id), undefined)
}).require(Anonymous, ["token", "revoke"]).require(Authenticated, ["sessions", "end_session"])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withHeader = (name: string, value: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value))
  )

/** RFC 6749, section 5.1. */
const noStore: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest> = withHeader("cache-control", "no-store")

const missing = (parameter: string) =>
  new InvalidRequest({ message: `The parameter ${parameter} is missing`, parameter })

/** A parameter without a value counts as none (RFC 6749, section 3.2). */
const isMissing = (value: string | Redacted.Redacted | undefined): value is undefined =>
  value === undefined || (Redacted.isRedacted(value) ? Redacted.value(value) : value) === ""

const signIns = Metric.counter("appkernel.sign_ins", {
  description: "Tokens that people asked for, and whether they got some",
  incremental: true
})

/** Counts the outcomes of a grant. What the store fails with says nothing of who asks. */
const counted = <A, E, R>(
  grant: "password" | "refresh_token",
  issued: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.onExit(issued, (exit) => {
    const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
    const outcome = error === undefined
      ? "issued"
      : error instanceof InvalidGrant
      ? "refused"
      : error instanceof TooManyRequests
      ? "slowed"
      : "failed"
    return Metric.update(Metric.withAttributes(signIns, { grant, outcome }), 1)
  })

const granted = Effect.fnUntraced(function*(grant: typeof TokenRequest.Type) {
  switch (grant.grant_type) {
    case "password": {
      if (isMissing(grant.username)) return yield* missing("username")
      if (isMissing(grant.password)) return yield* missing("password")
      return responseOf(
        yield* counted("password", Effect.flatMap(authenticated(grant.username, grant.password), signedIn))
      )
    }
    case "refresh_token": {
      if (isMissing(grant.refresh_token)) return yield* missing("refresh_token")
      return responseOf(yield* counted("refresh_token", renewed(grant.refresh_token)))
    }
    case undefined:
    case "":
      return yield* missing("grant_type")
    default:
      return yield* new UnsupportedGrantType()
  }
})

/** The user of an account. `Passwords` slows failed attempts. */
const authenticated = (login: string, password: Redacted.Redacted<string>) =>
  Effect.flatMap(Passwords, ({ verify }) => verify(login, password)).pipe(
    Effect.catchTag("CredentialsInvalid", (error) => refused(error)),
    Effect.catchTag(
      "TooManyAttempts",
      ({ retryAfter }) => Effect.fail(tooManyRequestsAfter("errors.TooManyAttempts", Duration.toMillis(retryAfter)))
    )
  )

/** Why credentials are refused is for the log. */
const refused = ({ reason }: CredentialsInvalid) =>
  Effect.andThen(Effect.logInfo(`No tokens were issued: ${reason}`), new InvalidGrant())

const signedIn = (user: Verified) =>
  // Tokens can't be issued without a private key.
  Effect.catchTag(SignIns.signIn(user), "KeysInvalid", Effect.die)

const renewed = (token: Redacted.Redacted<string>) =>
  Effect.catchTags(SignIns.refresh(token), { CredentialsInvalid: refused, KeysInvalid: Effect.die })

const responseOf = ({ accessToken, expiresIn, refreshToken }: SignIns.Issued): typeof TokenResponse.Type => ({
  access_token: accessToken,
  token_type: "Bearer",
  expires_in: Math.ceil(Duration.toSeconds(expiresIn)),
  refresh_token: refreshToken
})

/**
 * What is about the sign-ins of the caller, who has come by one of them: an API key is not to end how its owner is signed in. Where
 * there is no access control, nobody is known to have some.
 */
const ofCaller = Effect.fnUntraced(function*<A, E, R>(
  run: (user: CurrentUser["Service"]) => Effect.Effect<A, E, R>,
  nobody: A
) {
  const { application } = yield* Jwt
  const user = Option.getOrUndefined(yield* Effect.serviceOption(CurrentUser))
  return user === undefined || SignIns.signInOf(user, application) === undefined ? nobody : yield* run(user)
})

const listed = Effect.map(ofCaller(SignIns.sessions, []), (found) => ({
  sessions: found.map(({ began, expires, id, isCurrent, lastUsed }) => ({
    id,
    began,
    last_used: lastUsed,
    expires,
    current: isCurrent
  }))
}))

const revoked = Effect.fnUntraced(function*(token: Redacted.Redacted<string> | undefined) {
  if (isMissing(token)) return yield* missing("token")
  yield* SignIns.revoke(token)
})
