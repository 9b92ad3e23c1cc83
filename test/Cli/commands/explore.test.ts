/** The explorer of a service that has none, on this machine. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { KernelEngine, Model, Resource, Role } from "../../../src/index.ts"
import { runCommand } from "../../support/command.ts"
import { freePort, printed, programOf } from "../../support/processes.ts"

const main = join(import.meta.dirname, "../../../src/Cli/Main.ts")

class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}

const Notes = Resource.make(Note, { methods: ["GET", "POST"] }).require(Role("reader"))

const registered = KernelEngine.make("notes").register(Notes, { urlBase: "/api" }).enableSecurity()

describe("appkernel explore", () => {
  it.live("serves the page, and forwards all else to the service", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* registered.enableOpenApi({ title: "Notes", version: "1.0.0" }).test()
      const port = yield* freePort
      yield* Effect.promise(() => builtExplorer())
      const program = yield* Effect.acquireRelease(
        Effect.sync(() =>
          programOf(spawn(process.execPath, ["--conditions=source", main, "explore", baseUrl, "--port", String(port)]))
        ),
        ({ ended, process }) => {
          process.kill("SIGKILL")
          return ended
        }
      )
      yield* printed(program, "Ctrl-C ends it")
      const ask = (path: string, options?: RequestInit) =>
        Effect.promise(async () => {
          const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
          return { status: response.status, headers: response.headers, text: await response.text() }
        })
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

  it.live("says what is wrong with an address", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* registered.test()
      const { code, output } = yield* runCommand({}, "explore", baseUrl)
      assert.strictEqual(code, 1)
      assert.include(output, "/openapi.json answers 404, and says nothing of a service")
    }))
})
