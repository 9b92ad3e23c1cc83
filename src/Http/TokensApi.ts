/**
 * The description of `Tokens`: what clients and browsers know of it, without what signs tokens or finds accounts. `Tokens`
 * documents its endpoints.
 *
 * **Example** (Signing in and out in a browser)
 *
 * ```ts check
 * import { Effect, Redacted } from "effect"
 * import { FetchHttpClient } from "effect/http"
 * import { KernelApi, KernelClient, TokensApi } from "appkernel"
 *
 * const api = KernelApi.make("shop").register(TokensApi.description, { urlBase: "/api/v1" })
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* KernelClient.make(api, { baseUrl: "https://shop.example" })
 *   const { refresh_token } = yield* client.tokens.token({
 *     payload: { grant_type: "password", username: "jane@example.com", password: Redacted.make("correct horse") }
 *   })
 *   yield* client.tokens.revoke({ payload: { token: refresh_token } })
 * }).pipe(Effect.provide(FetchHttpClient.layer))
 * ```
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Model from "../Model/Model.ts"
import { TooManyRequests } from "./HttpError.ts"
import * as Service from "./Service.ts"
import { ServiceError } from "./ServiceError.ts"

/**
 * Occurs when the name or the password is wrong, or when a refresh token is unknown, expired, used or revoked. It does not
 * say which.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidGrant extends ServiceError<InvalidGrant>()("invalid_grant", {
  status: 400,
  message: "The credentials are wrong or no longer valid"
}) {}

/**
 * Occurs when a parameter of the grant is missing, or when the request can't be read, which names none.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidRequest extends ServiceError<InvalidRequest>()("invalid_request", {
  status: 400,
  message: "A parameter is missing",
  fields: { parameter: Schema.optionalKey(Schema.String) }
}) {}

/**
 * Occurs when the `grant_type` is another one than `password` and `refresh_token`.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedGrantType extends ServiceError<UnsupportedGrantType>()("unsupported_grant_type", {
  status: 400,
  message: "The grant_type must be password or refresh_token"
}) {}

/**
 * What callers send for tokens (RFC 6749, section 4.3.2, and section 6).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TokenRequest = Schema.Struct({
  grant_type: Schema.optionalKey(Schema.String),
  username: Schema.optionalKey(Schema.String),
  password: Schema.optionalKey(Schema.Redacted(Schema.String)),
  refresh_token: Schema.optionalKey(Schema.Redacted(Schema.String))
}).annotate({ identifier: "TokenRequest" })

/**
 * The tokens that a caller gets (RFC 6749, section 5.1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TokenResponse = Schema.Struct({
  access_token: Schema.Redacted(Schema.String),
  token_type: Schema.Literal("Bearer"),
  /** Seconds. */
  expires_in: Schema.Int,
  refresh_token: Schema.Redacted(Schema.String)
}).annotate({ identifier: "TokenResponse" })

/**
 * A sign-in of the caller that goes on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Session = Schema.Struct({
  id: Schema.String,
  began: Model.DateTime,
  /** When its tokens were issued or renewed the last time. */
  last_used: Model.DateTime,
  /** When it ends if it is not used until then. */
  expires: Model.DateTime,
  /** Whether the token of the request is of it. */
  current: Schema.Boolean
}).annotate({ identifier: "Session" })

/**
 * The description of the service. A `KernelApi` and `Tokens.service` have it in common.
 *
 * @category models
 * @since 0.1.0
 */
export const description = Service.describe("TokenService")
  .operation("token", {
    path: "/token",
    anonymous: true,
    idempotencyKeys: "none",
    payload: TokenRequest,
    form: true,
    badRequest: "invalid_request",
    success: TokenResponse,
    error: [InvalidGrant, InvalidRequest, UnsupportedGrantType, TooManyRequests],
    summary: "Sign in, or renew the tokens of a sign-in",
    description:
      "With `grant_type` `password`: `username` and `password`. With `refresh_token`: `refresh_token`, which "
      + "counts once. RFC 6749, sections 4.3 and 6."
  })
  .operation("revoke", {
    path: "/token/revoke",
    anonymous: true,
    idempotencyKeys: "none",
    payload: Schema.Struct({
      token: Schema.optionalKey(Schema.Redacted(Schema.String)),
      token_type_hint: Schema.optionalKey(Schema.String)
    }).annotate({ identifier: "Revocation" }),
    form: true,
    badRequest: "invalid_request",
    error: InvalidRequest,
    summary: "Sign out: end the sign-in that a token came from",
    description:
      "The `token` is an access token or a refresh token. One that is unknown or expired is no error. RFC 7009."
  })
  .operation("sessions", {
    path: "/token/sessions",
    success: Schema.Struct({ sessions: Schema.Array(Session) }).annotate({ identifier: "Sessions" }),
    summary: "List the caller's sign-ins",
    description:
      "Those that go on, of the caller alone, up to a hundred: those that were used last come first. Callers who have not come by a sign-in, as by an API key, have none."
  })
  .operation("end_session", {
    method: "DELETE",
    path: "/token/sessions/{id}",
    params: { id: Schema.String },
    summary: "End one of the caller's sign-ins",
    description:
      "One that has ended, or that is somebody else's, is no error. Callers who have not come by a sign-in end none."
  })
