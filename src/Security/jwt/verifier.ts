/**
 * Signs tokens (RFC 7519), and verifies those of several issuers, following RFC 8725: the algorithm must be the key's, keys
 * come from the issuer only and never from the token's header, and issuer, audience and expiry are required. `Jwt` loads it
 * by need, since it brings `jose`.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as jose from "jose"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { CurrentUser } from "../CurrentUser.ts"
import { hashOf } from "../keys/hash.ts"
import { type Algorithm, algorithms } from "../keys/keyPair.ts"
import { CredentialsInvalid, type IssuerUnavailable, type Reason } from "../SecurityError.ts"
import type { FindKey, VerificationKey } from "./verificationKey.ts"

/** An issuer whose tokens count. */
export interface TrustedIssuer {
  readonly issuer: string
  readonly audience: ReadonlyArray<string>
  /** Where the roles are in the claims; its tokens give no roles if `undefined`. */
  readonly roles: ReadonlyArray<string> | undefined
  /** What comes before its subjects. */
  readonly prefix: string
  readonly find: FindKey
}

export const makeVerifier = (options: {
  readonly issuers: ReadonlyArray<TrustedIssuer>
  readonly cacheSize: number
  readonly maxTokenSize: number
}): (
  token: Redacted.Redacted<string>
) => Effect.Effect<CurrentUser["Service"], CredentialsInvalid | IssuerUnavailable> => {
  // By the tokens' hashes.
  const verified = new BoundedCache<Verified>(options.cacheSize)
  // Verified tokens by their objects: one that comes as the same object again needs no hash.
  const met = new WeakMap<Redacted.Redacted<string>, Verified>()
  const issuers = new Map(options.issuers.map((issuer) => [issuer.issuer, issuer]))

  const verify = Effect.fnUntraced(function*(token: string, hash: string, now: number) {
    const { algorithm, id, issuer: named } = yield* read(token)
    const issuer = issuers.get(named)
    if (issuer === undefined) return yield* refused("issuer")
    const key = yield* issuer.find(id, algorithm)
    if (key === undefined) return yield* refused("key")
    if (key.algorithm !== algorithm) return yield* refused("algorithm")
    const { payload } = yield* Effect.tryPromise({
      try: () =>
        jose.jwtVerify(token, key.key, {
          algorithms: namesOf(key.algorithm),
          audience: [...issuer.audience],
          issuer: issuer.issuer,
          clockTolerance: skew,
          currentDate: DateTime.toDateUtc(DateTime.makeUnsafe(now)),
          requiredClaims: ["sub", "exp"]
        }),
      catch: (cause) => new CredentialsInvalid({ reason: reasonOf(cause) })
    })
    const roles = issuer.roles === undefined ? [] : rolesOf(payload, issuer.roles)
    const { exp = NaN, sub } = payload
    const isOthers = issuer.prefix === "" &&
      options.issuers.some(({ prefix }) => prefix !== "" && sub?.startsWith(prefix) === true)
    if (typeof sub !== "string" || sub === "" || isOthers || roles === undefined || !Number.isFinite(exp)) {
      return yield* refused("claims")
    }
    const user: CurrentUser["Service"] = { subject: issuer.prefix + sub, roles, claims: payload }
    verified.set(hash, { user, until: Math.min(Math.ceil(exp + skew) * 1_000, now + maxCached) })
    return user
  })

  return (token) =>
    Clock.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      const same = met.get(token)
      if (same !== undefined && now < same.until) return Effect.succeed(same.user)
      const text = Redacted.value(token)
      if (text.length > options.maxTokenSize) return refused("too-large")
      const hash = hashOf(text)
      const known = verified.get(hash)
      if (known === undefined || now >= known.until) return verify(text, hash, now)
      met.set(token, known)
      return Effect.succeed(known.user)
    })
}

/** A token with these claims, signed with a private key. */
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

interface Verified {
  readonly user: CurrentUser["Service"]
  /** In milliseconds since 1970. */
  readonly until: number
}

/** Seconds that the clocks of issuers may differ from ours. */
const skew = 30

/** A key that its issuer withdraws ends its tokens, verified ones too. */
const maxCached = 300_000

const refused = (reason: Reason) => Effect.fail(new CredentialsInvalid({ reason }))

/** Decodes header and claims to select the key. They are not trusted before the signature is verified. */
const read = (token: string) =>
  Effect.try({
    try: () => ({ header: jose.decodeProtectedHeader(token), payload: jose.decodeJwt(token) }),
    catch: () => new CredentialsInvalid({ reason: "malformed" })
  }).pipe(
    Effect.flatMap(({ header: { alg, kid }, payload: { iss } }) => {
      const algorithm = algorithms.find((one) => namesOf(one).some((name) => name === alg))
      return algorithm === undefined
        ? refused("algorithm")
        : typeof iss !== "string"
        ? refused("issuer")
        : kid !== undefined && typeof kid !== "string"
        ? refused("key")
        : Effect.succeed({ algorithm, id: kid, issuer: iss })
    })
  )

/** What tokens call an algorithm: RFC 9864 has a second name for EdDSA with Ed25519. */
const namesOf = (algorithm: Algorithm): Array<string> => algorithm === "EdDSA" ? ["EdDSA", "Ed25519"] : [algorithm]

const reasonOf = (cause: unknown): Reason => {
  if (cause instanceof jose.errors.JWSSignatureVerificationFailed) return "signature"
  if (cause instanceof jose.errors.JWTExpired) return "expired"
  if (cause instanceof jose.errors.JOSEAlgNotAllowed) return "algorithm"
  if (!(cause instanceof jose.errors.JWTClaimValidationFailed)) return "malformed"
  return cause.claim === "aud"
    ? "audience"
    : cause.claim === "iss"
    ? "issuer"
    : cause.claim === "nbf" && cause.reason === "check_failed"
    ? "not-yet-valid"
    : "claims"
}

/** The texts at a path, none where there is nothing; `undefined` where there is something else. */
const rolesOf = (claims: object, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  let value: unknown = claims
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined
    if (!Object.hasOwn(value, name)) return []
    value = Reflect.get(value, name)
  }
  if (typeof value === "string") return value.split(" ").filter((role) => role !== "")
  return Array.isArray(value) && value.every((role) => typeof role === "string") ? value : undefined
}
