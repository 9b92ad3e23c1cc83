/** What a program adds to its MCP server, and the resources that clients follow. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Queue, Redacted, Schema, Stream } from "effect"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { CurrentUser, KernelEngine, Model, Repository, Resource, Role } from "../../../src/index.ts"
import { posting, sessionOf } from "../../support/mcpClient.ts"
import { sendTo } from "../../support/rest.ts"

class Product extends Model.Class<Product>()("Product", {
  id: Model.id(),
  name: Schema.String,
  stock: Schema.Int,
  seller: Schema.String
}, { logged: true }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const methods = ["GET", "PATCH", "DELETE"] as const

const Products = Resource.make(Product, { methods })
  .grant(Role("seller"), { methods, rows: (me) => ($) => $.seller.equals(me.subject) })
  .grant(Role("stranger"), { methods: ["PATCH"] })

const Notes = Resource.make(Note, { methods: ["GET"] }).grant(Role("seller"), { methods: ["GET"] })

const reorder = Tool.make("reorder", {
  description: "Orders more of a product",
  parameters: Schema.Struct({ product: Schema.String }),
  success: Schema.Struct({ changed: Schema.Int, by: Schema.String }),
  dependencies: [CurrentUser]
})

const tools = Toolkit.make(reorder)

const Reorder = McpServer.toolkit(tools).pipe(
  Layer.provide(tools.toLayer(Effect.gen(function*() {
    const products = yield* Repository.for(Product)
    return {
      reorder: Effect.fnUntraced(function*({ product }) {
        const { modifiedCount } = yield* Effect.orDie(
          products.updateOne(($) => $.id.equals(product), ($) => [$.stock.set(10)])
        )
        return { changed: modifiedCount, by: (yield* CurrentUser).subject }
      })
    }
  })))
)

const Weather = Layer.effectDiscard(
  Effect.forEach(
    ["today", "new", ...Array.from({ length: 99 }, (_, n) => String(n))],
    (day) => McpServer.registerResource({ uri: `weather://${day}`, name: day, content: Effect.succeed("Sun") })
  )
)

/** Says that the weather has changed whenever it is asked how it is. */
const Asked = Layer.effectDiscard(Effect.gen(function*() {
  const { addTool, notifications } = yield* McpServer.McpServer
  yield* addTool({
    tool: new McpSchema.Tool({ name: "look", inputSchema: { type: "object" } }),
    annotations: Context.empty(),
    handle: () =>
      Effect.as(
        notifications["notifications/resources/updated"]({ uri: "weather://today" }),
        new McpSchema.CallToolResult({ content: [] })
      )
  })
}))

const engine = KernelEngine.make("shop")
  .register(Products, { urlBase: "/" })
  .register(Notes, { urlBase: "/" })
  .enableSecurity()
  .enableMcp({ expose: ["products", "notes"], registrations: Layer.mergeAll(Reorder, Weather, Asked) })

const kinds: ReadonlyArray<readonly [name: string, id: Schema.Top, one: string | number]> = [
  ["numbers", Schema.Int, 7],
  ["bigints", Schema.BigInt, "9007199254740993"],
  ["texts", Schema.String, "[~a \"b\\c\", !1]\n"],
  ["digits", Schema.String, "007"],
  ["object_ids", Model.ObjectId, "64b0000000000000000000aa"],
  ["moments", Schema.DateTimeUtc, "2026-01-02T00:00:00.000Z"]
]

const options = { methods: ["GET", "POST"], urlBase: "/" } as const

const [first, ...others] = kinds.map(([name, id]) => ({
  name,
  model: class extends Model.Class<{ readonly id: unknown; readonly n: number }>()(name, { id, n: Schema.Int }, {
    logged: true
  }) {}
}))

const ofAnyKind = others.reduce(
  (engine, { model, name }) => engine.register(model, { ...options, name, segment: name }),
  KernelEngine.make("kinds").register(first!.model, { ...options, name: first!.name, segment: first!.name })
).enableMcp({ expose: kinds.map(([name]) => name) })

/** The URIs that a session's stream says have changed. */
const listening = Effect.fnUntraced(function*(url: string, headers: { readonly [name: string]: string }) {
  const told = yield* Queue.unbounded<string>()
  const response = yield* Effect.promise((signal) =>
    fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal })
  )
  yield* Stream.fromReadableStream({ evaluate: () => response.body!, onError: String }).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line.startsWith("data: ")),
    Stream.runForEach((line) => Queue.offer(told, String(JSON.parse(line.slice(6)).params.uri))),
    Effect.ensuring(Queue.offer(told, "end")),
    Effect.forkScoped
  )
  return { status: response.status, next: Queue.take(told), size: Queue.size(told) }
})

const serving = Effect.gen(function*() {
  const { baseUrl, repositories, token } = yield* engine.test()
  const url = `${baseUrl}/mcp`
  yield* Effect.forEach(
    ["a", "b"],
    (seller) => repositories.products.insert(new Product({ id: `P-${seller}`, name: "Ball", stock: 3, seller }))
  )
  yield* repositories.notes.insert(new Note({ id: "N1", text: "" }))
  const session = Effect.fnUntraced(function*(subject: string, ...roles: ReadonlyArray<string>) {
    const headers = { authorization: `Bearer ${Redacted.value(yield* token({ subject, roles }))}` }
    const begun = yield* sessionOf(url, headers)
    const ask = (method: string, uri: string) =>
      Effect.map(
        begun.send(method, { uri }),
        ({ status, text }) => status === 200 ? JSON.parse(text).error?.message ?? "done" : String(status)
      )
    const listen = listening(url, { ...headers, "mcp-session-id": begun.id })
    return { ...begun, ask, headers, listen }
  })
  const { updateOne } = repositories.products
  const change = (id: string, changes: Parameters<typeof updateOne>[1]) => updateOne(($) => $.id.equals(id), changes)
  return { change, session, url }
})

describe("An MCP server", () => {
  it.live("has the tools of a program, which know who calls and have its repositories", () =>
    Effect.gen(function*() {
      const { session } = yield* serving
      const { call, send } = yield* session("a", "seller")
      const listed = (yield* send("tools/list", {})).text
      assert.include(listed, "\"reorder\"")
      assert.include(listed, "\"products_get\"")
      assert.deepInclude(yield* call("reorder", { product: "P-a" }), { structuredContent: { changed: 1, by: "a" } })
      const wrong = yield* call("reorder", { product: 3 })
      assert.include(wrong.error?.message ?? wrong.text, "product", JSON.stringify(wrong))
      assert.include((yield* send("resources/read", { uri: "weather://today" })).text, "Sun")
    }))

  it.live("tells a session of the changes of what it has subscribed to, and may see", () =>
    Effect.gen(function*() {
      const { change, session } = yield* serving
      const { ask, listen } = yield* session("a", "seller")
      const uri = "appkernel://products/P-a"
      // Before the stream is open, and after.
      assert.strictEqual(yield* ask("resources/subscribe", uri), "done")
      const { next } = yield* listen
      assert.strictEqual(yield* next, uri)
      yield* change("P-b", ($) => [$.stock.set(4)])
      yield* change("P-a", ($) => [$.stock.set(4)])
      assert.strictEqual(yield* next, uri)
      assert.strictEqual(yield* ask("resources/unsubscribe", uri), "done")
      yield* change("P-a", ($) => [$.stock.set(5)])
      assert.strictEqual(yield* ask("resources/subscribe", "weather://today"), "done")
      assert.strictEqual(yield* next, "weather://today")
      const { call } = yield* session("b", "seller")
      yield* call("look", {})
      assert.strictEqual(yield* next, "weather://today")
      assert.strictEqual(yield* ask("resources/subscribe", uri), "done")
      assert.strictEqual(yield* next, uri)
      // It is somebody else's now, which is the end of it for this caller.
      yield* change("P-a", ($) => [$.seller.set("b")])
      assert.strictEqual(yield* next, uri)
    }))

  it.live("tells of documents with identifiers of any kind", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* ofAnyKind.test()
      const { id: session, send } = yield* sessionOf(`${baseUrl}/mcp`)
      const { next } = yield* listening(`${baseUrl}/mcp`, { "mcp-session-id": session })
      for (const [name, , id] of kinds) {
        const save = (n: number) => sendTo(baseUrl, "POST", `/${name}`, { id, n })
        yield* save(1)
        const uri = `appkernel://${name}/${encodeURIComponent(id)}`
        assert.deepInclude(JSON.parse((yield* send("resources/subscribe", { uri })).text), { result: {} }, name)
        assert.strictEqual(yield* next, uri)
        yield* save(2)
        assert.strictEqual(yield* next, uri)
      }
    }))

  it.live("refuses to tell of what a caller may not see, and of what is not recorded", () =>
    Effect.gen(function*() {
      const { session } = yield* serving
      const { ask } = yield* session("a", "seller")
      const refused = (uri: string) => ask("resources/subscribe", uri)
      assert.strictEqual(yield* refused("appkernel://products/P-b"), "Product P-b does not exist")
      assert.strictEqual(yield* refused("appkernel://products/%"), "appkernel://products/% can't be followed")
      assert.strictEqual(yield* refused("appkernel://notes/N1"), "appkernel://notes/N1 can't be followed")
      assert.strictEqual(
        yield* refused("appkernel://schemas/products"),
        "appkernel://schemas/products can't be followed"
      )
      const stranger = yield* session("c", "stranger")
      assert.notStrictEqual(yield* stranger.ask("resources/subscribe", "appkernel://products/P-a"), "done")
      assert.strictEqual(yield* refused("weather://tomorrow"), "weather://tomorrow can't be followed")
      assert.include(yield* refused(`weather://${"x".repeat(100_000)}`), "can't be followed")
      assert.strictEqual(yield* refused("weather://today"), "done")
      yield* Effect.forEach(Array.from({ length: 99 }, (_, n) => `weather://${n}`), refused)
      assert.strictEqual(yield* refused("weather://new"), "A session has at most 100 subscriptions")
      // What is followed already may be asked for again.
      assert.strictEqual(yield* refused("weather://today"), "done")
    }))

  it.live("tells nothing of what the scopes of the stream's token don't have", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories, token } = yield* KernelEngine.make("shop").register(Products, { urlBase: "/" })
        .enableSecurity().enableMcp({ expose: { shop: ["products"] } }).test()
      const url = `${baseUrl}/mcp`
      yield* repositories.products.insert(new Product({ id: "P1", name: "Ball", stock: 3, seller: "a" }))
      const headersOf = Effect.fnUntraced(function*(scope: string) {
        const made = yield* token({ subject: "a", roles: ["seller"], claims: { scope } })
        return { authorization: `Bearer ${Redacted.value(made)}` }
      })
      const { id, send } = yield* sessionOf(url, yield* headersOf("shop"))
      yield* send("resources/subscribe", { uri: "appkernel://products/P1" })
      const others = yield* headersOf("other")
      const { next, size } = yield* listening(url, { ...others, "mcp-session-id": id })
      // The end of what it may not follow is all that it hears of.
      assert.strictEqual(yield* next, "appkernel://products/P1")
      yield* repositories.products.updateOne(($) => $.id.equals("P1"), ($) => [$.stock.set(4)])
      yield* Effect.sleep("300 millis")
      assert.strictEqual(yield* size, 0)
    }))

  it.effect("does not start with a tool of the name of one that is exposed", () =>
    Effect.gen(function*() {
      const twice = Layer.effectDiscard(Effect.flatMap(McpServer.McpServer, ({ addTool }) =>
        addTool({
          tool: new McpSchema.Tool({ name: "products_get", inputSchema: { type: "object" } }),
          annotations: Context.empty(),
          handle: () => Effect.succeed(new McpSchema.CallToolResult({ content: [] }))
        })))
      const failure = yield* Effect.flip(
        KernelEngine.make("shop").register(Products, { urlBase: "/" })
          .enableMcp({ expose: ["products"], registrations: twice }).test()
      )
      assert.include(failure.message, "enableMcp has two tools of the name products_get")
    }))

  it.live("has one stream in a session, which ends with it", () =>
    Effect.gen(function*() {
      const { session, url } = yield* serving
      const { headers, id, listen } = yield* session("a", "seller")
      const first = yield* listen
      assert.strictEqual(first.status, 200)
      const second = yield* listen
      assert.strictEqual(yield* first.next, "end")
      const statusOf = (headers: { readonly [name: string]: string }) =>
        Effect.promise(() =>
          fetch(url, { headers: { accept: "text/event-stream", ...headers } }).then(({ status }) => status)
        )
      assert.strictEqual(yield* statusOf(headers), 405)
      assert.strictEqual(yield* statusOf({}), 401)
      const { headers: others } = yield* session("b", "seller")
      assert.strictEqual(yield* statusOf({ ...others, "mcp-session-id": id }), 404)
      yield* Effect.promise(() => fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": id } }))
      assert.strictEqual(yield* second.next, "end")
      // A session says what it has.
      const { text } = yield* posting(url, {
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
      }, headers)
      assert.deepInclude(JSON.parse(text).result.capabilities.resources, { subscribe: true })
    }))
})
