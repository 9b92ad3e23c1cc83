/** The MCP server, by clients of the protocol's authors and by its answers. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Redacted, Schema } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { Authenticated, KernelEngine, Model, Resource, Role, Service } from "../../../src/index.ts"
import { Photo } from "../../support/filesModel.ts"
import { connecting, posting, sessionOf } from "../../support/mcpClient.ts"

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String.check(Schema.isMaxLength(400_000)),
  price: Schema.Finite,
  cost: Schema.Finite.pipe(Model.withDefault(() => 1)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const Products = Resource.make(Product, { methods })
  .action("shout", { success: Schema.String, require: Authenticated }, ({ name }) => Effect.succeed(name.toUpperCase()))
  .grant(Role("editor"), { methods })
  .grant(Role("reader"), { methods: ["GET"], hide: ["cost"] })

class Secret extends Model.Class<Secret>()("Secret", { id: Model.id(), text: Schema.String }) {}

const Secrets = Resource.make(Secret, { methods: ["GET"] }).grant(Role("editor"), { methods: ["GET"] })

/** Addresses of one document, and of the schema of its registration, as the protocol reads them. */
const spellings = [
  "appkernel://secrets/S1",
  "appkernel:/secrets/S1",
  "appkernel:///secrets/S1",
  "/appkernel://secrets/S1",
  "appkernel://secret%73/S1",
  "appkernel://secrets//S1",
  "appkernel://secrets/S1/",
  "appkernel://schemas/secrets"
]

const Payments = Service.make("Payments")
  .operation("pay", {
    method: "POST",
    path: "./pay",
    payload: Schema.Struct({ amount: Schema.Int }),
    success: Schema.Struct({ paid: Schema.Int }),
    require: Authenticated
  }, ({ payload: { amount } }) => Effect.succeed({ paid: amount }))
  .operation(
    "methods",
    { path: "./methods", success: Schema.Array(Schema.String), require: Authenticated },
    () => Effect.succeed(["card"])
  )

const registered = KernelEngine.make("shop").register(Products, { urlBase: "/" }).register(Payments, { urlBase: "/" })

const secured = registered.enableSecurity().enableMcp({
  expose: ["products", "payments.pay", "payments.methods"],
  instructions: "Prices are in Swiss francs"
})

const serving = Effect.gen(function*() {
  const { baseUrl, repositories, store, token } = yield* secured.test()
  const url = `${baseUrl}/mcp`
  const clientOf = (...roles: ReadonlyArray<string>) =>
    Effect.flatMap(token({ subject: roles.join("-"), roles }), (token) => connecting(url, token))
  const authorized = (subject: string, ...roles: ReadonlyArray<string>) =>
    Effect.map(token({ subject, roles }), (token) => ({ authorization: `Bearer ${Redacted.value(token)}` }))
  return { authorized, baseUrl, clientOf, repositories, store, token, url }
})

describe("An MCP server", () => {
  it.effect("has tools for what is exposed, which the SDK calls and whose results it validates", () =>
    Effect.gen(function*() {
      const { clientOf } = yield* serving
      const editor = yield* clientOf("editor")
      const { tools } = yield* Effect.promise(() => editor.listTools())
      assert.deepStrictEqual(
        tools.map(({ annotations: { destructiveHint, idempotentHint, readOnlyHint }, name }) => [
          name,
          readOnlyHint ? "reads" : destructiveHint ? "changes" : "adds",
          idempotentHint
        ]),
        [
          ["products_list", "reads", true],
          ["products_create", "changes", false],
          ["products_get", "reads", true],
          ["products_replace", "changes", true],
          ["products_patch", "changes", false],
          ["products_delete", "changes", true],
          ["products_shout", "reads", true],
          ["payments_pay", "changes", false],
          ["payments_methods", "reads", true]
        ]
      )
      const call = (name: string, args?: object) =>
        Effect.promise(() => editor.callTool({ name, ...args === undefined ? {} : { arguments: args } }))
      const ball = { id: "P1", name: "Ball", price: 3 }
      assert.deepStrictEqual((yield* call("products_create", { body: ball })).structuredContent, {
        _type: "OperationResult",
        result: "P1"
      })
      const list = yield* call("products_list", { price: ">2", fields: "id,cost", page_size: 1 })
      assert.deepInclude(Object(list.structuredContent)._items[0], { id: "P1", cost: 1 })
      assert.deepInclude((yield* call("products_get", { id: "P1" })).structuredContent, { ...ball, cost: 1, tags: [] })
      assert.deepInclude((yield* call("products_shout", { id: "P1" })).structuredContent, { result: "BALL" })
      assert.isUndefined((yield* call("products_patch", { id: "P1", body: { price: 4 } })).isError)
      assert.isUndefined((yield* call("products_replace", { id: "P1", body: { ...ball, tags: ["a"] } })).isError)
      assert.deepStrictEqual((yield* call("payments_pay", { body: { amount: 3 } })).structuredContent, { paid: 3 })
      assert.deepInclude((yield* call("payments_methods")).structuredContent, { _items: ["card"] })
      const resources = yield* Effect.promise(() => editor.listResources())
      assert.deepStrictEqual(resources.resources.map(({ uri }) => uri), ["appkernel://schemas/products"])
      const templates = yield* Effect.promise(() => editor.listResourceTemplates())
      assert.deepStrictEqual(templates.resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
        "appkernel://products/{id}"
      ])
      const { contents: [document] } = yield* Effect.promise(() =>
        editor.readResource({ uri: "appkernel://products/P1" })
      )
      assert.deepInclude(JSON.parse(document?.text ?? ""), { ...ball, tags: ["a"] })
      assert.isUndefined((yield* call("products_delete", { id: "P1" })).isError)
    }))

  it.effect("says what is wrong in sentences, and takes no argument for something else", () =>
    Effect.gen(function*() {
      const { authorized, repositories, url } = yield* serving
      const { call } = yield* sessionOf(url, yield* authorized("editor", "editor"))
      const said = Effect.fnUntraced(function*(name: string, args: object) {
        const { error, isError, text } = yield* call(name, args)
        return error?.message ?? (isError ? text : `Done: ${text}`)
      })
      assert.strictEqual(
        yield* said("products_create", { body: { name: 3 } }),
        "The request is not valid: Name must be a text; Price must be given\n" +
          "name: Name must be a text\nprice: Price must be given"
      )
      assert.strictEqual(yield* said("products_get", { id: "P9" }), "Product P9 does not exist")
      assert.strictEqual(yield* said("products_get", {}), "products_get needs the argument id")
      assert.strictEqual(
        yield* said("products_get", { id: "", q: 1 }),
        [
          "products_get has no argument q",
          "products_get needs the argument id"
        ].join("\n")
      )
      for (const id of [null, [], {}, [""]]) {
        assert.strictEqual(yield* said("products_get", { id }), "products_get needs the argument id")
      }
      const deep = Array.from({ length: 1_000 }).reduce<unknown>((inner) => [inner], 1)
      assert.strictEqual(
        yield* said("products_create", { body: { tags: deep } }),
        "The arguments of products_create are nested too deeply"
      )
      for (const name of [Array.from({ length: 1_001 }, () => "x"), "x".repeat(20_000)]) {
        assert.strictEqual(
          yield* said("products_list", { name }),
          "products_list has more or longer arguments than a request may have"
        )
      }
      // Other paths of the service, and what would be another path.
      for (
        const id of [
          "meta",
          "schema",
          "aggregate",
          "..",
          "../payments/methods",
          "P1?fields=id",
          "P1#",
          "P1/shout",
          "%2e%2e",
          "\ud800"
        ]
      ) {
        assert.match(yield* said("products_get", { id }), /^Product .* does not exist$/u)
      }
      yield* repositories.products.insert(
        new Product({ id: Product.fields.id.make("a/b?c=ü"), name: "x", price: 1, cost: 1, tags: [] })
      )
      assert.match(yield* said("products_get", { id: "a/b?c=ü" }), /^Done: .*"name":"x"/u)
      assert.match(yield* said("products_meta", {}), /not found/u)
      assert.match(yield* said("products_aggregate", { pipe: [] }), /not found/u)
      const large = new Product({
        id: Product.fields.id.make("P2"),
        name: "x".repeat(300_000),
        price: 1,
        cost: 1,
        tags: []
      })
      yield* repositories.products.insert(large)
      assert.strictEqual(
        yield* said("products_list", {}),
        "The result has more than 262144 bytes: ask for fewer documents by page_size, or for fewer fields by fields"
      )
      assert.match(yield* said("products_list", { fields: "id" }), /^Done: .*"P2"/u)
      assert.match(yield* said("products_patch", { id: "P2", if_match: "\r\nx: y", body: {} }), /can't have/u)
    }))

  it.effect("lets callers do and see what they may by REST, and shows them nothing else", () =>
    Effect.gen(function*() {
      const { baseUrl, clientOf, repositories, url } = yield* serving
      yield* repositories.products.insert(
        new Product({ id: Product.fields.id.make("P1"), name: "Ball", price: 3, cost: 1, tags: [] })
      )
      const reader = yield* clientOf("reader")
      const { tools } = yield* Effect.promise(() => reader.listTools())
      assert.deepStrictEqual(tools.map(({ name }) => name), [
        "products_list",
        "products_get",
        "products_shout",
        "payments_pay",
        "payments_methods"
      ])
      const got = yield* Effect.promise(() => reader.callTool({ name: "products_get", arguments: { id: "P1" } }))
      assert.notProperty(got.structuredContent, "cost")
      const refused = yield* Effect.promise(() => reader.callTool({ name: "products_delete", arguments: { id: "P1" } }))
      assert.deepStrictEqual([refused.isError, refused.content[0]?.text], [true, "You are not allowed to do this"])
      assert.strictEqual(yield* repositories.products.count(), 1)
      const nobody = yield* posting(url, { method: "tools/list" })
      assert.strictEqual(nobody.status, 401)
      assert.strictEqual(
        nobody.headers.get("www-authenticate"),
        `Bearer realm="shop", resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`
      )
      assert.strictEqual((yield* posting(url, {}, { authorization: "Bearer x" })).status, 401)
      const { resource } = yield* Effect.promise(() =>
        fetch(`${baseUrl}/.well-known/oauth-protected-resource/mcp`).then((response) => response.json())
      )
      assert.strictEqual(resource, url)
    }))

  it.effect("answers pages of no other origin than those of this machine", () =>
    Effect.gen(function*() {
      const { authorized, url } = yield* serving
      const own = yield* authorized("editor", "editor")
      const statusFrom = (origin: string) =>
        Effect.map(posting(url, { method: "ping" }, { ...own, origin }), ({ status }) => status)
      assert.strictEqual(yield* statusFrom("https://example.com"), 403)
      assert.strictEqual(yield* statusFrom("http://localhost.example.com"), 403)
      assert.notStrictEqual(yield* statusFrom("http://localhost:3000"), 403)
    }))

  it.effect("has sessions that are their caller's alone and end with the token", () =>
    Effect.gen(function*() {
      const { authorized, url } = yield* serving
      const [own, others] = [yield* authorized("a", "editor"), yield* authorized("b", "editor")]
      const { begun, send } = yield* sessionOf(url, own)
      assert.strictEqual(begun.status, 200)
      assert.strictEqual((yield* send("tools/list", {})).status, 200)
      assert.strictEqual((yield* send("tools/list", {}, others)).status, 404)
      // A token lasts for 15 minutes.
      yield* TestClock.adjust("16 minutes")
      assert.strictEqual((yield* send("tools/list", {})).status, 401)
      const renewed = yield* authorized("a", "editor")
      assert.strictEqual((yield* send("tools/list", {}, renewed)).status, 404)
      const { id } = yield* sessionOf(url, renewed)
      const ending = (headers: { readonly [name: string]: string }) =>
        Effect.promise(() =>
          fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": id } }).then(({ status }) => status)
        )
      assert.strictEqual(yield* ending(yield* authorized("b", "editor")), 404)
      assert.strictEqual(yield* ending(renewed), 204)
      assert.strictEqual(yield* ending(renewed), 404)
    }))

  it.effect("has tools by the scopes of a token, beside its grants", () =>
    Effect.gen(function*() {
      const engine = registered.enableSecurity().enableMcp({
        expose: { read: ["products.list", "products.get"], write: ["products"] },
        authorizationServers: ["https://login.example.com"],
        url: "https://shop.example.com/mcp"
      })
      const { baseUrl, token } = yield* engine.test()
      const toolsOf = Effect.fnUntraced(function*(claims: { readonly [name: string]: string | ReadonlyArray<string> }) {
        const client = yield* connecting(`${baseUrl}/mcp`, yield* token({ subject: "a", roles: ["editor"], claims }))
        return (yield* Effect.promise(() => client.listTools())).tools.map(({ name }) => name)
      })
      assert.deepStrictEqual(yield* toolsOf({}), [])
      assert.deepStrictEqual(yield* toolsOf({ scope: "other read" }), ["products_list", "products_get"])
      assert.strictEqual((yield* toolsOf({ scp: ["write"] })).length, 7)
      const metadata = yield* Effect.promise(() =>
        fetch(`${baseUrl}/.well-known/oauth-protected-resource`).then((response) => response.json())
      )
      assert.deepStrictEqual(metadata, {
        resource: "https://shop.example.com/mcp",
        resource_name: "shop",
        authorization_servers: ["https://login.example.com"],
        scopes_supported: ["read", "write"],
        bearer_methods_supported: ["header"]
      })
      const { headers } = yield* posting(`${baseUrl}/mcp`, {})
      assert.include(
        headers.get("www-authenticate"),
        "resource_metadata=\"https://shop.example.com/.well-known/oauth-protected-resource/mcp\", scope=\"read write\""
      )
    }))

  it.effect("has documents by the scopes of a token, however their addresses are spelt", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories, token } = yield* registered.register(Secrets, { urlBase: "/" }).enableSecurity()
        .enableMcp({ expose: { read: ["products.get"], secrets: ["secrets.get"] } }).test()
      yield* repositories.secrets.insert(new Secret({ id: "S1", text: "hidden" }))
      const contentsFor = Effect.fnUntraced(function*(scope: string) {
        const made = yield* token({ subject: "a", roles: ["editor"], claims: { scope } })
        const { send } = yield* sessionOf(`${baseUrl}/mcp`, { authorization: `Bearer ${Redacted.value(made)}` })
        const read = Effect.forEach(spellings, (uri) => Effect.map(send("resources/read", { uri }), ({ text }) => text))
        const { text: templates } = yield* send("resources/templates/list", {})
        const { text: resources } = yield* send("resources/list", {})
        return { read: yield* read, listed: templates + resources }
      })
      const allowed = yield* contentsFor("secrets")
      for (const text of allowed.read) assert.match(text, /hidden|\\"text\\"/u)
      assert.include(allowed.listed, "secrets")
      const refused = yield* contentsFor("read")
      for (const text of refused.read) assert.match(text, /"error":.*not found/u)
      assert.include(refused.listed, "products")
      assert.notInclude(refused.listed, "secrets")
    }))

  it.effect("writes the audit log with the names of the tools", () =>
    Effect.gen(function*() {
      const { authorized, store, url } = yield* serving
      const { call } = yield* sessionOf(url, yield* authorized("a", "editor"))
      yield* call("products_create", { body: { id: "P1", name: "Ball", price: 3 } })
      const reader = yield* sessionOf(url, yield* authorized("b", "reader"))
      yield* reader.call("products_delete", { id: "P1" })
      const entries = yield* store.find("AuditEntry", {})
      assert.deepStrictEqual(
        entries.map(({ ids, outcome, registration, subject, tool }) => [outcome, registration, subject, tool, ids]),
        [["allowed", "products", "a", "products_create", ["P1"]], [
          "denied",
          "products",
          "b",
          "products_delete",
          undefined
        ]]
      )
    }).pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
    ))

  it.effect("keeps apart what a field, a header and the body are named, and what calls answer", () =>
    Effect.gen(function*() {
      class Post extends Model.Class<Post>()("Post", {
        id: Model.id(),
        body: Schema.String,
        if_match: Schema.String
      }) {}
      class Odd extends Model.Class<Odd>()("Odd", { id: Model.id(), toString: Schema.String }) {}
      let calls = 0
      const Others = Service.make("Others")
        .operation(
          "changes",
          { method: "POST", path: "./changes", success: Schema.String },
          () =>
            HttpEffect.appendPreResponseHandler((_, response) =>
              Effect.succeed(HttpServerResponse.setStatus(response, 202))
            ).pipe(Effect.as("x".repeat(1_000)), Effect.tap(() => Effect.sync(() => calls++)))
        )
      const { baseUrl, repositories } = yield* KernelEngine.make("posts")
        .register(Post, { methods: ["GET", "PATCH"], urlBase: "/", many: ["PATCH"] })
        .register(Odd, { methods: ["GET", "PATCH"], urlBase: "/", many: ["PATCH"] })
        .register(Others, { urlBase: "/" })
        .enableMcp({ expose: ["posts", "odds", "others.changes"], maxResultSize: 500 })
        .test()
      yield* repositories.posts.bulkInsert(
        ["a", "b"].map((id) => new Post({ id, body: id, if_match: "x" }))
      )
      const client = yield* connecting(`${baseUrl}/mcp`)
      const { tools } = yield* Effect.promise(() => client.listTools())
      const patch = tools.find(({ name }) => name === "posts_patch_many")
      assert.containsAllKeys(patch?.inputSchema.properties, ["body", "body_", "if_match"])
      const session = yield* sessionOf(`${baseUrl}/mcp`)
      const patched = yield* session.call("posts_patch_many", { body: "a", body_: { body: "c" } })
      assert.isFalse(patched.isError, patched.text)
      assert.deepStrictEqual((yield* repositories.posts.find()).map(({ body }) => body).toSorted(), ["b", "c"])
      // It was done once, and its answer is that of the call alone.
      const done = yield* session.call("others_changes", {})
      assert.deepStrictEqual([done.isError, done.text, calls], [
        true,
        "It was done. Its result has more than 500 bytes",
        1
      ])
    }))

  it.effect("bounds the calls of each tool as the requests to its route, and no others", () =>
    Effect.gen(function*() {
      const [begun, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const Others = Service.make("Others")
        .operation("slow", { method: "POST", path: "./slow" }, () =>
          Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(done)))
        .operation("quick", { method: "POST", path: "./quick" }, () =>
          Effect.void)
      const { baseUrl } = yield* KernelEngine.make("others").register(Others, { urlBase: "/" })
        .enableMcp({ expose: ["others"] }).test()
      const { call } = yield* sessionOf(`${baseUrl}/mcp`)
      const slow = yield* Effect.forkChild(call("others_slow", {}))
      yield* Deferred.await(begun)
      assert.isFalse((yield* call("others_quick", {})).isError)
      assert.isTrue((yield* call("others_slow", {})).isError)
      yield* Deferred.succeed(done, undefined)
      assert.isFalse((yield* Fiber.join(slow)).isError)
    }).pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({
        env: { APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "1" }
      })))
    ))

  it.effect("serves a registration whose files come in resumable uploads", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("pictures").register(Photo, { methods, files: { resumable: true } })
      const { baseUrl } = yield* engine.enableMcp({ expose: ["photos"] }).test()
      const { call } = yield* sessionOf(`${baseUrl}/mcp`)
      assert.isFalse((yield* call("photos_create", { body: { id: "a", title: "A" } })).isError)
      assert.isFalse((yield* call("photos_get", { id: "a" })).isError)
    }))

  it.effect("is no part of a service that exposes what is not there", () =>
    Effect.gen(function*() {
      const messageOf = (engine: { readonly test: typeof secured.test }) =>
        Effect.map(Effect.flip(engine.test()), ({ message }) => message)
      assert.include(
        // @ts-expect-error nothing has this name
        yield* messageOf(registered.enableSecurity().enableMcp({ expose: ["orders"] })),
        "enableMcp exposes orders, which is neither a registration nor an operation with JSON"
      )
      // @ts-expect-error an endpoint has another name
      registered.enableMcp({ expose: ["products.remove"] })
      assert.include(
        yield* messageOf(secured.enableMcp({ expose: ["products"], path: "/products" })),
        "Two registrations can't be told apart"
      )
      const behind = secured.enableMcp({ expose: ["products"], url: "https://example.com/shop/mcp" })
      const { baseUrl } = yield* behind.test()
      const { headers } = yield* posting(`${baseUrl}/mcp`, {})
      const metadata = "/.well-known/oauth-protected-resource/shop/mcp"
      assert.include(headers.get("www-authenticate"), `resource_metadata="https://example.com${metadata}"`)
      const found = yield* Effect.promise(() => fetch(`${baseUrl}${metadata}`).then((response) => response.json()))
      assert.strictEqual(found.resource, "https://example.com/shop/mcp")
      const wrong = [{ path: "/" }, { path: "/:tenant/mcp" }, { url: "example.com/mcp" }] as const
      for (const options of wrong) {
        assert.match(yield* messageOf(secured.enableMcp({ expose: ["products"], ...options })), /enableMcp/u)
      }
    }))
})
