import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import { Jwt } from "../../../src/index.ts"
import { type IssuerServer, issuerServer, mint, type Signer, signerOf, trusting } from "../../support/tokens.ts"

const start = Date.UTC(2026, 0, 1)
const issuer = "https://login.example"

describe("The keys of another issuer", () => {
  it.effect("rotate: a new key is fetched when a token names it, and an old one ends with its age", () =>
    Effect.gen(function*() {
      const { outcome, server } = yield* setUp
      const [a, b] = [yield* signerOf("ES256"), yield* signerOf("EdDSA")]
      publish(server, a)
      assert.strictEqual(yield* outcome(a), "verified")
      publish(server, b)
      // Fetched a moment ago: no token makes it happen again.
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["key", 1])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["verified", 2])
      assert.deepStrictEqual([yield* outcome(a), server.requests.length], ["key", 2])
      publish(server, a)
      yield* TestClock.adjust("9 minutes")
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["verified", 2])
      yield* TestClock.adjust("1 minute")
      // The one that is known counts while the keys are fetched.
      assert.strictEqual(yield* outcome(b), "verified")
      yield* arrived(server, 3)
      assert.strictEqual(yield* outcome(a), "verified")
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["key", 3])
    }).pipe(Effect.scoped))

  it.effect("rotate also when the clock is set back", () =>
    Effect.gen(function*() {
      const { outcome, server } = yield* setUp
      const [a, b] = [yield* signerOf("EdDSA"), yield* signerOf("EdDSA")]
      publish(server, a)
      assert.strictEqual(yield* outcome(a), "verified")
      publish(server, b)
      yield* TestClock.setTime(start - 3_600_000)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["verified", 2])
      publish(server, a)
      yield* TestClock.setTime(start - 7_200_000)
      yield* TestClock.adjust("70 minutes")
      assert.deepStrictEqual([yield* outcome(b), server.requests.length], ["key", 3])
    }).pipe(Effect.scoped))

  it.effect("are fetched once for many tokens at once, known and unknown", () =>
    Effect.gen(function*() {
      const { outcome, server } = yield* setUp
      const [known, unknown] = [yield* signerOf("EdDSA"), yield* signerOf("EdDSA")]
      publish(server, known)
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, i) => i),
        (i) => outcome(i % 2 === 0 ? known : unknown, `U${i}`),
        { concurrency: 60 }
      )
      assert.deepStrictEqual(outcomes, outcomes.map((_, i) => i % 2 === 0 ? "verified" : "key"))
      assert.strictEqual(server.requests.length, 1)
    }).pipe(Effect.scoped))

  it.effect("are fetched to the end when the first of many callers is interrupted", () =>
    Effect.gen(function*() {
      const { outcome, server } = yield* setUp
      const signer = yield* signerOf("EdDSA")
      publish(server, signer)
      const { promise, resolve } = Promise.withResolvers<void>()
      server.gate = promise
      const first = yield* Effect.forkChild(outcome(signer, "U1"))
      yield* arrived(server)
      const others = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 20 }, (_, i) => `V${i}`), (sub) => outcome(signer, sub), {
          concurrency: 20
        })
      )
      yield* Fiber.interrupt(first)
      resolve()
      assert.deepStrictEqual(new Set(yield* Fiber.join(others)), new Set(["verified"]))
      assert.strictEqual(server.requests.length, 1)
    }).pipe(Effect.scoped))

  it.effect("count for an hour more while the issuer does not answer, and not longer", () =>
    Effect.gen(function*() {
      const { outcome, server } = yield* setUp
      const [known, unknown] = [yield* signerOf("EdDSA"), yield* signerOf("EdDSA")]
      publish(server, known)
      assert.strictEqual(yield* outcome(known), "verified")
      server.documents.clear()
      yield* TestClock.adjust("69 minutes")
      assert.strictEqual(yield* outcome(known, "U2"), "verified")
      assert.match(yield* outcome(unknown), /^unavailable: /u)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(
        yield* outcome(known, "U3"),
        `unavailable: The keys of the issuer ${issuer} can't be fetched: ${server.baseUrl}/keys gives no answer (StatusCodeError)`
      )
      publish(server, known)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* outcome(known, "U4"), "verified")
    }).pipe(Effect.scoped))

  it.effect("are unavailable where an answer is no key set, or has no end", () =>
    Effect.gen(function*() {
      const signer = yield* signerOf("EdDSA")
      for (const document of ["garbage", "[]", "{}", { keys: {} }, { keys: [signer.jwk], more: "x".repeat(300_000) }]) {
        const { outcome, server } = yield* setUp
        server.documents.set("/keys", document)
        assert.strictEqual(
          yield* outcome(signer),
          `unavailable: The keys of the issuer ${issuer} can't be fetched: `
            + `${server.baseUrl}/keys does not answer with what is expected`
        )
      }
    }).pipe(Effect.scoped))

  it.effect("are those that verify signatures of a supported algorithm", () =>
    Effect.gen(function*() {
      const signers = yield* Effect.all({
        RS256: signerOf("RS256"),
        PS256: signerOf("PS256"),
        ES384: signerOf("ES384"),
        encryption: signerOf("ES256"),
        wrapping: signerOf("EdDSA"),
        good: signerOf("EdDSA")
      })
      const short = yield* Effect.promise(() =>
        crypto.subtle.generateKey(
          { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1), hash: "SHA-256" },
          true,
          ["sign", "verify"]
        )
      )
      const { outcome, server } = yield* setUp
      server.documents.set("/keys", {
        keys: [
          null,
          "x",
          { kty: "oct", k: "c2VjcmV0", kid: "secret", alg: "HS256" },
          { kty: "RSA", kid: "broken", n: "?", e: "AQAB" },
          { ...yield* Effect.promise(() => jose.exportJWK(short.publicKey)), kid: "short" },
          { ...signers.RS256.jwk, kid: "RS256" },
          { ...signers.PS256.jwk, alg: "PS256" },
          signers.ES384.jwk,
          { ...signers.encryption.jwk, use: "enc" },
          { ...signers.wrapping.jwk, key_ops: ["wrapKey"] },
          signers.good.jwk
        ]
      })
      assert.deepStrictEqual(
        yield* Effect.all([
          outcome({ ...signers.RS256, kid: "RS256" }),
          outcome(signers.PS256),
          outcome(signers.ES384),
          outcome(signers.encryption),
          outcome(signers.wrapping),
          outcome(signers.good)
        ]),
        ["verified", "algorithm", "algorithm", "key", "key", "verified"]
      )
      assert.strictEqual(yield* outcome({ ...signers.good, kid: "RS256" }), "algorithm")
      assert.strictEqual(yield* outcome({ ...signers.good, kid: "short" }), "key")
    }).pipe(Effect.scoped))

  it.effect("are found by the issuer's discovery document, which must be its own", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const server = yield* issuerServer
      const signer = yield* signerOf("RS256")
      publish(server, signer)
      const own = `${server.baseUrl}/realms/a/`
      const document = { issuer: own, jwks_uri: `${server.baseUrl}/keys` }
      server.documents.set("/realms/a/.well-known/openid-configuration", document)
      const verify = outcomeOf(yield* trusting([Jwt.discovered({ issuer: own })]), own)
      assert.strictEqual(yield* verify(signer), "verified")
      assert.deepStrictEqual(server.requests, ["/realms/a/.well-known/openid-configuration", "/keys"])

      server.documents.set("/realms/a/.well-known/openid-configuration", { ...document, issuer })
      const misled = outcomeOf(yield* trusting([Jwt.discovered({ issuer: own })]), own)
      assert.match(yield* misled(signer), /is the document of another issuer$/u)
    }).pipe(Effect.scoped))

  it.effect("verify no token of another issuer that is trusted as well", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const server = yield* issuerServer
      const [a, b] = [yield* signerOf("EdDSA"), yield* signerOf("EdDSA")]
      server.documents.set("/a", { keys: [{ ...a.jwk, kid: "1" }] })
      server.documents.set("/b", { keys: [{ ...b.jwk, kid: "1" }] })
      const jwt = yield* trusting([
        Jwt.jwks({ issuer: "https://a.example", url: `${server.baseUrl}/a` }),
        Jwt.jwks({ issuer: "https://b.example", url: `${server.baseUrl}/b`, audience: "b" })
      ])
      const [asA, asB] = [outcomeOf(jwt, "https://a.example"), outcomeOf(jwt, "https://b.example")]
      assert.deepStrictEqual(
        yield* Effect.all([
          asA({ ...a, kid: "1" }),
          asA({ ...b, kid: "1" }),
          asB({ ...b, kid: "1" }),
          asB({ ...b, kid: "1" }, "U1", "b"),
          outcomeOf(jwt, "https://c.example")(a)
        ]),
        ["verified", "signature", "audience", "verified", "issuer"]
      )
    }).pipe(Effect.scoped))
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

const publish = (server: IssuerServer, { jwk }: Signer) => server.documents.set("/keys", { keys: [jwk] })

/** Waits until the server has this many requests. */
const arrived = (server: IssuerServer, requests = 1) =>
  Effect.promise(async () => {
    while (server.requests.length < requests) await new Promise((resolve) => setImmediate(resolve))
  })

const outcomeOf = (jwt: Jwt.Jwt["Service"], iss: string) =>
  Effect.fnUntraced(function*(signer: Signer, sub = "U1", aud = "shop") {
    const token = yield* mint(signer, { iss, aud, sub, exp: start / 1_000 + 86_400 })
    return yield* jwt.verify(Redacted.make(token)).pipe(
      Effect.as("verified"),
      Effect.catchTags({
        CredentialsInvalid: ({ reason }) => Effect.succeed(reason),
        IssuerUnavailable: ({ message }) => Effect.succeed(`unavailable: ${message}`)
      })
    )
  })

/** A server of keys, and a service that trusts it and caches no tokens. */
const setUp = Effect.gen(function*() {
  yield* TestClock.setTime(start)
  const server = yield* issuerServer
  const jwt = yield* trusting([Jwt.jwks({ issuer, url: `${server.baseUrl}/keys` })], { cacheSize: 0 })
  return { server, outcome: outcomeOf(jwt, issuer) }
})
