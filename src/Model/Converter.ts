/**
 * Changes of a value on its way into an instance, for example the hashing of a password.
 *
 * @since 0.1.0
 */
import * as Crypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"

/**
 * Takes the value of a field and gives the value to keep. It runs at every finalisation, so what it gives must come
 * back from it unchanged.
 *
 * @category models
 * @since 0.1.0
 */
export type Converter<A> = (value: A) => Effect.Effect<A>

/**
 * Options of {@link contentHasher}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContentHasherOptions {
  /** Iterations of PBKDF2. Defaults to 20,000. */
  readonly rounds?: number | undefined
  /** Bytes of random salt. Defaults to 16. */
  readonly saltSize?: number | undefined
}

/**
 * A one-way hash of text: PBKDF2 with SHA-256 (RFC 8018), written as `$pbkdf2-sha256$<rounds>$<salt>$<hash>` in the
 * modular crypt format of passlib's `pbkdf2_sha256`. A value that already has this form is left as it is. The work is
 * done off the event loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contentHasher = (options?: ContentHasherOptions): Converter<string> => {
  const rounds = options?.rounds ?? 20_000
  const saltSize = options?.saltSize ?? 16
  return Effect.fnUntraced(function*(value) {
    if (parse(value) !== undefined) return value
    const crypto = yield* Crypto.WebCrypto
    const salt = crypto.getRandomValues(new Uint8Array(saltSize))
    const hash = yield* derive(value, salt, rounds)
    return `$pbkdf2-sha256$${rounds}$${toAdaptedBase64(salt)}$${toAdaptedBase64(hash)}`
  })
}

/**
 * Whether `text` is what was hashed. Takes the same time wherever the two differ; anything that is not a hash matches
 * nothing.
 *
 * @category guards
 * @since 0.1.0
 */
export const verifyContent = Effect.fnUntraced(function*(text: string, hashed: string) {
  const parsed = parse(hashed)
  if (parsed === undefined) return false
  const hash = yield* derive(text, parsed.salt, parsed.rounds)
  let difference = hash.length ^ parsed.hash.length
  for (let i = 0; i < hash.length; i++) difference |= hash[i]! ^ (parsed.hash[i] ?? 0)
  return difference === 0
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const hashLength = 32
const maximumRounds = 10_000_000
const hashed = /^\$pbkdf2-sha256\$([1-9]\d{0,7})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]{43})$/u

const parse = (value: string) => {
  const match = hashed.exec(value)
  if (match === null || Number(match[1]) > maximumRounds) return undefined
  const salt = fromAdaptedBase64(match[2]!)
  const hash = fromAdaptedBase64(match[3]!)
  return salt === undefined || hash === undefined ? undefined : { rounds: Number(match[1]), salt, hash }
}

const derive = (text: string, salt: Uint8Array<ArrayBuffer>, iterations: number) =>
  Effect.flatMap(
    Crypto.WebCrypto,
    ({ subtle }) =>
      Effect.promise(() =>
        subtle.importKey("raw", new TextEncoder().encode(text), "PBKDF2", false, ["deriveBits"]).then((key) =>
          subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, hashLength * 8)
        ).then((bits) => new Uint8Array(bits))
      )
  )

// passlib's alphabet has "." in the place of "+", and no padding.
const toAdaptedBase64 = (bytes: Uint8Array): string => Base64.encode(bytes).replaceAll("+", ".").replaceAll("=", "")

const fromAdaptedBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const padded = text.replaceAll(".", "+").padEnd(Math.ceil(text.length / 4) * 4, "=")
  return Result.getOrUndefined(Result.map(Base64.decode(padded), (bytes) => new Uint8Array(bytes)))
}
