/**
 * The start failure of a service that requires credentials but has no scheme to check them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Occurs when security is enabled and nothing is provided that could prove who calls.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialsUnprovided extends Schema.TaggedError<CredentialsUnprovided>()("CredentialsUnprovided", {}) {
  override get message(): string {
    return "Security is enabled, but nothing can prove who calls: provide Jwt.layer for bearer tokens, Accounts.fromModel "
      + "for names and passwords, ApiKeys.layer for API keys, or a scheme by Authentication.layer"
  }
}
