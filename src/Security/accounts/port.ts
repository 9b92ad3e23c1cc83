/** The port to where accounts are. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"

/**
 * Where accounts are. Its layer may stand beside that of the store, so the store is needed when accounts are read.
 *
 * @effect-expect-leaking DocumentStore
 * @category services
 * @since 0.1.0
 */
export class Accounts extends Context.Service<Accounts, Operations>()("appkernel/Security/accounts/port/Accounts") {}

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
  /**
   * A text that all spellings of a login have in common with which `find` finds the account: the login as it is stored. Failed
   * attempts are counted by it. Without this operation, spellings that differ in case or in white space at their ends count
   * as one.
   */
  readonly loginOf?: ((login: string) => Effect.Effect<string>) | undefined
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
