/** The explorer of a service that has none, on this machine. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { get } from "node:http"
import { join } from "node:path"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { KernelEngine, Model, Resource, Role, Tokens } from "../../../src/index.ts"
import { runCommand } from "../../support/command.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"
import { signingIn } from "../../support/signingIn.ts"

const main = join(import.meta.dirname, "../../../src/Cli/Main.ts")

class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}

const Notes = Resource.make(Note, { methods: ["GET", "POST"] }).require(Role("reader"))

const registered = KernelEngine.make("notes").register(Notes, { urlBase: "/api" }).enableSecurity()

/** The program with an explorer of a service, which ends with the test. */
const exploring = Effect.fnUntraced(function*(baseUrl: string) {
  const port = yield* freePort
  yield* Effect.promise(() => builtExplorer())
  const program = yield* runProgram(main, {}, [], ["explore", baseUrl, "--port", String(port)])
  yield* printed(program, "Ctrl-C ends it")
  const ask = (path: string, options?: RequestInit) =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  return { ask, port }
})

describe("appkernel explore", () => {
  it.live("serves the page, and forwards all else to the service", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* registered.enableOpenApi({ title: "Notes", version: "1.0.0" }).test()
      const { ask } = yield* exploring(baseUrl)
      const page = yield* ask("/appkernel-explorer")
      assert.include(page.text, "&quot;document&quot;:&quot;/openapi.json&quot;")
      assert.include(page.headers.get("content-security-policy") ?? "", "connect-src 'self'")
      assert.strictEqual((yield* ask("/api/notes")).status, 401)
      const headers = {
        authorization: `Bearer ${Redacted.value(yield* token({ subject: "ann", roles: ["reader"] }))}`,
        "content-type": "application/json"
      }
      const created = yield* ask("/api/notes", { method: "POST", headers, body: JSON.stringify({ text: "hello" }) })
      assert.strictEqual(created.status, 201)
      const { result: id } = JSON.parse(created.text)
      assert.strictEqual(JSON.parse((yield* ask(`/api/notes/${id}`, { headers })).text).text, "hello")
    }))

  it.live("is for its own page alone, and signs in at the service that it is of", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* KernelEngine.make("notes").register(Notes, { urlBase: "/api" })
        .register(Tokens.service, { urlBase: "/api" }).enableSecurity()
        .enableOpenApi({ title: "Notes", version: "1.0.0", servers: [{ url: "https://notes.example/v1" }] })
        .test({ store: signingIn })
      const { ask, port } = yield* exploring(baseUrl)
      assert.include((yield* ask("/appkernel-explorer")).text, "&quot;tokens&quot;:&quot;/api/token&quot;")
      // `fetch` sends no other host, as a browser does not.
      const statusOf = (headers: Record<string, string>) =>
        Effect.promise(() =>
          new Promise<number | undefined>((resolve, reject) => {
            get({ host: "127.0.0.1", port, path: "/openapi.json", headers }, (response) => {
              response.resume()
              resolve(response.statusCode)
            }).on("error", reject)
          })
        )
      const statuses = yield* Effect.forEach([
        { host: `localhost:${port}` },
        { host: `127.0.0.1:${port}`, "sec-fetch-site": "same-origin" },
        { host: `evil.example:${port}` },
        { host: `127.0.0.1:${port + 1}` },
        { host: `127.0.0.1:${port}`, "sec-fetch-site": "cross-site" },
        { host: `127.0.0.1:${port}`, "sec-fetch-site": "same-site" }
      ], statusOf)
      assert.deepStrictEqual(statuses, [200, 200, 403, 403, 403, 403])
    }))

  it.live("shows a service that describes itself to nobody before they sign in", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* registered.enableOpenApi({ title: "Notes", version: "1.0.0", perCaller: true }).test()
      const { ask } = yield* exploring(baseUrl)
      assert.strictEqual((yield* ask("/openapi.json")).status, 401)
      assert.include((yield* ask("/appkernel-explorer")).text, "&quot;document&quot;:&quot;/openapi.json&quot;")
    }))

  it.live("says what is wrong with an address", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* registered.test()
      const { code, output } = yield* runCommand({}, "explore", baseUrl)
      assert.strictEqual(code, 1)
      assert.include(output, "/openapi.json answers 404, and says nothing of a service")
    }))
})
