/** Credentials of every kind, valid and not, for the service `shop` of `tokens.ts`. */
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import * as jose from "jose"
import { createHmac } from "node:crypto"
import { Accounts, ApiKeys, Converter, type DocumentStore, Keys, type RepositoryError } from "../../src/index.ts"
import { mint, type Signer, signerOf } from "./tokens.ts"

/** What a request proves: a subject, nobody because of a reason, or nothing at all. */
export type Proof = { readonly subject: string } | { readonly refused: string } | "nothing"

export interface Credential {
  readonly name: string
  readonly headers: { readonly [name: string]: string }
  readonly proof: Proof
}

/** The accounts `jane` with a colon in the password, and `jürg`. */
export const accounts = Layer.effect(
  Accounts.Accounts,
  Effect.gen(function*() {
    const hash = Converter.contentHasher({ rounds: 1_000 })
    const secret = Redacted.make(yield* hash("correct:horse"))
    const known = new Map([["jane", "U1"], ["jürg", "U2"]])
    const accounts = [...known].map(([login, subject]) => ({ login, subject, roles: ["buyer"], secret }))
    return Accounts.Accounts.of({
      find: (login) => Effect.succeed(Option.fromUndefinedOr(accounts.find((one) => one.login === login))),
      findBySubject: (subject) =>
        Effect.succeed(Option.fromUndefinedOr(accounts.find((one) => one.subject === subject)))
    })
  })
)

export const basic = (pair: string | Buffer): string => `Basic ${Buffer.from(pair).toString("base64")}`

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Tokens of the issuer `iss` for the audience `shop`, signed by `signer`. */
export const tokens = (signer: Signer, iss = "shop") =>
  Effect.gen(function*() {
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const other = yield* signerOf(signer.alg)
    const claims = { iss, aud: "shop", sub: "U1", roles: ["buyer"], iat: now, exp: now + 900 }
    const valid = yield* mint(signer, claims)
    const [head = "", , signature = ""] = valid.split(".")
    const pem = yield* Effect.promise(async () => jose.exportSPKI(await publicKeyOf(signer)))
    const forged = `${encoded({ alg: "HS256", typ: "JWT", kid: signer.kid })}.${encoded(claims)}`
    const hmac = createHmac("sha256", pem).update(forged).digest("base64url")
    return [
      ["a token", valid, { subject: "U1" }],
      ["a token that ended 29 seconds ago", yield* mint(signer, { ...claims, exp: now - 29 }), { subject: "U1" }],
      ["an expired token", yield* mint(signer, { ...claims, exp: now - 31 }), { refused: "expired" }],
      ["a token for later", yield* mint(signer, { ...claims, nbf: now + 31 }), { refused: "not-yet-valid" }],
      ["a token for another audience", yield* mint(signer, { ...claims, aud: "stock" }), { refused: "audience" }],
      ["a token of another issuer", yield* mint(signer, { ...claims, iss: "https://x" }), { refused: "issuer" }],
      ["a token without a subject", yield* mint(signer, { ...claims, sub: undefined }), { refused: "claims" }],
      ["a token without an end", yield* mint(signer, { ...claims, exp: undefined }), { refused: "claims" }],
      [
        "a token of another key with our key's id",
        yield* mint(other, claims, { kid: signer.kid }),
        { refused: "signature" }
      ],
      ["a token with an unknown kid", yield* mint(other, claims), { refused: "key" }],
      ["a token with its key within", yield* mint(other, claims, { jwk: other.jwk }), { refused: "key" }],
      ["a token with the address of its key", yield* mint(other, claims, { jku: "http://x/keys" }), { refused: "key" }],
      [
        "a token with alg none",
        `${encoded({ alg: "none", kid: signer.kid })}.${encoded(claims)}.`,
        { refused: "algorithm" }
      ],
      ["the public key as an HS256 secret", `${forged}.${hmac}`, { refused: "algorithm" }],
      [
        "a token with a changed payload",
        `${head}.${encoded({ ...claims, sub: "U2" })}.${signature}`,
        { refused: "signature" }
      ],
      ["a token without a signature", `${head}.${encoded(claims)}.`, { refused: "signature" }],
      ["half a token", valid.slice(0, 60), { refused: "malformed" }],
      ["a token of 9,000 characters", "x".repeat(9_000), { refused: "too-large" }]
    ] as const
  })

const publicKeyOf = async ({ alg, jwk }: Signer): Promise<jose.CryptoKey> => {
  const key = await jose.importJWK(jwk, alg, { extractable: true })
  return "type" in key ? key : Promise.reject(new Error("no public key"))
}

/** The keys of the service as those of a signer. */
export const ownSigner: Effect.Effect<Signer, never, Keys.Keys> = Effect.gen(function*() {
  const { algorithm, id, jwks, privateKey } = yield* Keys.Keys
  if (privateKey === undefined || jwks.keys[0] === undefined) return yield* Effect.die("no private key")
  return { alg: algorithm, kid: id, privateKey: Redacted.value(privateKey), jwk: jwks.keys[0] }
})

/** All of them. */
export const credentials = Effect.gen(
  function*(): Effect.fn.Return<
    ReadonlyArray<Credential>,
    RepositoryError.StoreError,
    ApiKeys.ApiKeys | DocumentStore.DocumentStore | Keys.Keys
  > {
    const keys = yield* ApiKeys.ApiKeys
    const key = yield* keys.generate({ owner: "U3", roles: ["report"] })
    const revoked = yield* keys.generate({ owner: "U3" })
    yield* keys.revoke(revoked.id)
    const made = yield* tokens(yield* ownSigner)
    const bearer = `Bearer ${made[0][1]}`
    const [apiKey, revokedKey] = [Redacted.value(key.key), Redacted.value(revoked.key)]
    const authorization = (name: string, authorization: string, proof: Proof): Credential => ({
      name,
      headers: { authorization },
      proof
    })
    return [
      { name: "none", headers: {}, proof: "nothing" },
      ...made.map(([name, token, proof]) => authorization(name, `Bearer ${token}`, proof)),
      authorization("a token after bEARER and two spaces", `bEARER  ${made[0][1]}`, { subject: "U1" }),
      authorization("Bearer without a token", "Bearer", { refused: "malformed" }),
      authorization("an empty header", "", { refused: "malformed" }),
      authorization("a token without Bearer", made[0][1], { refused: "malformed" }),
      authorization("another scheme", "Digest username=jane", { refused: "scheme" }),
      authorization("a name and a password", basic("jane:correct:horse"), { subject: "U1" }),
      authorization("a name in UTF-8", basic("jürg:correct:horse"), { subject: "U2" }),
      authorization("a name in Latin 1", basic(Buffer.from("jürg:correct:horse", "latin1")), { refused: "malformed" }),
      authorization("a wrong password", basic("jane:battery staple"), { refused: "secret" }),
      authorization("an unknown name", basic("joe:correct:horse"), { refused: "account" }),
      authorization("a name alone", basic("jane"), { refused: "malformed" }),
      authorization("a name with a line break", basic("jane\n:correct:horse"), { refused: "malformed" }),
      authorization("no base64", "Basic jane:correct", { refused: "malformed" }),
      { name: "a key", headers: { "x-api-key": apiKey }, proof: { subject: "U3" } },
      { name: "a revoked key", headers: { "x-api-key": revokedKey }, proof: { refused: "revoked" } },
      {
        name: "a key with another secret",
        headers: { "x-api-key": `${key.id}.${"A".repeat(43)}` },
        proof: { refused: "secret" }
      },
      { name: "no key", headers: { "x-api-key": "" }, proof: { refused: "malformed" } },
      {
        name: "two kinds at once",
        headers: { authorization: bearer, "x-api-key": apiKey },
        proof: { refused: "several" }
      }
    ]
  }
)
