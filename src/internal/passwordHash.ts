/** Hashes of passwords: PBKDF2 with SHA-256 (RFC 8018) in the modular crypt format of passlib's `pbkdf2_sha256`. */
import * as Context from "effect/Context"
import * as Crypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Argon2 would need Node 24.7, and scrypt a module of Node's own. Both are missing in browsers. */
export const defaultRounds = 600_000

export const roundsRange = [1_000, 1_000_000] as const

/** The length of the longest password that signs in, in UTF-16 code units. */
export const maxPassword = 1_024

/** A hash of 1,000 to 1,000,000 rounds with a salt of at least 8 bytes. */
export const schema: Schema.String = Schema.String.check(Schema.isPattern(
  /^\$pbkdf2-sha256\$(?:[1-9]\d{3,5}|1000000)\$(?:[A-Za-z0-9./]{4}){2}(?:[A-Za-z0-9./]{3}|(?:[A-Za-z0-9./]{4})+(?:[A-Za-z0-9./]{2,3})?)\$[A-Za-z0-9./]{43}$/u
))

export const make = (text: string, salt: Uint8Array<ArrayBuffer>, rounds: number): Effect.Effect<string> =>
  Effect.map(derive(waiting.writes, text, salt, rounds), (hash) => print({ rounds, salt, hash }))

/**
 * Compares in constant time, and takes the work of `rounds` at least, so that the time does not tell a weaker hash. If the
 * text matches such a hash, `stronger` is its hash with `rounds` and the same salt.
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
    const hash = yield* derive(waiting.checks, text, salt, parsed.rounds)
    let difference = hash.length ^ parsed.hash.length
    for (let i = 0; i < hash.length; i++) difference |= hash[i]! ^ (parsed.hash[i] ?? 0)
    const isRight = difference === 0
    if (parsed.rounds >= rounds) return { isRight }
    const other = yield* derive(waiting.checks, text, salt, isRight ? rounds : rounds - parsed.rounds)
    return isRight ? { isRight, stronger: print({ rounds, salt, hash: other }) } : { isRight }
  }
)

/** The parts of a hash, or `undefined` if the text is none. */
export const parse = (value: string): Hash | undefined => {
  const match = hashed.exec(value)
  if (match === null || Number(match[1]) > roundsRange[1]) return undefined
  const salt = fromAdaptedBase64(match[2]!)
  const hash = fromAdaptedBase64(match[3]!)
  return salt === undefined || hash === undefined ? undefined : { rounds: Number(match[1]), salt, hash }
}

/** Runs with each hash that `Converter.contentHasher` makes. The engine sets it for all handlers, once. */
export const ContentHashed: Context.Reference<(hash: string) => Effect.Effect<void>> = Context.Reference<
  (hash: string) => Effect.Effect<void>
>("appkernel/internal/ContentHashed", { defaultValue: () => () => Effect.void })

/** Whether the request that a fiber handles may have one more value that is costly to convert. The engine sets it, once. */
export const MayConvert: Context.Reference<(fiber: Fiber.Fiber<unknown, unknown>) => boolean> = Context.Reference<
  (fiber: Fiber.Fiber<unknown, unknown>) => boolean
>("appkernel/internal/MayConvert", { defaultValue: () => () => true })

// internal

const hashLength = 32
const hashed = /^\$pbkdf2-sha256\$([1-9]\d{0,6})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]{43})$/u

interface Hash {
  readonly rounds: number
  readonly salt: Uint8Array<ArrayBuffer>
  readonly hash: Uint8Array
}

const print = ({ hash, rounds, salt }: Hash): string =>
  `$pbkdf2-sha256$${rounds}$${toAdaptedBase64(salt)}$${toAdaptedBase64(hash)}`

type Waiting = Set<() => void>

const waiting: { readonly checks: Waiting; readonly writes: Waiting } = { checks: new Set(), writes: new Set() }

// More would keep the platform's few threads from files, addresses and stores.
let free = 2

/** The checks that went before a write that waits. */
let passed = 0

/** Starts the longest waiting job. Checks go before writes, but at most eight checks in a row. */
const release = (): void => {
  const isCheck = waiting.checks.size > 0 && (waiting.writes.size === 0 || passed < 8)
  passed = isCheck && waiting.writes.size > 0 ? passed + 1 : 0
  const queue = isCheck ? waiting.checks : waiting.writes
  const [next] = queue
  if (next === undefined) free++
  else {
    queue.delete(next)
    next()
  }
}

/** A thread goes on after an interruption, so it is not free until it ends. */
const derive = (queue: Waiting, text: string, salt: Uint8Array<ArrayBuffer>, iterations: number) =>
  Effect.flatMap(Crypto.WebCrypto, ({ subtle }) => {
    const work = Effect.ensuring(
      Effect.promise(() =>
        subtle.importKey("raw", new TextEncoder().encode(text), "PBKDF2", false, ["deriveBits"]).then((key) =>
          subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, hashLength * 8)
        ).then((bits) => new Uint8Array(bits))
      ),
      Effect.sync(release)
    )
    return Effect.uninterruptibleMask((restore) => {
      if (free > 0) {
        free--
        return work
      }
      let next: () => void = constVoid
      const turn = Effect.callback<void>((resume) => {
        next = () => resume(Effect.void)
        queue.add(next)
      })
      // One that no longer waits has a thread already.
      const leave = Effect.sync(() => queue.delete(next) ? undefined : release())
      return Effect.andThen(Effect.onInterrupt(restore(turn), () => leave), work)
    })
  })

// passlib's alphabet has "." in place of "+", and no padding.
const toAdaptedBase64 = (bytes: Uint8Array): string => Base64.encode(bytes).replaceAll("+", ".").replaceAll("=", "")

const fromAdaptedBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const padded = text.replaceAll(".", "+").padEnd(Math.ceil(text.length / 4) * 4, "=")
  return Result.getOrUndefined(Result.map(Base64.decode(padded), (bytes) => new Uint8Array(bytes)))
}
