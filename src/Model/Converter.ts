/**
 * Converters change a value before it is stored in an instance, for example by hashing a password.
 *
 * @since 0.1.0
 */
import * as Crypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as PasswordHash from "../internal/passwordHash.ts"

/**
 * Converts the value of a field. It must return its own output unchanged. A value that a plain function, such as one that
 * trims a text, returns unchanged counts as converted. Use {@link make} if a schema can recognise the output.
 *
 * @category models
 * @since 0.1.0
 */
export interface Converter<A> {
  (value: A): Effect.Effect<A>
  /** The schema of the output. A matching value is not converted again, and an instance holds no other. */
  readonly makes?: (Schema.Top & { readonly Type: A }) | undefined
  /** Converts the value even if it looks converted. Values that callers send over HTTP are converted this way. */
  readonly convert?: ((value: A) => Effect.Effect<A>) | undefined
  /** Whether a conversion takes much of a processor, as a hash of a password does. A request may have 50 such values. */
  readonly isCostly?: boolean | undefined
  /** The length up to which a text from a caller is converted, in UTF-16 code units. Defaults to any. */
  readonly maxLength?: number | undefined
}

/**
 * Makes a converter whose output is recognised by the schema `makes`. Within the program, a value that matches this
 * schema stays unchanged. A value from a caller is always converted.
 *
 * **Example** (Text that is stored reversed)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Converter, Model } from "appkernel"
 *
 * const backwards = Converter.make({
 *   convert: (text) => Effect.succeed(`<${[...text].toReversed().join("")}`),
 *   makes: Schema.String.check(Schema.isStartingWith("<"))
 * })
 *
 * class Secret extends Model.Class<Secret>()("Secret", { text: Schema.String.pipe(Model.converted(backwards)) }) {}
 *
 * const secret = await Effect.runPromise(Model.finalise(Secret, { text: "abc" }))
 * secret.text // => "<cba"
 * new Secret({ text: "<cba" }).text // => "<cba"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <S extends Schema.Top>(options: {
  readonly convert: (value: S["Type"]) => Effect.Effect<S["Type"]>
  /** The schema of the output of `convert`. No unconverted value may match it. */
  readonly makes: S
  /** Whether a conversion takes much of a processor: a request may have 50 such values. Defaults to false. */
  readonly isCostly?: boolean | undefined
  /** The length up to which a text from a caller is converted, in UTF-16 code units. Defaults to any. */
  readonly maxLength?: number | undefined
}): Converter<S["Type"]> => {
  const { convert, isCostly, makes, maxLength } = options
  const isMade = SchemaParser.is(makes)
  return Object.assign((value: S["Type"]) => isMade(value) ? Effect.succeed(value) : convert(value), {
    convert,
    isCostly,
    makes,
    maxLength
  })
}

/**
 * Text in lower case, without white space at its ends, in Unicode's composed form (NFC): for names that people sign in with and
 * addresses, so that `Jane@Example.com ` and `jane@example.com` are one, and so are the two ways to write `é`. The Greek `ς` at the end of a word
 * becomes `σ`, as both have one capital letter. The sign-in of `Accounts.fromModel` converts what it is given, too.
 *
 * **Example** (Addresses that differ in case are one account)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Converter, Index, Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id(),
 *   email: Schema.String.pipe(Model.converted(Converter.lowerCase), Model.indexed(Index.unique))
 * }) {}
 *
 * const user = await Effect.runPromise(Model.finalise(User, { email: " Jane@Example.com" }))
 * user.email // => "jane@example.com"
 * ```
 *
 * **Gotchas**
 *
 * Documents that were stored before the field had this converter, or before it changed decomposed letters and the final `ς`, keep what
 * they have: no sign-in and no filter finds them by it, and a second account may be made, until they are patched once with the same
 * value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lowerCase: Converter<string> = (text) =>
  Effect.succeed(text.trim().toLowerCase().normalize().replaceAll("ς", "σ"))

/**
 * Options of {@link contentHasher}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContentHasherOptions {
  /** Iterations of PBKDF2, from 1,000 to 1,000,000. Defaults to 600,000, which OWASP recommends. */
  readonly rounds?: number | undefined
  /** Bytes of random salt, from 8 to 1,024. Defaults to 16. */
  readonly saltSize?: number | undefined
}

/**
 * A one-way hash of text: PBKDF2 with SHA-256 (RFC 8018), written as `$pbkdf2-sha256$<rounds>$<salt>$<hash>` in the
 * modular crypt format of passlib's `pbkdf2_sha256`. The work is done off the event loop, for two texts at a time; others
 * wait, and passwords of sign-ins, as {@link verifyContent} compares them, go first. A request may have 50 values to hash.
 *
 * **Details**
 *
 * A value of the process with this form, with 1,000 to 1,000,000 rounds and a salt of at least 8 bytes, stays
 * unchanged; anything else is hashed. A value from a caller is always hashed, whatever it looks like, and refused if it has more
 * than 1,024 UTF-16 code units, since no longer password signs in.
 *
 * **Gotchas**
 *
 * Dies if `rounds` or `saltSize` are out of range, since the hashes would be treated as plain text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contentHasher = (options?: ContentHasherOptions): Converter<string> => {
  const rounds = within("rounds", options?.rounds ?? PasswordHash.defaultRounds, ...PasswordHash.roundsRange)
  const saltSize = within("saltSize", options?.saltSize ?? 16, 8, 1_024)
  return make({
    makes: PasswordHash.schema,
    isCostly: true,
    maxLength: PasswordHash.maxPassword,
    convert: Effect.fnUntraced(function*(value) {
      const crypto = yield* Crypto.WebCrypto
      const salt = crypto.getRandomValues(new Uint8Array(saltSize))
      const made = yield* PasswordHash.make(value, salt, rounds)
      yield* (yield* PasswordHash.ContentHashed)(made)
      return made
    })
  })
}

/**
 * Whether `text` matches the hash, in constant time. A value that is no hash matches nothing. Neither does a hash of
 * more than 1,000,000 rounds, which would block a thread for seconds.
 *
 * @category guards
 * @since 0.1.0
 */
export const verifyContent = (text: string, hashed: string): Effect.Effect<boolean> =>
  Effect.map(PasswordHash.verifyAndStrengthen(text, hashed, 0), ({ isRight }) => isRight)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Hashers are made in model declarations, so a wrong option is a mistake in the program. */
const within = (option: string, value: number, minimum: number, maximum: number): number =>
  Number.isInteger(value) && value >= minimum && value <= maximum ? value : Effect.runSync(
    Effect.die(new Error(`Converter.contentHasher: ${option} must be an integer from ${minimum} to ${maximum}`))
  )
