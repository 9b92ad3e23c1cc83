import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import * as jose from "jose"
import * as path from "node:path"
import { EmbeddedStore, Jwt, KernelEngine, Keys, Service } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { complaintsOf, freePort, printed, runProgram } from "../support/processes.ts"
import { sendTo } from "../support/rest.ts"

describe("Jwt.layer", () => {
  it.live(
    "has the keys beside cfg.yml and the id of the engine, and others find the public one",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        yield* writeKeys(`${folder}/cfg/keys`)
        const { baseUrl, program } = yield* start(folder, { NODE_ENV: "production" })
        yield* printed(program, "Listening on")
        const response = yield* Effect.promise(() => fetch(`${baseUrl}/.well-known/jwks.json`))
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("content-type"), "application/jwk-set+json")
        const { keys } = yield* Effect.promise(() => response.json() as Promise<{ keys: ReadonlyArray<object> }>)
        assert.deepStrictEqual(keys.map((key) => Object.keys(key).toSorted()), [[
          "alg",
          "crv",
          "kid",
          "kty",
          "use",
          "x",
          "y"
        ]])
        const other = yield* Effect.promise(() => fetch(`${baseUrl}/.well-known/jwks.json`, { method: "POST" }))
        assert.strictEqual(other.status, 405)
        const post = (path: string, body: object) => sendTo(baseUrl, "POST", `/api/v1${path}`, body)
        const [username, password] = ["jane@example.com", "correct horse"]
        assert.strictEqual((yield* post("/users", { email: username, password })).status, 201)
        const { body: { access_token } } = yield* post("/token", { grant_type: "password", username, password })
        assert.strictEqual(jose.decodeProtectedHeader(access_token).kid, yield* idOf(baseUrl))
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "fails by name without keys, except in development, where a pair is made beside the documents",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const { program: refused } = yield* start(folder, {})
        assert.strictEqual(yield* refused.ended, 1)
        assert.include(complaintsOf(refused).at(-1), `put private.pem into ${folder}/cfg/keys`)
        const first = yield* start(folder, { DEVELOPMENT: "true" })
        yield* printed(first.program, "Listening on")
        assert.include(first.program.output(), `a pair was made in ${folder}/data/keys`)
        const made = yield* idOf(first.baseUrl)
        first.program.process.kill("SIGTERM")
        yield* first.program.ended
        // The folder of documents may have it before its first document.
        const second = yield* start(folder, { NODE_ENV: "development" })
        yield* printed(second.program, "Listening on")
        assert.strictEqual(yield* idOf(second.baseUrl), made)
        assert.notInclude(second.program.output(), "a pair was made")
        const { program: production } = yield* start(folder, { NODE_ENV: "development", DEVELOPMENT: "false" })
        assert.strictEqual(yield* production.ended, 1)
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("has keys of its own in each test, and none in a folder", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("shop").register(
        Service.make("Clock").operation("zone", {}, () => Effect.asVoid(Jwt.Jwt))
      )
      const before = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.exists("data/keys"))
      const ids = yield* Effect.forEach([1, 2], () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* engine.test({
            store: Layer.fresh(Layer.merge(EmbeddedStore.layerMemory, Jwt.layer))
          })
          return yield* idOf(baseUrl)
        }))
      assert.strictEqual(new Set(ids).size, 2)
      assert.strictEqual(yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.exists("data/keys")), before)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("dies outside of an engine, by a sentence that says what to do", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const keys = Keys.layerWith({ cfgDir: folder, dataDir: folder, development: true, algorithm: "ES256" })
      const defect = yield* Effect.sandbox(Layer.build(Layer.provide(Jwt.layerWith({}), keys))).pipe(
        Effect.flip,
        Effect.map((cause) =>
          cause.reasons.map((reason) => reason._tag === "Die" ? String(reason.defect) : reason._tag)
        )
      )
      assert.deepStrictEqual(defect, [
        "DeclarationError: Jwt: which application is it? Start the service by engine.launch or engine.test, "
        + "or use Jwt.layerWith({ application })"
      ])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("signs for the application whose id the engine has", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("shop").register(
        Service.make("TokenService").operation(
          "issue",
          { success: Schema.String },
          () => Effect.flatMap(Jwt.Jwt, ({ sign }) => Effect.orDie(Effect.map(sign({ subject: "U1" }), Redacted.value)))
        )
      )
      const { client } = yield* engine.test({ store: Layer.merge(EmbeddedStore.layerMemory, Jwt.layer) })
      const { aud, iss, sub } = jose.decodeJwt((yield* client.tokens.issue()).result)
      assert.deepStrictEqual([iss, aud, sub], ["shop", "shop", "U1"])
    }))
})

// -----------------------------------------------------------------------------
// fixtures
// -----------------------------------------------------------------------------

const start = Effect.fnUntraced(function*(folder: string, env: { readonly [name: string]: string }) {
  const port = yield* freePort
  const program = yield* runProgram(path.join(import.meta.dirname, "../support/tokenProgram.ts"), {
    CFG_DIR: `${folder}/cfg`,
    APPKERNEL_EMBEDDED_PATH: `${folder}/data`,
    APPKERNEL_SERVER_PORT: String(port),
    ...env
  })
  return { baseUrl: `http://127.0.0.1:${port}`, program }
})

const idOf = (baseUrl: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${baseUrl}/.well-known/jwks.json`)
    const { keys } = await response.json() as { readonly keys: ReadonlyArray<{ readonly kid: string }> }
    return keys[0]?.kid
  })

/** Writes a pair of P-256. */
const writeKeys = Effect.fnUntraced(function*(folder: string) {
  const files = yield* FileSystem.FileSystem
  const other = yield* freshDirectory
  yield* Effect.provide(
    Effect.asVoid(Keys.Keys),
    Keys.layerWith({ cfgDir: other, dataDir: other, development: true, algorithm: "ES256" })
  )
  yield* files.makeDirectory(path.dirname(folder), { recursive: true })
  yield* files.rename(`${other}/keys`, folder)
})
