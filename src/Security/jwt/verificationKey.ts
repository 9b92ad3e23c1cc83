/** Imports the keys of a JSON web key set, and selects the one for the header of a token. */
import * as Effect from "effect/Effect"
import type * as jose from "jose"
import { type Algorithm, importPublic } from "../keys/keyPair.ts"
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

/** The first hundred keys of a set that verify signatures of a supported algorithm. */
export const keysOf = (set: { readonly keys: ReadonlyArray<unknown> }): Effect.Effect<ReadonlyArray<VerificationKey>> =>
  Effect.map(
    Effect.forEach(set.keys.slice(0, 100), keyOf),
    (keys) => keys.filter((key) => key !== undefined)
  )

const keyOf = (candidate: unknown): Effect.Effect<VerificationKey | undefined> => {
  if (typeof candidate !== "object" || candidate === null) return Effect.undefined
  const jwk: jose.JWK = candidate
  const algorithm = algorithmOf(jwk)
  const verifies = (jwk.use === undefined || jwk.use === "sig")
    && (!Array.isArray(jwk.key_ops) || jwk.key_ops.includes("verify"))
  if (algorithm === undefined || !verifies) return Effect.undefined
  const id = typeof jwk.kid === "string" ? jwk.kid : undefined
  return Effect.match(importPublic(jwk, algorithm), {
    onFailure: () => undefined,
    onSuccess: (key) => ({ algorithm, id, key })
  })
}

const algorithmOf = ({ alg, crv, kty }: jose.JWK): Algorithm | undefined => {
  if (kty === "RSA") return alg === undefined || alg === "RS256" ? "RS256" : undefined
  if (kty === "EC" && crv === "P-256") return alg === undefined || alg === "ES256" ? "ES256" : undefined
  if (kty === "OKP" && crv === "Ed25519") {
    return alg === undefined || alg === "EdDSA" || alg === "Ed25519" ? "EdDSA" : undefined
  }
  return undefined
}
