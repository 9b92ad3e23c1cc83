/** The keys that tokens are verified with, and how the one for the header of a token is found among them. */
import type * as Effect from "effect/Effect"
import type * as jose from "jose"
import type { Algorithm } from "../keys/keyPair.ts"
import type { IssuerUnavailable } from "../SecurityError.ts"

/** A key that an issuer signs with. */
export interface VerificationKey {
  readonly algorithm: Algorithm
  readonly id: string | undefined
  readonly key: jose.CryptoKey
}

/** The key of a token's header: by id, or the only one of the algorithm; else `undefined`. */
export type FindKey = (
  id: string | undefined,
  algorithm: string
) => Effect.Effect<VerificationKey | undefined, IssuerUnavailable>

export const findIn = (
  keys: ReadonlyArray<VerificationKey>,
  id: string | undefined,
  algorithm: string
): VerificationKey | undefined => {
  const found = keys.filter((key) => id === undefined ? key.algorithm === algorithm : key.id === id)
  return found.length === 1 ? found[0] : found.find((key) => id !== undefined && key.algorithm === algorithm)
}
