import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, Logger, Redacted } from "effect"
import * as jose from "jose"
import { Keys, type SecurityError } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"

describe("Keys", () => {
  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
    it.effect(`${algorithm}: are made once in development, readable by their owner only, and said so in the log`, () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const messages: Array<unknown> = []
        const first = yield* inFolder(folder, {}, { algorithm, development: true }).pipe(
          Effect.provide(Logger.layer([Logger.make(({ message }) => messages.push(message))]))
        )
        const second = yield* inFolder(folder, { NODE_ENV: "development" })
        assert.strictEqual(first.algorithm, algorithm)
        assert.strictEqual(second.id, first.id)
        assert.deepStrictEqual(messages.flat(), [
          `There are no keys for tokens: a pair was made in ${folder}/data/keys. In production, configure one`
        ])
        const files = yield* FileSystem.FileSystem
        const { mode } = yield* files.stat(`${folder}/data/keys/private.pem`)
        assert.strictEqual(mode & 0o777, 0o600)
        assert.deepStrictEqual((yield* files.readDirectory(`${folder}/data/keys`)).toSorted(), [
          "private.pem",
          "public.pem"
        ])
        assert.include(yield* files.readFileString(`${folder}/data/keys/public.pem`), "BEGIN PUBLIC KEY")
      }).pipe(Effect.provide(NodeServices.layer)))

    it.effect(`${algorithm}: sign what the public key verifies, and give nothing private away`, () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const { id, jwks, privateKey, publicKey } = yield* inFolder(folder, {}, { algorithm, development: true })
        assert.isDefined(privateKey)
        const signed = yield* Effect.promise(() =>
          new jose.CompactSign(Uint8Array.of(1)).setProtectedHeader({ alg: algorithm }).sign(Redacted.value(privateKey))
        )
        yield* Effect.promise(() => jose.compactVerify(signed, publicKey))
        yield* Effect.promise(() => jose.compactVerify(signed, jwks.keys[0]!))
        assert.isFalse(Redacted.value(privateKey).extractable)
        const [jwk] = jwks.keys
        assert.deepStrictEqual([jwk?.kid, jwk?.alg, jwk?.use], [id, algorithm, "sig"])
        for (const name of ["d", "p", "q", "dp", "dq", "qi", "k"]) assert.notProperty(jwk, name)
      }).pipe(Effect.provide(NodeServices.layer)))
  }

  it.effect("are the same for many processes that start at once", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => inFolder(folder, {}, { algorithm: "ES256", development: true })),
        { concurrency: 8 }
      )
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("come from the first place that has them", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [first, second, third] = yield* Effect.all([
        pemFiles(`${folder}/first`),
        pemFiles(`${folder}/second`),
        pemFiles(`${folder}/cfg/keys`)
      ])
      const paths = {
        APPKERNEL_PRIVATE_KEY_PATH: `${folder}/first/private.pem`,
        APPKERNEL_SECURITY_PRIVATE_KEY_PATH: `${folder}/second/private.pem`
      }
      const { APPKERNEL_SECURITY_PRIVATE_KEY_PATH } = paths
      const ids = yield* Effect.forEach(
        [
          paths,
          { APPKERNEL_SECURITY_PRIVATE_KEY_PATH },
          { APPKERNEL_PRIVATE_KEY_PATH: "", APPKERNEL_SECURITY_PRIVATE_KEY_PATH },
          {}
        ],
        (environment) => Effect.map(inFolder(folder, environment), ({ id }) => id)
      )
      assert.deepStrictEqual(ids, [first, second, second, third])
      // None was made.
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(`${folder}/data`))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("may be a public key alone, in production too", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const files = yield* FileSystem.FileSystem
      const id = yield* pemFiles(`${folder}/cfg/keys`)
      yield* files.remove(`${folder}/cfg/keys/private.pem`)
      const environment = { NODE_ENV: "production" }
      const fromFolder = yield* inFolder(folder, environment)
      yield* files.rename(`${folder}/cfg/keys/public.pem`, `${folder}/public.pem`)
      const fromVariable = yield* inFolder(folder, {
        ...environment,
        APPKERNEL_PUBLIC_KEY_PATH: `${folder}/public.pem`
      })
      assert.deepStrictEqual([fromFolder.id, fromVariable.id], [id, id])
      assert.deepStrictEqual([fromFolder.privateKey, fromVariable.privateKey], [undefined, undefined])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("are required unless development is known, by one line that says what to do, and none is made", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      // A pair of the time before is no configured one.
      yield* inFolder(folder, {}, { algorithm: "ES256", development: true })
      const message = "The keys for tokens can't be used: there are none. Set APPKERNEL_PRIVATE_KEY_PATH, or "
        + `security.private_key_path in cfg.yml, or put private.pem into ${folder}/cfg/keys; `
        + `npx appkernel keys ${folder}/cfg/keys makes a pair there`
      for (const NODE_ENV of ["production", "Production", "prod", "staging", "", " development"]) {
        assert.strictEqual(yield* failureIn(folder, { NODE_ENV }), message, NODE_ENV)
      }
      assert.strictEqual(yield* failureIn(folder, {}), message)
      assert.strictEqual(yield* failureIn(folder, { NODE_ENV: "test" }, { development: false }), message)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("are made where NODE_ENV is development or test, and where the program says so", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const made = yield* Effect.all([
        inFolder(folder, { NODE_ENV: "development" }),
        inFolder(folder, { NODE_ENV: "test" }),
        inFolder(folder, { NODE_ENV: "production" }, { development: true })
      ])
      assert.strictEqual(new Set(made.map(({ id }) => id)).size, 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("that can't be used are a typed error, which quotes nothing of the file", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const files = yield* FileSystem.FileSystem
      yield* pemFiles(`${folder}/one`)
      yield* pemFiles(`${folder}/other`)
      const short = yield* Effect.promise(() =>
        crypto.subtle.generateKey(
          { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1), hash: "SHA-256" },
          true,
          ["sign", "verify"]
        )
      )
      const p384 = yield* Effect.promise(() => jose.generateKeyPair("ES384", { extractable: true }))
      yield* files.writeFileString(`${folder}/garbage.pem`, "s3cret")
      yield* files.writeFileString(
        `${folder}/short.pem`,
        yield* Effect.promise(() => jose.exportPKCS8(short.privateKey))
      )
      yield* files.writeFileString(`${folder}/p384.pem`, yield* Effect.promise(() => jose.exportPKCS8(p384.privateKey)))
      const expected =
        "expected a private key in PEM (PKCS #8, no passphrase): RSA of 2,048 bits or more, P-256, or Ed25519"
      const messages = yield* Effect.forEach(
        ["none.pem", "garbage.pem", "short.pem", "p384.pem", "one/public.pem"],
        (file) => failureIn(folder, { APPKERNEL_PRIVATE_KEY_PATH: `${folder}/${file}` })
      )
      assert.deepStrictEqual(messages, [
        `The keys for tokens can't be used: ${folder}/none.pem: it can't be read (NotFound)`,
        ...["garbage.pem", "short.pem", "p384.pem", "one/public.pem"].map((file) =>
          `The keys for tokens can't be used: ${folder}/${file}: ${expected}`
        )
      ])
      const mixed = yield* failureIn(folder, {
        APPKERNEL_PRIVATE_KEY_PATH: `${folder}/one/private.pem`,
        APPKERNEL_PUBLIC_KEY_PATH: `${folder}/other/public.pem`
      })
      assert.strictEqual(
        mixed,
        `The keys for tokens can't be used: ${folder}/other/public.pem: `
          + `it is not the public key of ${folder}/one/private.pem`
      )
      const unwritable = yield* failureIn(folder, { NODE_ENV: "test" }, { dataDir: `${folder}/garbage.pem` })
      assert.match(
        yield* failureIn(folder, { NODE_ENV: "test" }, { dataDir: "/proc/none" }),
        /\/proc\/none\/keys: no pair can be made/u
      )
      assert.match(unwritable, /garbage\.pem\/keys.*: (?:it can't be read|no pair can be made there) \(\w+\)$/u)
    }).pipe(Effect.provide(NodeServices.layer)))
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

const inFolder = (
  folder: string,
  environment: { readonly [name: string]: string },
  options?: Keys.Options
) =>
  Effect.provide(
    Effect.service(Keys.Keys),
    Layer.provide(
      Keys.layerWith({ cfgDir: `${folder}/cfg`, dataDir: `${folder}/data`, ...options }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment }))
    )
  )

const failureIn = (folder: string, environment: { readonly [name: string]: string }, options?: Keys.Options) =>
  Effect.flip(inFolder(folder, environment, options)).pipe(
    Effect.tap((error) => Effect.sync(() => assert.strictEqual(error._tag, "KeysInvalid" satisfies Tag))),
    Effect.map(({ message }) => message)
  )

type Tag = SecurityError.KeysInvalid["_tag"]

/** Writes a pair of P-256 into a folder; returns its id. */
const pemFiles = Effect.fnUntraced(function*(folder: string) {
  const files = yield* FileSystem.FileSystem
  const { privateKey, publicKey } = yield* Effect.promise(() => jose.generateKeyPair("ES256", { extractable: true }))
  yield* files.makeDirectory(folder, { recursive: true })
  yield* files.writeFileString(`${folder}/private.pem`, yield* Effect.promise(() => jose.exportPKCS8(privateKey)))
  yield* files.writeFileString(`${folder}/public.pem`, yield* Effect.promise(() => jose.exportSPKI(publicKey)))
  return yield* Effect.promise(async () => jose.calculateJwkThumbprint(await jose.exportJWK(publicKey)))
})
