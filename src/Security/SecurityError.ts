/**
 * The failures of credentials and keys.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Occurs when the files of the keys can't be used: a file is missing, holds no supported key, or the two files are no
 * pair. `problem` is one sentence that names the file and quotes nothing of it. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class KeysInvalid extends Schema.TaggedError<KeysInvalid>()("KeysInvalid", {
  problem: Schema.String
}) {
  override get message(): string {
    return `The keys for tokens can't be used: ${this.problem}`
  }
}

/**
 * Why credentials are refused, for the log:
 *
 * | Reason | |
 * |---|---|
 * | `malformed` | they don't have the form of credentials |
 * | `too-large` | they are longer than allowed |
 * | `algorithm` | the algorithm is not the key's, or none that is supported |
 * | `key` | the issuer has no such key |
 * | `signature` | the signature does not match |
 * | `issuer`, `audience` | the token is another issuer's, or for another application |
 * | `expired` | a token by more than the clock skew, or an API key |
 * | `not-yet-valid` | a token by more than the clock skew |
 * | `claims` | a claim is missing or has the wrong type |
 * | `account` | there is no such account |
 * | `secret` | the password or the secret of an API key is another one |
 * | `revoked` | the API key was revoked, or the sign-in has ended |
 * | `reused` | the refresh token was used before, so that its sign-in has ended |
 * | `scheme` | the service has no such scheme |
 * | `several` | the request has credentials of more than one kind |
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Literals([
  "malformed",
  "too-large",
  "algorithm",
  "key",
  "signature",
  "issuer",
  "audience",
  "expired",
  "not-yet-valid",
  "claims",
  "account",
  "secret",
  "revoked",
  "reused",
  "scheme",
  "several"
])

/**
 * Why credentials are refused.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * Occurs when credentials prove nothing. The `reason` is for the log; the message does not have it, since the caller is not
 * to know. A retry with the same credentials fails again, except where they were not yet valid.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialsInvalid extends Schema.TaggedError<CredentialsInvalid>()("CredentialsInvalid", {
  reason: Reason
}) {
  override get message(): string {
    return "The credentials are invalid"
  }
}

/**
 * Occurs when the keys of an issuer can't be fetched, so that its tokens can't be verified. `detail` is for the log. A retry
 * may succeed later.
 *
 * @category errors
 * @since 0.1.0
 */
export class IssuerUnavailable extends Schema.TaggedError<IssuerUnavailable>()("IssuerUnavailable", {
  issuer: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `The keys of the issuer ${this.issuer} can't be fetched: ${this.detail}`
  }
}

/**
 * Occurs when too many passwords were wrong, for this account from this address, or for several accounts from this address.
 * The password was not checked. A retry after `retryAfter` is checked.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {
  retryAfter: Schema.Duration
}) {
  override get message(): string {
    return "There were too many failed attempts to sign in, try again later"
  }
}

/**
 * Occurs when credentials can't be checked: the keys of an issuer or a store of accounts or keys can't be reached. `detail`
 * is for the log. A retry may succeed later.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialsUnchecked extends Schema.TaggedError<CredentialsUnchecked>()("CredentialsUnchecked", {
  detail: Schema.String
}) {
  override get message(): string {
    return `The credentials can't be checked: ${this.detail}`
  }
}
