/** Runs generators with a fixed seed and clock, so that every process derives the same value for the same document. */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** What a generator makes by a seed, always the same, at the beginning of 1970. Dies if it is asynchronous. */
export const derivedValue = (generator: Effect.Effect<unknown>, seed: string): unknown =>
  Effect.runSync(
    Effect.flatMap(
      Random.Random,
      (random) => Effect.provideService(generator, WebCrypto.WebCrypto, cryptoBy(random))
    ).pipe(Random.withSeed(seed), Effect.provideService(Clock.Clock, standing))
  )

// internal

const cryptoBy = (random: typeof Random.Random["Service"]): Crypto => {
  const getRandomValues: Crypto["getRandomValues"] = (array) => {
    if (array !== null) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random.nextDoubleUnsafe() * 256)
    }
    return array
  }
  const { uuidV4 } = SecureRandom.make((size) => getRandomValues(new Uint8Array(size)))
  // A version 4 has the five groups of the type.
  const randomUUID = () => Effect.runSync(uuidV4()) as ReturnType<Crypto["randomUUID"]>
  return { getRandomValues, randomUUID, subtle: globalThis.crypto.subtle }
}

const standing: Clock.Clock = {
  currentTimeMillisUnsafe: () => 0,
  currentTimeMillis: Effect.succeed(0),
  currentTimeNanosUnsafe: () => 0n,
  currentTimeNanos: Effect.succeed(0n),
  monotonicTimeNanosUnsafe: () => 0n,
  monotonicTimeNanos: Effect.succeed(0n),
  sleep: () => Effect.void
}
