/** Signs tokens with a private key. `Jwt` loads it by need, since it brings `jose`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as jose from "jose"
import type { VerificationKey } from "./verificationKey.ts"

/** A token with these claims. */
export const signed = (
  { algorithm, id, key }: VerificationKey,
  claims: jose.JWTPayload
): Effect.Effect<Redacted.Redacted<string>> => {
  const header = { alg: algorithm, typ: "JWT", ...(id === undefined ? {} : { kid: id }) }
  return Effect.map(
    Effect.promise(() => new jose.SignJWT(claims).setProtectedHeader(header).sign(key)),
    (token) => Redacted.make(token, { label: "token" })
  )
}
