/**
 * Converters change a value before it is stored in an instance, for example by hashing a password.
 *
 * @since 0.1.0
 */
import * as Crypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Semaphore from "effect/Semaphore"
import { ContentHashed } from "../internal/contentHashed.ts"

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
}): Converter<S["Type"]> => {
  const { convert, makes } = options
  const isMade = SchemaParser.is(makes)
  return Object.assign((value: S["Type"]) => isMade(value) ? Effect.succeed(value) : convert(value), {
    convert,
    makes
  })
}

/**
 * Text in lower case, without white space at its ends: for names that people sign in with and addresses, so that
 * `Jane@Example.com ` and `jane@example.com` are one. The sign-in of `Accounts.fromModel` converts what it is given, too.
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
 * @category constructors
 * @since 0.1.0
 */
export const lowerCase: Converter<string> = (text) => Effect.succeed(text.trim().toLowerCase())

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
 * wait.
 *
 * **Details**
 *
 * A value of the process with this form, with 1,000 to 1,000,000 rounds and a salt of at least 8 bytes, stays
 * unchanged; anything else is hashed. A value from a caller is always hashed, whatever it looks like.
 *
 * **Gotchas**
 *
 * Dies if `rounds` or `saltSize` are out of range, since the hashes would be treated as plain text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contentHasher = (options?: ContentHasherOptions): Converter<string> => {
  const rounds = within("rounds", options?.rounds ?? defaultRounds, minimumRounds, maximumRounds)
  const saltSize = within("saltSize", options?.saltSize ?? 16, minimumSaltSize, 1_024)
  return make({
    makes: hashedText,
    convert: Effect.fnUntraced(function*(value) {
      const crypto = yield* Crypto.WebCrypto
      const salt = crypto.getRandomValues(new Uint8Array(saltSize))
      const made = print({ rounds, salt, hash: yield* derive(value, salt, rounds) })
      yield* (yield* ContentHashed)(made)
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
  Effect.map(verifyAndStrengthen(text, hashed, 0), ({ isRight }) => isRight)

/**
 * {@link verifyContent} that takes the work of `rounds` at least, so that the time does not tell a weaker hash. If the text
 * matches such a hash, `stronger` is its hash with `rounds` and the same salt.
 *
 * @internal
 */
export const verifyAndStrengthen: (
  text: string,
  hashed: string,
  rounds: number
) => Effect.Effect<{ readonly isRight: boolean; readonly stronger?: string }> = Effect.fnUntraced(
  function*(text, hashed, rounds) {
    const parsed = parse(hashed)
    if (parsed === undefined) return { isRight: false }
    const { salt } = parsed
    const hash = yield* derive(text, salt, parsed.rounds)
    let difference = hash.length ^ parsed.hash.length
    for (let i = 0; i < hash.length; i++) difference |= hash[i]! ^ (parsed.hash[i] ?? 0)
    const isRight = difference === 0
    if (parsed.rounds >= rounds) return { isRight }
    const other = yield* derive(text, salt, isRight ? rounds : rounds - parsed.rounds)
    return isRight ? { isRight, stronger: print({ rounds, salt, hash: other }) } : { isRight }
  }
)

/**
 * The parts of a hash of {@link contentHasher}, or `undefined` if the text is none.
 *
 * @internal
 */
export const parse = (value: string): Hash | undefined => {
  const match = hashed.exec(value)
  if (match === null || Number(match[1]) > maximumRounds) return undefined
  const salt = fromAdaptedBase64(match[2]!)
  const hash = fromAdaptedBase64(match[3]!)
  return salt === undefined || hash === undefined ? undefined : { rounds: Number(match[1]), salt, hash }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const hashLength = 32
// Argon2 would need Node 24.7, and scrypt a module of Node's own. Both are missing in browsers.
const defaultRounds = 600_000
const minimumRounds = 1_000
const maximumRounds = 1_000_000
const minimumSaltSize = 8
const hashed = /^\$pbkdf2-sha256\$([1-9]\d{0,6})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]{43})$/u

interface Hash {
  readonly rounds: number
  readonly salt: Uint8Array<ArrayBuffer>
  readonly hash: Uint8Array
}

const print = ({ hash, rounds, salt }: Hash): string =>
  `$pbkdf2-sha256$${rounds}$${toAdaptedBase64(salt)}$${toAdaptedBase64(hash)}`

/** A hash of 1,000 to 1,000,000 rounds with a salt of at least 8 bytes. */
const hashedText = Schema.String.check(Schema.isPattern(
  /^\$pbkdf2-sha256\$(?:[1-9]\d{3,5}|1000000)\$(?:[A-Za-z0-9./]{4}){2}(?:[A-Za-z0-9./]{3}|(?:[A-Za-z0-9./]{4})+(?:[A-Za-z0-9./]{2,3})?)\$[A-Za-z0-9./]{43}$/u
))

/** Hashers are made in model declarations, so a wrong option is a mistake in the program. */
const within = (option: string, value: number, minimum: number, maximum: number): number =>
  Number.isInteger(value) && value >= minimum && value <= maximum ? value : Effect.runSync(
    Effect.die(new Error(`Converter.contentHasher: ${option} must be an integer from ${minimum} to ${maximum}`))
  )

// More would keep the platform's few threads from files, addresses and stores.
const threads = Semaphore.makeUnsafe(2)

/** A thread goes on after an interruption, so the permit is held until it ends. */
const derive = (text: string, salt: Uint8Array<ArrayBuffer>, iterations: number) =>
  Effect.flatMap(Crypto.WebCrypto, ({ subtle }) =>
    threads.withPermits(1)(Effect.uninterruptible(
      Effect.promise(() =>
        subtle.importKey("raw", new TextEncoder().encode(text), "PBKDF2", false, ["deriveBits"]).then((key) =>
          subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, hashLength * 8)
        ).then((bits) => new Uint8Array(bits))
      )
    )))

// passlib's alphabet has "." in place of "+", and no padding.
const toAdaptedBase64 = (bytes: Uint8Array): string => Base64.encode(bytes).replaceAll("+", ".").replaceAll("=", "")

const fromAdaptedBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const padded = text.replaceAll(".", "+").padEnd(Math.ceil(text.length / 4) * 4, "=")
  return Result.getOrUndefined(Result.map(Base64.decode(padded), (bytes) => new Uint8Array(bytes)))
}
