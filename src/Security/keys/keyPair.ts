/** Parses, generates and exports the key pairs that sign tokens, as PEM and as JSON web keys. */
import * as Effect from "effect/Effect"
import * as jose from "jose"

/** The algorithms of signatures, by their names in RFC 7518 and RFC 8037. */
export type Algorithm = "RS256" | "ES256" | "EdDSA"

/** A key that verifies signatures of one algorithm. @internal */
export interface PublicKey {
  readonly algorithm: Algorithm
  readonly key: jose.CryptoKey
  /** The key as JSON with `kid`, `alg` and `use`, for other services. `kid` is its thumbprint by RFC 7638. */
  readonly jwk: jose.JWK & { readonly kid: string }
}

/** Parses a public key in PEM (SPKI); `undefined` if it is no key of a supported algorithm. @internal */
export const parsePublic = (pem: string): Effect.Effect<PublicKey | undefined> =>
  firstOf(algorithms, (algorithm) =>
    Effect.tryPromise(() => jose.importSPKI(pem, algorithm)).pipe(
      Effect.filterOrFail(isLongEnough),
      Effect.flatMap((key) => publicOf(algorithm, key))
    ))

/**
 * Parses a private key in PEM (PKCS #8), and derives its public key; `undefined` if it is no key of a supported
 * algorithm. The result can't be exported.
 *
 * @internal
 */
export const parsePrivate = (
  pem: string
): Effect.Effect<{ readonly privateKey: jose.CryptoKey; readonly publicKey: PublicKey } | undefined> =>
  firstOf(
    algorithms,
    Effect.fnUntraced(function*(algorithm) {
      const exportable = yield* Effect.tryPromise(() => jose.importPKCS8(pem, algorithm, { extractable: true })).pipe(
        Effect.filterOrFail(isLongEnough)
      )
      const privateKey = yield* Effect.tryPromise(() => jose.importPKCS8(pem, algorithm))
      const key = yield* importPublic(yield* Effect.tryPromise(() => jose.exportJWK(exportable)), algorithm)
      return { privateKey, publicKey: yield* publicOf(algorithm, key) }
    })
  )

/** Makes a pair, as PEM. @internal */
export const makePem = (
  algorithm: Algorithm
): Effect.Effect<{ readonly privatePem: string; readonly publicPem: string }> =>
  Effect.gen(function*() {
    const { privateKey, publicKey } = yield* Effect.promise(() =>
      jose.generateKeyPair(algorithm, { extractable: true })
    )
    return {
      privatePem: yield* Effect.promise(() => jose.exportPKCS8(privateKey)),
      publicPem: yield* Effect.promise(() => jose.exportSPKI(publicKey))
    }
  })

/** @internal */
export const algorithms: ReadonlyArray<Algorithm> = ["RS256", "ES256", "EdDSA"]

/** Imports the public members of a JSON web key. Fails if they are no key of the algorithm. @internal */
export const importPublic = Effect.fnUntraced(
  function*({ crv, e, kty, n, x, y }: jose.JWK, algorithm: Algorithm) {
    // `undefined` members are left out of JSON.
    const jwk: jose.JWK = JSON.parse(JSON.stringify({ crv, e, kty, n, x, y }))
    const key = yield* Effect.tryPromise(() => jose.importJWK(jwk, algorithm))
    return key instanceof Uint8Array ? yield* Effect.fail("a secret") : key
  },
  Effect.filterOrFail((key) => isLongEnough(key))
)

/** RFC 7518, section 3.3: RSA keys have 2,048 bits or more. */
const isLongEnough = ({ algorithm }: jose.CryptoKey): boolean =>
  !("modulusLength" in algorithm) || typeof algorithm.modulusLength !== "number" || algorithm.modulusLength >= 2_048

const publicOf = Effect.fnUntraced(function*(algorithm: Algorithm, key: jose.CryptoKey) {
  const jwk = yield* Effect.tryPromise(() => jose.exportJWK(key))
  const kid = yield* Effect.tryPromise(() => jose.calculateJwkThumbprint(jwk))
  const made: PublicKey = { algorithm, key, jwk: { ...jwk, kid, alg: algorithm, use: "sig" } }
  return made
})

/** The first result that does not fail. The form of a key tells its algorithm: imports as another one fail. */
const firstOf = <A, B, E>(
  candidates: ReadonlyArray<A>,
  run: (candidate: A) => Effect.Effect<B, E>
): Effect.Effect<B | undefined> => {
  const [first, ...others] = candidates
  return first === undefined ? Effect.undefined : Effect.catch(run(first), () => firstOf(others, run))
}
