/** The tools of a service over standard input and output, for the SDK, which starts the command. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Queue, Redacted, Schema, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { EmbeddedStore, KernelEngine, KernelServer, Model, Resource, Role } from "../../../src/index.ts"
import { runCommand } from "../../support/command.ts"
import { freshDirectory } from "../../support/folders.ts"
import { connectingByProgram } from "../../support/mcpClient.ts"
import { registrations } from "../../support/mcpFixtures.ts"
import { freePort } from "../../support/processes.ts"
import { builtFrom } from "../../support/programs.ts"

const root = join(import.meta.dirname, "../../..")

const connectingTo = (what: string, env: { readonly [name: string]: string }) =>
  connectingByProgram(join(root, "src/Cli/Main.ts"), ["mcp", what], env)

describe("appkernel mcp", () => {
  it.live("serves the engine of a module with the store of the project", () =>
    Effect.gen(function*() {
      const env = { APPKERNEL_EMBEDDED_PATH: yield* freshDirectory, APPKERNEL_MIGRATIONS_ON_START: "run" }
      const client = yield* connectingTo(
        yield* Effect.promise(() => builtFrom(join(root, "test/support/cli/engine.ts"))),
        env
      )
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.include(tools.map(({ name }) => name), "persons_create")
      const call = (name: string, args: object) => Effect.promise(() => client.callTool({ name, arguments: args }))
      // Many at once.
      yield* Effect.forEach(
        Array.from({ length: 50 }, (_, age) => ({ body: { id: `P${age}`, name: "Ann ü", age } })),
        (person) => call("persons_create", person),
        { concurrency: "unbounded" }
      )
      const { structuredContent } = yield* call("persons_list", { age: ">47", sort_by: "age" })
      assert.deepStrictEqual(Object(structuredContent)._items.map(({ id }: { readonly id: string }) => id), [
        "P48",
        "P49"
      ])
    }))

  it.live("asks a service that runs, with the token of the environment", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}
      const Notes = Resource.make(Note, { methods: ["GET"] }).grant(Role("reader"), { methods: ["GET"] })
      const { baseUrl, token } = yield* KernelEngine.make("notes").register(Notes, { urlBase: "/" }).enableSecurity()
        .enableMcp({ expose: ["notes"] }).test()
      const toolsWith = Effect.fnUntraced(function*(env: { readonly [name: string]: string }) {
        const client = yield* connectingTo(`${baseUrl}/mcp`, env)
        return (yield* Effect.promise(() => client.listTools())).tools.map(({ name }) => name)
      })
      const secret = Redacted.value(yield* token({ subject: "a", roles: ["reader"] }))
      assert.deepStrictEqual(yield* toolsWith({ APPKERNEL_MCP_TOKEN: secret }), ["notes_list", "notes_get"])
      assert.match(String(yield* Effect.exit(toolsWith({}))), /This needs credentials \(401\)/u)
    }))

  it.live("begins a session again, and asks on, after the service has been restarted", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}
      const port = yield* freePort
      const engine = KernelEngine.make("notes").register(Note, { urlBase: "/" })
        .enableMcp({ expose: ["notes"], registrations })
      const serving = engine.layerServe.pipe(
        Layer.provide([KernelServer.layerWith({ address: "127.0.0.1", port }), Layer.fresh(EmbeddedStore.layerMemory)])
      )
      const first = yield* Scope.make()
      yield* Scope.provide(Layer.build(serving), first)
      const client = yield* connectingTo(`http://127.0.0.1:${port}/mcp`, {})
      const count = Effect.promise(() => client.callTool({ name: "notes_list" })).pipe(
        Effect.map(({ structuredContent }) => Object(structuredContent)._items.length)
      )
      assert.strictEqual(yield* count, 0)
      const changed = yield* Queue.unbounded<string>()
      client.fallbackNotificationHandler = async ({ params }) => void Queue.offerUnsafe(changed, params.uri)
      const uri = "test://watched-resource"
      yield* Effect.promise(() => client.subscribeResource({ uri }))
      assert.strictEqual(yield* Queue.take(changed), uri)
      yield* Scope.close(first, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(count)))
      yield* Layer.build(Layer.fresh(serving))
      // Several at once.
      assert.deepStrictEqual(yield* Effect.all([count, count, count], { concurrency: "unbounded" }), [0, 0, 0])
      // By a new session, which is told as the one before, and once.
      assert.strictEqual(yield* Queue.take(changed), uri)
      yield* Effect.sleep("2500 millis")
      assert.strictEqual(yield* Queue.size(changed), 0)
    }))

  it.live("lets a tool ask the user, and tells progress and changes as they come", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, { logged: true }) {}
      const engine = KernelEngine.make("notes").register(Note, { urlBase: "/" })
        .enableMcp({ expose: ["notes"], registrations })
      const { baseUrl, repositories } = yield* engine.test()
      yield* repositories.notes.insert(new Note({ id: "N1", text: "" }))
      const client = yield* connectingTo(`${baseUrl}/mcp`, {})
      const asked = yield* Effect.promise(() => client.callTool({ name: "test_elicitation", arguments: {} }))
      assert.include(asked.content[0]?.text, "ann")
      const progress: Array<number> = []
      const onprogress = ({ progress: at }: { readonly progress: number }) => void progress.push(at)
      yield* Effect.promise(() => client.callTool({ name: "test_tool_with_progress" }, undefined, { onprogress }))
      // Before the result: the SDK drops what it finds beside that.
      assert.strictEqual(progress[0], 0)
      const changed = yield* Queue.unbounded<string>()
      client.fallbackNotificationHandler = async ({ params }) => void Queue.offerUnsafe(changed, params.uri)
      const uri = "appkernel://notes/N1"
      yield* Effect.promise(() => client.subscribeResource({ uri }))
      assert.strictEqual(yield* Queue.take(changed), uri)
      yield* repositories.notes.updateOne(($) => $.id.equals("N1"), ($) => [$.text.set("new")])
      assert.strictEqual(yield* Queue.take(changed), uri)
    }))

  it.live("sends what follows the beginning of a session in it, and writes each answer as a line", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const server = createServer((request, response) => {
        void text(request).then((body) => {
          const { id, method } = body === "" ? {} : JSON.parse(body)
          asked.push(`${request.method} ${method} ${String(request.headers["mcp-session-id"])}`)
          response.setHeader("content-type", "application/json")
          if (id === 1) response.setHeader("mcp-session-id", "S1")
          return id === undefined
            ? response.writeHead(202).end()
            : response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { method } }, null, 2))
        })
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => server.close())
      )
      const { port } = Object(server.address())
      const file = yield* Effect.promise(() => builtFrom(join(root, "src/Cli/Main.ts")))
      const lines = [[1, "initialize"], [undefined, "notifications/initialized"], [2, "tools/list"], [
        3,
        "ping"
      ]] as const
      const output = yield* Effect.promise(() => {
        const url = `http://127.0.0.1:${port}/mcp`
        const { stdin, stdout } = spawn(process.execPath, ["--conditions=source", file, "mcp", url])
        stdin.end(lines.map(([id, method]) => `${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`).join(""))
        return text(stdout)
      })
      const answers = output.trim().split("\n").map((line): unknown => JSON.parse(line).result.method)
      assert.sameMembers(answers, ["initialize", "ping", "tools/list"])
      assert.deepStrictEqual(asked.slice(0, 2), ["POST initialize undefined", "POST notifications/initialized S1"])
      assert.includeMembers(asked.slice(2), ["POST tools/list S1", "POST ping S1", "DELETE undefined S1"])
    }))

  it.effect("says what a module lacks", () =>
    Effect.gen(function*() {
      const { code, output } = yield* runCommand({}, "mcp", join(root, "examples/bookings.ts"))
      assert.strictEqual(code, 1)
      assert.match(output, /exports no engine/u)
    }))
})
