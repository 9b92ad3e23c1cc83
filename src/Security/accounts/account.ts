/**
 * The port to where accounts are. `Accounts` exports it.
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"

/**
 * An account.
 *
 * @category models
 * @since 0.1.0
 */
export interface Account {
  /** The user's id. */
  readonly subject: string
  readonly roles: ReadonlyArray<string>
  /** The hash of the password, as `Converter.contentHasher` makes it. No password matches anything else. */
  readonly secret: Redacted.Redacted<string>
}

/**
 * Finds accounts. Each operation finds none if there is none, or if it is blocked: nobody signs in to it, and its tokens
 * end. Fails with `StoreUnavailable` if it is not known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operations {
  /** The account with this login name. */
  readonly find: (login: string) => Effect.Effect<Option.Option<Account>, StoreError, DocumentStore>
  /** The account of the user with this id. */
  readonly findBySubject: (subject: string) => Effect.Effect<Option.Option<Account>, StoreError, DocumentStore>
  /**
   * Stores a stronger hash of the same password, unless the account has another hash than `account.secret` by now. Without
   * this operation, hashes stay as weak as they are.
   */
  readonly rehash?:
    | ((account: Account, secret: Redacted.Redacted<string>) => Effect.Effect<void, StoreError, DocumentStore>)
    | undefined
}
