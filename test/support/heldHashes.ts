/** WebCrypto whose hashes of passwords end one at a time, and only when they are let. */
import { Effect } from "effect"
import { WebCrypto } from "effect/crypto"

/**
 * `begun` has the texts in the order in which their hashes begin. `hold` makes hashes wait, and `release` lets them end while
 * the effect runs, and afterwards.
 */
export const heldHashes = () => {
  const begun: Array<string> = []
  let isHeld = false
  const held: Array<() => void> = []
  const { subtle } = globalThis.crypto
  const slow = new Proxy(subtle, {
    get: (target, name) =>
      name === "importKey"
        ? (format: "raw", key: Uint8Array<ArrayBuffer>, ...rest: [string, boolean, Array<KeyUsage>]) => {
          begun.push(new TextDecoder().decode(key))
          return target.importKey(format, key, ...rest)
        }
        : name === "deriveBits"
        ? (...parameters: Parameters<typeof subtle.deriveBits>) =>
          new Promise<void>((resolve) => isHeld ? held.push(resolve) : resolve()).then(() =>
            target.deriveBits(...parameters)
          )
        : Reflect.get(target, name).bind(target)
  })
  const layer = WebCrypto.layer(
    new Proxy(globalThis.crypto, {
      get: (target, name) => {
        const member = Reflect.get(target, name)
        return name === "subtle" ? slow : typeof member === "function" ? member.bind(target) : member
      }
    })
  )
  const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
  const letGo = Effect.andThen(Effect.sync(() => held.shift()?.()), turn)
  return {
    begun,
    layer,
    hold: Effect.sync(() => {
      isHeld = true
    }),
    release: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.raceFirst(effect, Effect.forever(letGo)).pipe(Effect.ensuring(Effect.sync(() => {
        isHeld = false
      })))
  }
}
