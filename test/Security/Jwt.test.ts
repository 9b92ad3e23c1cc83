import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import { spawnSync } from "node:child_process"
import * as nodeCrypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { vi } from "vitest"
import { Jwt, Keys, type SecurityError } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { freshKeys, issuerServer, mint, shop, type Signer, signerOf, verify } from "../support/tokens.ts"

const start = Date.UTC(2026, 0, 1)
const now = start / 1_000

const claims = { iss: "shop", aud: "shop", sub: "U1", roles: ["buyer"], iat: now, exp: now + 900 }

/** What makes tokens with the keys of the application. */
const own = Effect.map(Keys.Keys, ({ algorithm, id, jwks, privateKey }): Signer => ({
  alg: algorithm,
  kid: id,
  privateKey: Redacted.value(privateKey!),
  jwk: jwks.keys[0]!
}))

const reasonFor = (
  token: string
): Effect.Effect<SecurityError.Reason | "verified", SecurityError.IssuerUnavailable, Jwt.Jwt> =>
  verify(token).pipe(
    Effect.as("verified" as const),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed(reason))
  )

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

describe("Jwt", () => {
  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
    it.effect(`${algorithm}: verifies what it signs, until it expires`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const jwt = yield* Jwt.Jwt
        const token = yield* jwt.sign({ subject: "U1", roles: ["buyer"], claims: { tenant: "T1", sub: "U2", exp: 0 } })
        const user = yield* jwt.verify(token)
        assert.deepStrictEqual(user, {
          subject: "U1",
          roles: ["buyer"],
          claims: { tenant: "T1", iss: "shop", aud: "shop", sub: "U1", roles: ["buyer"], iat: now, exp: now + 900 }
        })
        // Fifteen minutes, and half a minute of skew.
        yield* TestClock.adjust(Duration.seconds(929))
        assert.deepStrictEqual(yield* jwt.verify(token), user)
        yield* TestClock.adjust("1 second")
        const { reason } = yield* Effect.flip(Effect.catchTag(jwt.verify(token), "IssuerUnavailable", Effect.die))
        assert.strictEqual(reason, "expired")
      }).pipe(Effect.provide(shop(algorithm))))

    it.effect(`${algorithm}: signs what jose and node:crypto verify`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const { jwks, id } = yield* Keys.Keys
        const jwt = yield* Jwt.Jwt
        const token = Redacted.value(yield* jwt.sign({ subject: "U1" }))
        const { payload, protectedHeader } = yield* Effect.promise(() =>
          jose.jwtVerify(token, jose.createLocalJWKSet({ keys: [...jwks.keys] }), {
            audience: "shop",
            issuer: "shop",
            currentDate: new Date(start)
          })
        )
        assert.deepStrictEqual(protectedHeader, { alg: algorithm, typ: "JWT", kid: id })
        assert.deepStrictEqual(payload, { iss: "shop", aud: "shop", sub: "U1", roles: [], iat: now, exp: now + 900 })
        const at = token.lastIndexOf(".")
        const key = nodeCrypto.createPublicKey({ key: jwks.keys[0]!, format: "jwk" })
        const isValid = nodeCrypto.verify(
          algorithm === "EdDSA" ? null : "sha256",
          Buffer.from(token.slice(0, at)),
          { key, dsaEncoding: "ieee-p1363" },
          Buffer.from(token.slice(at + 1), "base64url")
        )
        assert.isTrue(isValid)
      }).pipe(Effect.provide(shop(algorithm))))

    it.effect(`${algorithm}: verifies tokens that jose alone has made, and refuses others, each for its reason`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const signer = yield* own
        const other = yield* signerOf(algorithm)
        const issuer = yield* issuerServer
        issuer.documents.set("/keys", { keys: [other.jwk] })
        const url = `${issuer.baseUrl}/keys`
        const valid = yield* mint(signer, claims)
        const [header = "", payload = "", signature = ""] = valid.split(".")
        const without = ({ ...rest }: Partial<typeof claims>, name: keyof typeof claims) => {
          delete rest[name]
          return rest
        }
        const { publicKey } = yield* Keys.Keys
        const publicPem = yield* Effect.promise(() => jose.exportSPKI(publicKey))
        const hmac = (secret: string, alg: "sha256" | "sha512" = "sha256") => {
          const content = `${base64({ alg: alg === "sha256" ? "HS256" : "HS512", kid: signer.kid })}.${payload}`
          return `${content}.${nodeCrypto.createHmac(alg, secret).update(content).digest("base64url")}`
        }
        const table: ReadonlyArray<
          readonly [string, SecurityError.Reason | "verified", string | Effect.Effect<string>]
        > = [
          ["as it is", "verified", valid],
          ["no kid", "verified", mint(signer, claims, { kid: undefined })],
          ["a list of audiences", "verified", mint(signer, { ...claims, aud: ["other", "shop"] })],
          ["expired within the skew", "verified", mint(signer, { ...claims, exp: now - 29 })],
          ["expired", "expired", mint(signer, { ...claims, exp: now - 30 })],
          ["not yet valid within the skew", "verified", mint(signer, { ...claims, nbf: now + 30 })],
          ["not yet valid", "not-yet-valid", mint(signer, { ...claims, nbf: now + 31 })],
          ["wrong audience", "audience", mint(signer, { ...claims, aud: "shops" })],
          ["no audience", "audience", mint(signer, without(claims, "aud"))],
          ["wrong issuer", "issuer", mint(signer, { ...claims, iss: "shops" })],
          ["no issuer", "issuer", mint(signer, without(claims, "iss"))],
          ["wrong key, our kid", "signature", mint(other, claims, { kid: signer.kid })],
          ["wrong key, no kid", "signature", mint(other, claims, { kid: undefined })],
          ["unknown kid", "key", mint(other, claims)],
          ["our key, unknown kid", "key", mint(signer, claims, { kid: "k1" })],
          ["a kid that is a path", "key", mint(signer, claims, { kid: "../../dev/null" })],
          ["alg: none", "algorithm", `${base64({ alg: "none" })}.${payload}.`],
          ["alg: None, our kid", "algorithm", `${base64({ alg: "None", kid: signer.kid })}.${payload}.${signature}`],
          ["no alg", "algorithm", `${base64({ kid: signer.kid })}.${payload}.${signature}`],
          ["the public key as an HMAC secret", "algorithm", hmac(publicPem)],
          ["the public key as an HMAC secret of 512 bits", "algorithm", hmac(publicPem, "sha512")],
          ["the public JWK as an HMAC secret", "algorithm", hmac(JSON.stringify(signer.jwk))],
          [
            "another algorithm in the header",
            "algorithm",
            `${base64({ alg: algorithm === "ES256" ? "RS256" : "ES256", kid: signer.kid })}.${payload}.${signature}`
          ],
          ["changed payload", "signature", `${header}.${base64({ ...claims, sub: "U2" })}.${signature}`],
          [
            "changed header",
            "signature",
            `${base64({ alg: algorithm, kid: signer.kid, x: 1 })}.${payload}.${signature}`
          ],
          [
            "changed signature",
            "signature",
            `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`
          ],
          ["no signature", "signature", `${header}.${payload}.`],
          ["embedded jwk, our kid", "signature", mint(other, claims, { kid: signer.kid, jwk: other.jwk })],
          ["embedded jwk, its kid", "key", mint(other, claims, { jwk: other.jwk })],
          ["embedded jwk, no kid", "signature", mint(other, claims, { kid: undefined, jwk: other.jwk })],
          ["jku", "key", mint(other, claims, { jku: url })],
          ["jku, our kid", "signature", mint(other, claims, { kid: signer.kid, jku: url })],
          ["x5u", "key", mint(other, claims, { x5u: url })],
          ["a critical extension", "malformed", mintCritical(signer)],
          ["missing sub", "claims", mint(signer, without(claims, "sub"))],
          ["empty sub", "claims", mint(signer, { ...claims, sub: "" })],
          ["sub is a number", "claims", mint(signer, { ...claims, sub: 1 })],
          ["missing exp", "claims", mint(signer, without(claims, "exp"))],
          ["exp is a text", "claims", mint(signer, { ...claims, exp: "2030-01-01" })],
          [
            "exp is infinite",
            "claims",
            mintText(signer, JSON.stringify(claims).replace(/"exp":\d+/u, "\"exp\":1e999"))
          ],
          ["roles are a number", "claims", mint(signer, { ...claims, roles: 1 })],
          ["roles have a number", "claims", mint(signer, { ...claims, roles: ["admin", 1] })],
          ["no roles", "verified", mint(signer, without(claims, "roles"))],
          ["claims are no object", "malformed", mintText(signer, "[]")],
          ["claims are no JSON", "malformed", mintText(signer, "{")],
          ["huge", "too-large", mint(signer, { ...claims, more: "x".repeat(10_000) })],
          ["a gigantic text", "too-large", "x.".repeat(5_000_000)],
          ["empty", "malformed", ""],
          ["three empty parts", "malformed", ".."],
          ["garbage", "malformed", "garbage"],
          ["a JWE", "malformed", `${valid}.${payload}.${signature}`],
          ["JSON", "malformed", JSON.stringify({ payload, protected: header, signature })]
        ]
        const actual: Array<readonly [string, string]> = []
        for (const [name, , token] of table) {
          actual.push([name, yield* reasonFor(typeof token === "string" ? token : yield* token)])
        }
        assert.deepStrictEqual(actual, table.map(([name, expected]) => [name, expected]))
        assert.deepStrictEqual(issuer.requests, [])
      }).pipe(Effect.provide(shop(algorithm))))
  }

  it("loads jose with its layer, and not with the package", () => {
    const index = path.join(import.meta.dirname, "../../src/index.ts")
    const program = `
      import module from "node:module"
      const seen = []
      module.registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) })
      await import(${JSON.stringify(index)})
      console.log(JSON.stringify([seen.length > 100, seen.includes("jose")]))
    `
    const args = ["--conditions=source", "--input-type=module", "--eval", program]
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
    assert.strictEqual(stdout.trim(), "[true,false]")
  })

  it.effect("tells the caller nothing of why a token is refused", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(verify("garbage"))
      assert.strictEqual(error.message, "The credentials are invalid")
    }).pipe(Effect.provide(shop("EdDSA"))))

  it.layer(Layer.effectDiscard(TestClock.setTime(start)).pipe(Layer.provideMerge(shop("EdDSA"))))(
    "properties",
    (it) => {
      it.effect.prop(
        "no change of a character gives another user",
        [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })), Schema.String],
        ([at, text]) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(start)
            const jwt = yield* Jwt.Jwt
            const token = Redacted.value(yield* jwt.sign({ subject: "U1", roles: ["buyer"] }))
            const user = yield* verify(token)
            const place = at % token.length
            const changed = token.slice(0, place) + text + token.slice(place + 1)
            const result = yield* Effect.catchTag(verify(changed), "CredentialsInvalid", () => Effect.succeed(user))
            assert.deepStrictEqual(result, user)
          })
      )

      it.effect.prop(
        "answers from the cache as without one, at any time",
        [
          Schema.Int.check(Schema.isBetween({ minimum: -100_000, maximum: 100_000 })),
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 })),
          Schema.Finite.check(Schema.isBetween({ minimum: -100, maximum: 100 }))
        ],
        ([first, later, expiry]) =>
          Effect.gen(function*() {
            const signer = yield* own
            const token = yield* mint(signer, { ...claims, exp: now + expiry })
            yield* TestClock.setTime(start + first)
            yield* reasonFor(token)
            yield* TestClock.setTime(start + first + later)
            const cached = yield* reasonFor(token)
            const fresh = yield* Effect.provide(reasonFor(token), Jwt.layerWith({ application: "shop", cacheSize: 0 }))
            assert.strictEqual(cached, fresh)
          })
      )

      it.effect.prop("no text is anything but a user or invalid", [Schema.String], ([text]) =>
        Effect.gen(function*() {
          assert.notStrictEqual(yield* reasonFor(text), "verified")
        }))
    }
  )

  it.effect("caches verified tokens, as many as it is told, and never past their expiry", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const signer = yield* own
      const tokens = yield* Effect.forEach(
        ["U1", "U2", "U3"],
        (sub) => mint(signer, { ...claims, sub, exp: now + 60.5 })
      )
      const calls = vi.spyOn(globalThis.crypto.subtle, "verify")
      yield* Effect.addFinalizer(() => Effect.sync(() => calls.mockRestore()))
      const verified = Effect.fnUntraced(function*(token: string) {
        const before = calls.mock.calls.length
        const reason = yield* reasonFor(token)
        return [reason, calls.mock.calls.length - before]
      })
      const [first = "", second = "", third = ""] = tokens
      assert.deepStrictEqual(yield* verified(first), ["verified", 1])
      assert.deepStrictEqual(yield* verified(first), ["verified", 0])
      assert.deepStrictEqual(yield* verified(second), ["verified", 1])
      assert.deepStrictEqual(yield* verified(third), ["verified", 1])
      assert.deepStrictEqual(yield* verified(third), ["verified", 0])
      // The oldest one made room.
      assert.deepStrictEqual(yield* verified(first), ["verified", 1])
      yield* TestClock.setTime(start + 90_999)
      assert.deepStrictEqual(yield* verified(first), ["verified", 0])
      yield* TestClock.setTime(start + 91_000)
      assert.deepStrictEqual(yield* verified(first), ["expired", 1])
    }).pipe(Effect.scoped, Effect.provide(shop("EdDSA", { cacheSize: 2 }))))

  it.effect("can't sign with a public key alone", () =>
    Effect.gen(function*() {
      const keys = yield* Keys.Keys
      const layer = Jwt.layerWith({ application: "shop" }).pipe(
        Layer.provide(Layer.succeed(Keys.Keys, { ...keys, privateKey: undefined }))
      )
      const error = yield* Effect.flip(
        Effect.provide(Effect.flatMap(Jwt.Jwt, (jwt) => jwt.sign({ subject: "U1" })), layer)
      )
      assert.strictEqual(error.message, "The keys for tokens can't be used: there is no private key to sign with")
    }).pipe(Effect.provide(freshKeys("EdDSA"))))
})

describe("Tokens that PyJWT has made", () => {
  for (const { algorithm, jwk, publicPem, tokens } of pyjwt().vectors) {
    it.effect(`${algorithm}: verify with the public key as PEM`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const folder = yield* freshDirectory
        fs.mkdirSync(path.join(folder, "keys"))
        fs.writeFileSync(path.join(folder, "keys/public.pem"), publicPem)
        const keys = Keys.layerWith({ cfgDir: folder, development: false }).pipe(Layer.provide(NodeServices.layer))
        yield* Effect.gen(function*() {
          const { roles, subject } = yield* verify(tokens.plain)
          assert.deepStrictEqual([subject, ...roles], ["Ué-1", "buyer", "größe"])
          assert.deepStrictEqual(
            [
              yield* reasonFor(tokens.audiences),
              yield* reasonFor(tokens.expired),
              yield* reasonFor(tokens.otherAudience)
            ],
            ["verified", "expired", "audience"]
          )
        }).pipe(Effect.provide(Layer.provide(Jwt.layerWith({ application: "shop" }), keys)))
      }))

    it.effect(`${algorithm}: verify with the key set of their issuer, with roles where it keeps them`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const server = yield* issuerServer
        server.documents.set("/keys", { keys: [jwk] })
        const foreign = Jwt.jwks({
          issuer: "https://login.example",
          url: `${server.baseUrl}/keys`,
          roles: ["realm_access", "roles"],
          subjects: "ours"
        })
        const layer = Layer.provide(Jwt.layerWith({ application: "shop", issuers: [foreign] }), FetchHttpClient.layer)
        const { roles, subject } = yield* Effect.provide(verify(tokens.foreign), layer)
        assert.deepStrictEqual([subject, ...roles], ["Ué-1", "staff"])
      }))
  }
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

/** A token of a text that need not be claims. */
const mintText = ({ alg, kid, privateKey }: Signer, text: string) =>
  Effect.promise(() =>
    new jose.CompactSign(new TextEncoder().encode(text)).setProtectedHeader({ alg, kid }).sign(privateKey)
  )

/** A token with an extension that its verifier must understand. */
const mintCritical = ({ alg, kid, privateKey }: Signer) =>
  Effect.promise(() =>
    new jose.CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg, kid, crit: ["x"], x: 1 })
      .sign(privateKey, { crit: { x: true } })
  )

interface PyJwt {
  readonly vectors: ReadonlyArray<{
    readonly algorithm: Keys.Algorithm
    readonly publicPem: string
    readonly jwk: jose.JWK
    readonly tokens: Readonly<Record<"plain" | "audiences" | "foreign" | "expired" | "otherAudience", string>>
  }>
}

function pyjwt(): PyJwt {
  return JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "fixtures/pyjwt.json"), "utf8"))
}
