/** The MCP server, by programs of the protocol's authors: the SDK for Python, the inspector, and the tests of servers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { KernelEngine, Model, Resource, Role } from "../../../src/index.ts"
import { folderOf, ofNpm, pythonSdk } from "../../support/mcpClient.ts"
import { registrations } from "../../support/mcpFixtures.ts"

class Product extends Model.Class<Product>()("Product", {
  id: Model.id(),
  name: Schema.String,
  price: Schema.Finite
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const Products = Resource.make(Product, { methods })

const exposing = { expose: ["products"] } as const

const run = (program: string, args: ReadonlyArray<string>) =>
  Effect.promise(() => promisify(execFile)(program, args).then(({ stderr, stdout }) => stdout + stderr))

describe("An MCP server", () => {
  it.live("is one that the SDK for Python lists the tools of, and calls each", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("shop")
        .register(Products.grant(Role("editor"), { methods }), { urlBase: "/" })
        .enableSecurity()
        .enableMcp(exposing)
      const { baseUrl, token } = yield* engine.test()
      const secret = Redacted.value(yield* token({ subject: "a", roles: ["editor"] }))
      const python = join(yield* folderOf(pythonSdk), "bin", "python")
      const printed = yield* run(python, ["-c", callingEach, `${baseUrl}/mcp`, secret])
      assert.deepStrictEqual(printed.trim().split("\n"), [
        "2025-11-25",
        "products_list products_create products_get products_replace products_patch products_delete",
        "products_create P1",
        "products_get Ball",
        "products_patch P1",
        "products_list Cube",
        "products_delete 1",
        "products_get Product P1 does not exist"
      ])
    }))

  it.live("is one that the inspector lists the tools of, and calls", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("shop").register(Products, { urlBase: "/" }).enableMcp(exposing)
      const { baseUrl, repositories } = yield* engine.test()
      yield* repositories.products.insert(new Product({ id: "P1", name: "Ball", price: 3 }))
      const folder = yield* folderOf(ofNpm)
      const inspected = (...args: ReadonlyArray<string>) =>
        run(process.execPath, [
          join(folder, "node_modules", ".bin", "mcp-inspector"),
          "--cli",
          `${baseUrl}/mcp`,
          "--transport",
          "http",
          ...args
        ])
      assert.include(yield* inspected("--method", "tools/list"), "\"products_list\"")
      const called = yield* inspected("--method", "tools/call", "--tool-name", "products_get", "--tool-arg", "id=P1")
      assert.include(called, "\"Ball\"")
    }))

  it.live("passes the tests of servers, with the tools, resources and prompts that those ask for", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("shop")
        .register(Products, { urlBase: "/" })
        .enableMcp({ ...exposing, registrations })
      const { baseUrl } = yield* engine.test()
      const command = join(yield* folderOf(ofNpm), "node_modules", ".bin", "conformance")
      const printed = yield* run(process.execPath, [command, "server", "--url", `${baseUrl}/mcp`])
      assert.match(printed, /Total: \d+ passed, 0 failed/u)
    }))
})

const callingEach = `
import asyncio, sys
import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {"authorization": "Bearer " + sys.argv[2]}
    async with httpx2.AsyncClient(headers=headers) as http, streamable_http_client(sys.argv[1], http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            print((await session.initialize()).protocol_version)
            print(*[tool.name for tool in (await session.list_tools()).tools])
            async def call(name, arguments, shown):
                result = await session.call_tool(name, arguments)
                print(name, result.content[0].text if result.is_error else shown(result.structured_content))
            await call("products_create", {"body": {"id": "P1", "name": "Ball", "price": 3}}, lambda r: r["result"])
            await call("products_get", {"id": "P1"}, lambda r: r["name"])
            await call("products_patch", {"id": "P1", "body": {"name": "Cube"}}, lambda r: r["result"])
            await call("products_list", {"price": ">2"}, lambda r: r["_items"][0]["name"])
            await call("products_delete", {"id": "P1"}, lambda r: r.get("result"))
            await call("products_get", {"id": "P1"}, lambda r: r)

asyncio.run(main())
`
