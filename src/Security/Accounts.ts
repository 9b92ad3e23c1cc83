/**
 * Accounts that people sign in to with a name and a password.
 *
 * **Details**
 *
 * `Accounts` is the port to where accounts are stored: {@link fromModel}, or the program's own. `Passwords` checks a
 * password against it: two at a time, and with the same work whether or not there is such an account. A hash that is weaker
 * than new ones is replaced when its account signs in.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SchemaParser from "effect/SchemaParser"
import * as PasswordHash from "../internal/passwordHash.ts"
import * as Converter from "../Model/Converter.ts"
import type * as Model from "../Model/Model.ts"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import { hasherOf, modelAccounts } from "./accounts/modelAccounts.ts"
import { type Account, Accounts, type Operations } from "./accounts/port.ts"
import type { CurrentUser } from "./CurrentUser.ts"
import { stampOf } from "./keys/passwordStamp.ts"
import { CredentialsInvalid, type TooManyAttempts } from "./SecurityError.ts"
import { make as makeAttempts, SignInAttempts } from "./SignInAttempts.ts"

export { type Account, Accounts, type Operations } from "./accounts/port.ts"

/**
 * The names of a model's fields whose values are of a type, optional ones included.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldOf<M extends Model.Any, A> = {
  readonly [K in keyof M["store"]["fields"] & keyof M["Type"] & string]: [NonNullable<M["Type"][K]>] extends [A] ? K
    : never
}[keyof M["store"]["fields"] & keyof M["Type"] & string]

/**
 * The fields of a model that accounts consist of.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelOptions<M extends Model.Any> {
  /** The name that people sign in with. It needs a unique index. It is compared as the field's own values are. */
  readonly login: FieldOf<M, string>
  /** The hash of the password: a field with `Converter.contentHasher`. An account without one has no password. */
  readonly secret: FieldOf<M, string>
  /** Defaults to the field `roles`, if the model has one: otherwise accounts have no roles. */
  readonly roles?: FieldOf<M, ReadonlyArray<string>> | undefined
  /** Whether nobody may sign in. Defaults to no field: an account ends with its document. */
  readonly blocked?: FieldOf<M, boolean> | undefined
}

/**
 * Options of {@link makePasswords} and {@link layerPasswords}.
 *
 * @category models
 * @since 0.1.0
 */
export interface PasswordOptions {
  /**
   * The rounds that the accounts' `Converter.contentHasher` has. Defaults to 600,000, as there. Stored hashes of fewer rounds
   * take the same work. For those of more, the time of a check tells that there is an account.
   */
  readonly rounds?: number | undefined
}

/**
 * Somebody who has given the right password.
 *
 * @category models
 * @since 0.1.0
 */
export type Verified = CurrentUser["Service"] & {
  /** The password that was right, among those that the account has one after the other. `Tokens.signIn` takes it. */
  readonly stamp?: string | undefined
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
   * has more than 1,024 characters; with `TooManyAttempts` after too many wrong ones from a client's address, see
   * `SignInAttempts`. Two checks run at once, others wait; an interrupted one is finished first.
   */
  readonly verify: (
    login: string,
    password: Redacted.Redacted<string>
  ) => Effect.Effect<Verified, CredentialsInvalid | TooManyAttempts | StoreError, DocumentStore>
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
    return yield* passwordsOf(yield* Accounts, Converter.contentHasher({ rounds: options?.rounds }))
  }
)

/**
 * {@link makePasswords} as a layer.
 *
 * **Example** (Signing in)
 *
 * ```ts
 * import { Accounts, Converter, EmbeddedStore } from "appkernel"
 * import { Effect, Layer, Option, Redacted } from "effect"
 *
 * const accounts = Layer.effect(
 *   Accounts.Accounts,
 *   Effect.gen(function*() {
 *     const secret = Redacted.make(yield* Converter.contentHasher()("correct horse"))
 *     const jane = { subject: "U1", roles: ["buyer"], secret }
 *     return {
 *       find: (login) => Effect.succeed(login === "jane" ? Option.some(jane) : Option.none()),
 *       findBySubject: (subject) => Effect.succeed(subject === "U1" ? Option.some(jane) : Option.none())
 *     }
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
 * const layer = Layer.merge(Layer.provide(Accounts.layerPasswords(), accounts), EmbeddedStore.layerMemory)
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["U1", "The credentials are invalid"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPasswords = (options?: PasswordOptions): Layer.Layer<Passwords, never, Accounts> =>
  Layer.effect(Passwords, makePasswords(options))

/**
 * The accounts that the documents of a model are, and their passwords. It needs the store of documents when it is used, not
 * when it is built. It reads all documents, whoever the caller is.
 *
 * **Gotchas**
 *
 * Building the layer dies if the login has no unique index, or if the secret is not hashed.
 *
 * **Example** (Users who sign in with their address)
 *
 * ```ts
 * import { Accounts, Converter, EmbeddedStore, Index, Model, Repository } from "appkernel"
 * import { Effect, Layer, Redacted, Schema } from "effect"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id({ prefix: "U" }),
 *   email: Schema.String.pipe(Model.indexed(Index.unique)),
 *   password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
 *   roles: Schema.Array(Schema.String)
 * }) {}
 *
 * const program = Effect.gen(function*() {
 *   const users = yield* Repository.for(User)
 *   yield* users.insert(
 *     yield* Model.finalise(User, { email: "jane@example.com", password: "correct horse", roles: ["buyer"] })
 *   )
 *   const passwords = yield* Accounts.Passwords
 *   const { roles } = yield* passwords.verify("jane@example.com", Redacted.make("correct horse"))
 *   return roles
 * })
 *
 * const layer = Layer.merge(Repository.layer(User), Accounts.fromModel(User, { login: "email", secret: "password" }))
 * await Effect.runPromise(Effect.provide(program, Layer.provideMerge(layer, EmbeddedStore.layerMemory))) // => ["buyer"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const fromModel = <M extends Model.Any>(
  model: M,
  options: ModelOptions<M>
): Layer.Layer<Accounts | Passwords> =>
  Layer.effectContext(Effect.gen(function*() {
    const roles: string | undefined = options.roles ??
      (Object.hasOwn(model.store.fields, "roles") ? "roles" : undefined)
    const fields = { login: options.login, secret: options.secret, roles, blocked: options.blocked }
    const hash = yield* hasherOf(model, fields, isHash)
    const accounts = modelAccounts(model, fields)
    return Context.make(Accounts, accounts).pipe(Context.add(Passwords, yield* passwordsOf(accounts, hash)))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const passwordsOf = Effect.fnUntraced(
  function*(accounts: Operations, hash: (text: string) => Effect.Effect<string>) {
    // Compared where there is no account, so that it takes as long.
    const nobody = yield* hash("nobody")
    const rounds = PasswordHash.parse(nobody)?.rounds ?? 0
    const attempts = Option.getOrUndefined(yield* Effect.serviceOption(SignInAttempts)) ?? (yield* makeAttempts())
    return Passwords.of({
      verify: Effect.fn("Passwords.verify")((login, password) =>
        attempts.attempt(
          { login },
          Effect.gen(function*() {
            const text = Redacted.value(password)
            if (text.length > PasswordHash.maxPassword) return yield* new CredentialsInvalid({ reason: "too-large" })
            const account = Option.getOrUndefined(yield* accounts.find(login))
            const secret = account === undefined ? undefined : Redacted.value(account.secret)
            const stored = secret !== undefined && isHash(secret) ? secret : undefined
            const { isRight, stronger } = yield* PasswordHash.verifyAndStrengthen(text, stored ?? nobody, rounds)
            if (account === undefined) return yield* new CredentialsInvalid({ reason: "account" })
            if (stored === undefined || !isRight) return yield* new CredentialsInvalid({ reason: "secret" })
            if (stronger !== undefined) yield* strengthen(accounts, account, stronger)
            return { subject: account.subject, roles: account.roles, claims: {}, stamp: stampOf(stored) }
          })
        ).pipe(Effect.provideService(Accounts, accounts))
      )
    })
  }
)

/** Who knows the password signs in, also if the better hash can't be stored. */
const strengthen = (accounts: Operations, account: Account, secret: string) =>
  accounts.rehash === undefined ? Effect.void : Effect.catch(
    accounts.rehash(account, Redacted.make(secret, { label: "password" })),
    (error) => Effect.logWarning(`The password of ${account.subject} keeps its weaker hash: ${error.message}`)
  )

const isHash: (value: unknown) => boolean = SchemaParser.is(PasswordHash.schema)
