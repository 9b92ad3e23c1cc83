/**
 * Accounts that people sign in to with a name and a password.
 *
 * **Details**
 *
 * `Accounts` is the port to where accounts are stored. `Passwords` checks a password against it: two at a time, and with the
 * same work whether or not there is such an account, if the hashes of all accounts have the rounds of its options.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SchemaParser from "effect/SchemaParser"
import * as Semaphore from "effect/Semaphore"
import * as Converter from "../Model/Converter.ts"
import type { CurrentUser } from "./CurrentUser.ts"
import { CredentialsInvalid } from "./SecurityError.ts"

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
 * Where accounts are.
 *
 * @category services
 * @since 0.1.0
 */
export class Accounts extends Context.Service<Accounts, {
  /** The account with this login name; none if there is none, or if nobody may sign in to it. */
  readonly find: (login: string) => Effect.Effect<Option.Option<Account>>
}>()("appkernel/Security/Accounts") {}

/**
 * Options of {@link makePasswords} and {@link layerPasswords}.
 *
 * @category models
 * @since 0.1.0
 */
export interface PasswordOptions {
  /**
   * The rounds that the accounts' `Converter.contentHasher` has. Defaults to 20,000, as there. While stored hashes have other
   * rounds, the time of a check tells whether there is an account.
   */
  readonly rounds?: number | undefined
}

/**
 * Checks passwords.
 *
 * @category services
 * @since 0.1.0
 */
export class Passwords extends Context.Service<Passwords, {
  /**
   * The user who signs in. Fails with `CredentialsInvalid` if there is no such account, the password is another one, or it
   * has more than 1,024 characters. Two checks run at once, others wait; an interrupted one is finished first.
   */
  readonly verify: (
    login: string,
    password: Redacted.Redacted<string>
  ) => Effect.Effect<CurrentUser["Service"], CredentialsInvalid>
}>()("appkernel/Security/Accounts/Passwords") {}

/**
 * Checks passwords of `Accounts`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makePasswords: (
  options?: PasswordOptions
) => Effect.Effect<Passwords["Service"], never, Accounts> = Effect.fn("Accounts.makePasswords")(
  function*(options?: PasswordOptions) {
    const accounts = yield* Accounts
    const hasher = Converter.contentHasher({ rounds: options?.rounds })
    // Compared where there is no account, so that it takes as long.
    const nobody = yield* hasher("nobody")
    const semaphore = yield* Semaphore.make(2)
    // A thread goes on after an interruption, so the permit is held until it ends.
    const matches = (password: string, hash: string) =>
      semaphore.withPermits(1)(Effect.uninterruptible(Converter.verifyContent(password, hash)))
    return Passwords.of({
      verify: Effect.fn("Passwords.verify")(function*(login, password) {
        const text = Redacted.value(password)
        if (text.length > maxLength) return yield* new CredentialsInvalid({ reason: "too-large" })
        const account = Option.getOrUndefined(yield* accounts.find(login))
        const secret = account === undefined ? undefined : Redacted.value(account.secret)
        const hash = secret !== undefined && isHash(secret) ? secret : undefined
        const isRight = yield* matches(text, hash ?? nobody)
        if (account === undefined) return yield* new CredentialsInvalid({ reason: "account" })
        if (hash === undefined || !isRight) return yield* new CredentialsInvalid({ reason: "secret" })
        return { subject: account.subject, roles: account.roles, claims: {} }
      })
    })
  }
)

/**
 * {@link makePasswords} as a layer.
 *
 * **Example** (Signing in)
 *
 * ```ts
 * import { Accounts, Converter } from "appkernel"
 * import { Effect, Layer, Option, Redacted } from "effect"
 *
 * const accounts = Layer.effect(
 *   Accounts.Accounts,
 *   Effect.gen(function*() {
 *     const secret = Redacted.make(yield* Converter.contentHasher()("correct horse"))
 *     const jane = { subject: "U1", roles: ["buyer"], secret }
 *     return { find: (login) => Effect.succeed(login === "jane" ? Option.some(jane) : Option.none()) }
 *   })
 * )
 *
 * const program = Effect.gen(function*() {
 *   const passwords = yield* Accounts.Passwords
 *   const jane = yield* passwords.verify("jane", Redacted.make("correct horse"))
 *   const error = yield* Effect.flip(passwords.verify("jane", Redacted.make("battery staple")))
 *   return [jane.subject, error.message]
 * })
 *
 * const layer = Layer.provide(Accounts.layerPasswords(), accounts)
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["U1", "The credentials are invalid"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPasswords = (options?: PasswordOptions): Layer.Layer<Passwords, never, Accounts> =>
  Layer.effect(Passwords, makePasswords(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxLength = 1_024

const { makes } = Converter.contentHasher()

const isHash: (text: string) => boolean = makes === undefined ? () => false : SchemaParser.is(makes)
