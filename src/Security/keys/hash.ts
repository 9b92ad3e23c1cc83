/** Hashes of random secrets, such as API keys. Passwords need slow hashes, which `passwordHash.ts` makes. */
import { hash, timingSafeEqual } from "node:crypto"

/** The SHA-256 of a secret that was drawn at random, so that no slow hash is needed; base64url without padding. */
export const hashOf = (secret: string): string => hash("sha256", secret, "base64url")

/** Compares two hashes in constant time. */
export const isSameHash = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
