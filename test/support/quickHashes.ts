/** Passwords that are hashed in few rounds, for tests of what else a service does. */
import { WebCrypto } from "effect/crypto"

const { subtle } = globalThis.crypto

/** What the text of the hash says stays as it is: a service that has this layer verifies only hashes that it has made. */
const quick = new Proxy(subtle, {
  get: (target, name) =>
    name !== "deriveBits"
      ? Reflect.get(target, name).bind(target)
      : (...[algorithm, key, length]: Parameters<typeof subtle.deriveBits>) =>
        target.deriveBits(
          typeof algorithm === "object" && "iterations" in algorithm ? { ...algorithm, iterations: 1 } : algorithm,
          key,
          length
        )
})

/** WebCrypto that derives keys from passwords in one round. */
export const quickHashes = WebCrypto.layer(
  new Proxy(globalThis.crypto, {
    get: (target, name) => {
      if (name === "subtle") return quick
      const member = Reflect.get(target, name)
      return typeof member === "function" ? member.bind(target) : member
    }
  })
)
