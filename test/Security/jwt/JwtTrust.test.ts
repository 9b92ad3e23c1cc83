import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { vi } from "vitest"
import { Accounts, ApiKeys, EmbeddedStore, Jwt, Keys } from "../../../src/index.ts"
import { provided } from "../../../src/Security/Authentication.ts"
import { freshKeys, issuerServer, mint, shop, type Signer, signerOf, trusting, verify } from "../../support/tokens.ts"

const start = Date.UTC(2026, 0, 1)
const issuer = "https://login.example"
const claimsOf = (more?: object) => ({ iss: issuer, aud: "shop", sub: "U1", exp: start / 1_000 + 86_400, ...more })

describe("Issuers that are trusted", () => {
  it.effect("have names of their own, the application too", () =>
    Effect.gen(function*() {
      const twice = [Jwt.jwks({ issuer, url: `${issuer}/a` }), Jwt.discovered({ issuer })] as const
      assert.strictEqual(
        yield* defectOf(Effect.scoped(trusting(twice))),
        `DeclarationError: Jwt: two issuers are named ${issuer}. Declare it once; audience may be a list`
      )
      const asShop = Jwt.layerWith({ application: "shop", issuers: [Jwt.local, Jwt.discovered({ issuer: "shop" })] })
      assert.strictEqual(
        yield* defectOf(Effect.provide(Jwt.Jwt, Layer.provide(asShop, [freshKeys("EdDSA"), FetchHttpClient.layer]))),
        "DeclarationError: Jwt: two issuers are named shop. Declare it once; audience may be a list"
      )
    }))

  it.effect("may have several audiences", () =>
    Effect.gen(function*() {
      const { outcome } = yield* published({ audience: ["shop", "stock"] })
      assert.deepStrictEqual(
        [
          yield* outcome(claimsOf()),
          yield* outcome(claimsOf({ aud: "stock" })),
          yield* outcome(claimsOf({ aud: ["x", "stock"] })),
          yield* outcome(claimsOf({ aud: "x" }))
        ],
        ["U1", "U1", "U1", "audience"]
      )
      const none = yield* published({ audience: [] })
      assert.strictEqual(yield* none.outcome(claimsOf()), "audience")
    }).pipe(Effect.scoped))

  it.effect("have subjects of their own, unless it is said that theirs are ours", () =>
    Effect.gen(function*() {
      const theirs = yield* published({ subjects: undefined })
      const ours = yield* published({ subjects: "ours" })
      assert.deepStrictEqual(
        [yield* theirs.outcome(claimsOf()), yield* ours.outcome(claimsOf())],
        ["https://login.example|U1", "U1"]
      )
    }).pipe(Effect.scoped))

  it.effect("have subjects that no token, password or API key of an account proves", () =>
    Effect.gen(function*() {
      const jwt = yield* Jwt.Jwt
      const keys = yield* ApiKeys.ApiKeys
      const schemes = yield* provided
      const outcome = (id: string, credentials: string | Redacted.Redacted<string>) =>
        schemes.find((scheme) => scheme.id === id)!
          .verify(typeof credentials === "string" ? Redacted.make(credentials) : credentials).pipe(
            Effect.map(({ subject }) => subject),
            Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed(reason))
          )
      for (const [owner, token, other] of [["U1", "U1", "U1"], [`${issuer}|U1`, "claims", "account"]] as const) {
        assert.strictEqual(yield* outcome("bearer", yield* jwt.sign({ subject: owner })), token)
        assert.strictEqual(yield* outcome("apiKey", (yield* keys.generate({ owner })).key), other)
        assert.strictEqual(
          yield* outcome("basic", Buffer.from(`${encodeURIComponent(owner)}:p`).toString("base64")),
          other
        )
      }
    }).pipe(Effect.provide(
      Layer.mergeAll(
        Jwt.layerWith({ application: "shop", issuers: [Jwt.local, Jwt.discovered({ issuer })] }),
        ApiKeys.layer,
        // Whoever has the name has the account of this id.
        Layer.succeed(
          Accounts.Passwords,
          Accounts.Passwords.of({
            verify: (login) => Effect.succeed({ subject: decodeURIComponent(login), roles: [], claims: {} })
          })
        )
      ).pipe(Layer.provideMerge([freshKeys("EdDSA"), FetchHttpClient.layer, EmbeddedStore.layerMemory]))
    )))

  it.effect("give no roles, unless it is said where they are", () =>
    Effect.gen(function*() {
      const unsaid = yield* published({})
      assert.strictEqual(yield* unsaid.outcome(claimsOf({ roles: ["admin"] })), "U1")
      assert.strictEqual(yield* unsaid.outcome(claimsOf({ roles: 1 })), "U1")
      const said = yield* published({ roles: ["roles"] })
      assert.strictEqual(yield* said.outcome(claimsOf({ roles: ["admin"] })), "U1 admin")
    }).pipe(Effect.scoped))

  it.effect("may name Ed25519 as RFC 8037 or as RFC 9864 does, in keys and in tokens", () =>
    Effect.gen(function*() {
      for (const inKey of ["EdDSA", "Ed25519", undefined]) {
        const { outcome, signer } = yield* published({}, inKey)
        for (const alg of ["EdDSA", "Ed25519"]) {
          for (const kid of [signer.kid, undefined]) {
            assert.strictEqual(yield* outcome(claimsOf(), { alg, kid }), "U1", `${inKey} ${alg} ${kid}`)
          }
        }
      }
    }).pipe(Effect.scoped))
})

describe("Keys of issuers", () => {
  it.effect("are not fetched from where an answer redirects to", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const signer = yield* signerOf("EdDSA")
      const server = yield* issuerServer
      server.documents.set("/keys", { keys: [signer.jwk] })
      const baseUrl = yield* redirecting(`${server.baseUrl}/keys`)
      for (const status of [301, 307]) {
        const url = `${baseUrl}/${status}`
        const jwt = yield* trusting([Jwt.jwks({ issuer, url })])
        assert.strictEqual(
          yield* outcomeOf(jwt, signer)(claimsOf()),
          `The keys of the issuer ${issuer} can't be fetched: ${url} gives no answer (StatusCodeError)`
        )
      }
      assert.deepStrictEqual(server.requests, [])
    }).pipe(Effect.scoped))

  it.effect("are not fetched by http for an issuer with https", () =>
    Effect.gen(function*() {
      const jwt = trusting([Jwt.jwks({ issuer: "HTTPS://login.example", url: "http://login.example/keys" })])
      assert.strictEqual(
        yield* defectOf(Effect.scoped(jwt)),
        "DeclarationError: Jwt.jwks: http://login.example/keys is not https, but the issuer HTTPS://login.example is"
      )
      assert.deepStrictEqual(yield* discover("HTTPS://login.example", "http://login.example/keys"), [
        "HTTPS://login.example/.well-known/openid-configuration",
        "The keys of the issuer HTTPS://login.example can't be fetched: jwks_uri of "
        + "HTTPS://login.example/.well-known/openid-configuration is not https"
      ])
    }).pipe(Effect.scoped))

  it.effect("may be at an address whose scheme is in capitals", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* discover(issuer, "HTTPS://login.example/keys"), [
        `${issuer}/.well-known/openid-configuration`,
        "HTTPS://login.example/keys",
        "key"
      ])
    }).pipe(Effect.scoped))

  it.effect("that are known count at once while their issuer never answers", () =>
    Effect.gen(function*() {
      const { jwt, outcome, server } = yield* published({})
      const unknown = yield* signerOf("EdDSA")
      assert.strictEqual(yield* outcome(claimsOf()), "U1")
      server.gate = new Promise(() => {})
      yield* TestClock.adjust("69 minutes")
      const users = Array.from({ length: 20 }, (_, i) => `V${i}`)
      const outcomes = yield* Effect.forEach(users, (sub) => outcome(claimsOf({ sub })), { concurrency: 20 })
      assert.deepStrictEqual(outcomes, users)
      // An unknown key waits for the issuer, who has five seconds.
      const waiting = yield* Effect.forkChild(outcomeOf(jwt, unknown)(claimsOf()))
      while (server.requests.length < 2) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("5 seconds")
      assert.match(yield* Fiber.join(waiting), /does not answer within 5 seconds$/u)
      assert.strictEqual(yield* outcome(claimsOf({ sub: "W" })), "W")
      assert.strictEqual(server.requests.length, 2)
    }).pipe(Effect.scoped))
})

describe("Signing", () => {
  it.effect("dies of what makes no token, and says which", () =>
    Effect.gen(function*() {
      const jwt = yield* Jwt.Jwt
      const say = (content: Partial<Jwt.TokenContent>) => defectOf(jwt.sign({ subject: "U1", ...content }))
      const lifetime = "DeclarationError: Jwt: expiresIn must be a finite time above zero"
      for (const expiresIn of [Duration.infinity, Infinity, NaN, 0, -1_000]) {
        assert.strictEqual(yield* say({ expiresIn }), lifetime, String(expiresIn))
      }
      assert.strictEqual(yield* say({ subject: "" }), "DeclarationError: Jwt: the subject of a token must not be empty")
      for (const value of [NaN, Infinity, () => 1, undefined, 1n, Symbol("x"), new Date()]) {
        assert.strictEqual(
          // @ts-expect-error: what is not JSON
          yield* say({ claims: { list: [{ value }] } }),
          "DeclarationError: Jwt: the claims of a token must be JSON values",
          String(value)
        )
      }
      const zero = Jwt.layerWith({ application: "shop", expiresIn: 0 })
      assert.strictEqual(yield* defectOf(Effect.provide(Jwt.Jwt, zero)), lifetime)
      const token = yield* jwt.sign({ subject: "U1", expiresIn: "1 milli", claims: { a: [null, { b: 1.5 }], c: true } })
      const { claims } = yield* jwt.verify(token)
      assert.deepStrictEqual([claims["a"], claims["c"]], [[null, { b: 1.5 }], true])
    }).pipe(Effect.provide(shop("EdDSA"))))

  it.effect("needs nothing but Keys where issuers are undefined", () =>
    Effect.gen(function*() {
      const { sign } = yield* Jwt.Jwt
      assert.isTrue(Redacted.isRedacted(yield* sign({ subject: "U1" })))
    }).pipe(
      Effect.provide(Layer.provide(Jwt.layerWith({ application: "shop", issuers: undefined }), freshKeys("EdDSA")))
    ))
})

describe("The cache of verified tokens", () => {
  it.effect("keeps the others when a token is verified twice at once", () =>
    Effect.gen(function*() {
      const { algorithm, id, privateKey } = yield* Keys.Keys
      const signer = { alg: algorithm, kid: id, privateKey: Redacted.value(privateKey!), jwk: {} }
      yield* TestClock.setTime(start)
      const a = yield* mint(signer, claimsOf({ iss: "shop" }))
      const b = yield* mint(signer, claimsOf({ iss: "shop", sub: "U2" }))
      yield* verify(a)
      yield* Effect.all([verify(b), verify(b)], { concurrency: 2 })
      const calls = vi.spyOn(globalThis.crypto.subtle, "verify")
      yield* Effect.addFinalizer(() => Effect.sync(() => calls.mockRestore()))
      yield* verify(a)
      assert.strictEqual(calls.mock.calls.length, 0)
    }).pipe(Effect.scoped, Effect.provide(shop("EdDSA", { cacheSize: 2 }))))
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => Exit.isSuccess(exit) ? "a success" : String(Cause.squash(exit.cause)))

/** The user and the roles, or why there is none. */
const outcomeOf = (jwt: Jwt.Jwt["Service"], signer: Signer) =>
  Effect.fnUntraced(function*(claims: object, header?: { readonly [name: string]: unknown }) {
    return yield* jwt.verify(Redacted.make(yield* mint(signer, claims, header))).pipe(
      Effect.map(({ roles, subject }) => [subject, ...roles].join(" ")),
      Effect.catchTags({
        CredentialsInvalid: ({ reason }) => Effect.succeed(reason),
        IssuerUnavailable: ({ message }) => Effect.succeed(message)
      })
    )
  })

/** An issuer with one key of Ed25519, and a service that trusts it and caches no tokens. */
const published = Effect.fnUntraced(function*(options: Partial<Jwt.IssuerOptions>, alg?: string) {
  yield* TestClock.setTime(start)
  const server = yield* issuerServer
  const signer = yield* signerOf("EdDSA")
  server.documents.set("/keys", { keys: [{ ...signer.jwk, alg }] })
  const jwt = yield* trusting(
    [Jwt.jwks({ subjects: "ours", ...options, issuer, url: `${server.baseUrl}/keys` })],
    { cacheSize: 0 }
  )
  return { jwt, outcome: outcomeOf(jwt, signer), server, signer }
})

/** What is fetched if the discovery document of an issuer names an address, and then the outcome of a token. */
const discover = Effect.fnUntraced(function*(iss: string, address: string) {
  yield* TestClock.setTime(start)
  const fetched: Array<string> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      fetched.push(request.url)
      return HttpClientResponse.fromWeb(request, Response.json({ issuer: iss, jwks_uri: address, keys: [] }))
    })
  )
  const layer = Jwt.layerWith({ application: "shop", issuers: [Jwt.discovered({ issuer: iss })] }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )
  const signer = yield* signerOf("EdDSA")
  const outcome = yield* Effect.provide(
    Effect.flatMap(Jwt.Jwt, (jwt) => outcomeOf(jwt, signer)(claimsOf({ iss }))),
    layer
  )
  return [...fetched, outcome]
})

/** A server that redirects every request, with the status in its path. */
const redirecting = (location: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<http.Server>((resolve) => {
        const server = http.createServer((request, response) => {
          response.writeHead(Number((request.url ?? "").slice(1)), { location }).end()
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
    ),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    // A server on a port has an address.
    Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  )
