import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { engine as shop } from "../../examples/shop/engine.ts"
import { Payment } from "../../examples/shop/models/Payment.ts"
import { EmbeddedStore, KernelEngine, OpenApi, Repository } from "../../src/index.ts"
import { type Installed, installed } from "../support/installed.ts"

const document = OpenApi.make(shop, { title: "Shop", version: "1.0.0" })

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
)

const layer = shop.layerServe.pipe(
  Layer.provide(Repository.layer(Payment)),
  Layer.provideMerge(KernelEngine.layerServer({ address: "127.0.0.1", port: 0 })),
  Layer.provide(EmbeddedStore.layerMemory)
)

const execute = promisify(execFile)

/** What a program prints; when it fails, what it complains of. */
const run = (program: string, args: ReadonlyArray<string>, cwd: string) =>
  Effect.promise(() =>
    execute(program, args, { cwd, timeout: 100_000 }).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout?: string; readonly stderr?: string }) => {
        throw new Error(`${program} ${args.join(" ")}: ${error.stdout ?? ""}${error.stderr ?? ""}`)
      }
    )
  )

/** A folder beside what is installed, with the document in it. */
const workplace = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const place = mkdtempSync(join(folder, "run-"))
      writeFileSync(join(place, "openapi.json"), JSON.stringify(document))
      return place
    }),
    (place) => Effect.sync(() => rmSync(place, { recursive: true, force: true }))
  )

const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

const foundOrSkipped = (tool: Installed, skip: (reason: string) => never): string =>
  "reason" in tool ? skip(tool.reason) : tool.folder

/** The statuses of all calls, none of which is an error. */
const assertAllAnswered = (statuses: { readonly [operation: string]: number }) => {
  assert.sameMembers(Object.keys(statuses), operations)
  assert.deepStrictEqual(Object.entries(statuses).filter(([, status]) => status >= 300), [])
}

describe("Clients that are generated from the document", () => {
  it.layer(Layer.provide(layer, Logger.layer([])), { excludeTestServices: true })("of the shop", (it) => {
    it.effect(
      "openapi-typescript and openapi-fetch: every operation compiles, and is answered",
      ({ skip }) =>
        Effect.gen(function*() {
          const packages = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"]
          const tool = yield* Effect.promise(() =>
            installed("openapi-typescript-7.13.0", (folder) => [
              ["npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...packages]]
            ])
          )
          const folder = foundOrSkipped(tool, skip)
          const place = yield* workplace(folder)
          const generator = join(folder, "node_modules", "openapi-typescript", "bin", "cli.js")
          yield* run(process.execPath, [generator, "openapi.json", "-o", "schema.d.ts"], place)
          writeFileSync(join(place, "calls.ts"), typescriptCalls)
          writeFileSync(join(place, "package.json"), `{ "type": "module" }`)
          const compiler = join(import.meta.dirname, "..", "..", "node_modules", "typescript", "bin", "tsc")
          const options = [
            "--ignoreConfig",
            "--noEmitOnError",
            "--strict",
            "--module",
            "nodenext",
            "--target",
            "es2024",
            "--types",
            "node"
          ]
          yield* run(process.execPath, [compiler, ...options, "calls.ts"], place)
          const printed = yield* run(process.execPath, ["calls.js", yield* baseUrl], place)
          assertAllAnswered(JSON.parse(printed))
        }),
      600_000
    )
  })
})

const typescriptCalls = `
import createClient from "openapi-fetch"
import type { paths } from "./schema.js"

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" })
const statuses: Record<string, number> = {}
client.use({
  onResponse({ request, response, schemaPath }) {
    statuses[\`\${request.method} \${schemaPath}\`] = response.status
  }
})

const answered = <T>({ data, error }: { data?: T; error?: unknown }): NonNullable<T> => {
  if (data === undefined || data === null) throw new Error(JSON.stringify(error))
  return data
}

const header = { Prefer: "return=representation" }
const pipe = JSON.stringify([{ $count: "n" }])

// users
const email = "ann@example.com"
const newUser = { name: "Ann", email, password: "a long secret", roles: ["user"] }
const user = answered(await client.POST("/api/v1/users", { params: { header }, body: newUser }))
if (user._type !== "User") throw new Error(user._type)
const byId = { id: user.id }
const read = answered(await client.GET("/api/v1/users/{id}", { params: { path: byId } }))
const tag: number = read.version
const conditions = { "If-Match": \`"\${tag}"\` }
answered(
  await client.PUT("/api/v1/users/{id}", { params: { path: byId, header: conditions }, body: { ...newUser, name: "Anna" } })
)
answered(await client.PATCH("/api/v1/users/{id}", { params: { path: byId }, body: { name: "Annie" } }))
const password = { current_password: "a long secret", new_password: "a longer secret" }
answered(await client.POST("/api/v1/users/{id}/change_password", { params: { path: byId }, body: password }))
const query = { query: JSON.stringify({ name: "Annie" }), sort_by: "-name", fields: "name,email", page_size: 5 }
const users = answered(await client.GET("/api/v1/users", { params: { query } }))
if (users._items[0]?.email !== email) throw new Error(JSON.stringify(users))
answered(await client.GET("/api/v1/users/aggregate", { params: { query: { pipe } } }))
answered(await client.GET("/api/v1/users/schema", { params: { query: { mongo: "true" } } }))
answered(await client.GET("/api/v1/users/meta"))

// products
const newProduct = { code: "ABC-1234", name: "Chair", price: 12.5, currency: "CHF", stock: 3, tags: ["wood"] } as const
const product = answered(
  await client.POST("/api/v1/products", { params: { header }, body: { ...newProduct, tags: [...newProduct.tags] } })
)
if (product._type !== "Product") throw new Error(product._type)
answered(await client.GET("/api/v1/products", { params: { query: { price: "<20", logic: "AND" } } }))
answered(await client.GET("/api/v1/products/{id}", { params: { path: { id: product.id }, query: { fields: "name" } } }))
const { result } = answered(await client.GET("/api/v1/products/{id}/get_summary", { params: { path: { id: product.id } } }))
if (!result.includes("Chair")) throw new Error(result)
answered(await client.GET("/api/v1/products/aggregate", { params: { query: { pipe } } }))
answered(await client.GET("/api/v1/products/schema"))
answered(await client.GET("/api/v1/products/meta"))

// orders
const order = answered(
  await client.POST("/api/v1/orders", {
    params: { header },
    body: { customer: user.id, lines: [{ product: product.id, quantity: 2, price: 12.5 }], state: "placed" }
  })
)
if (order._type !== "Order") throw new Error(order._type)
answered(await client.GET("/api/v1/orders", { params: { query: { sort_by: "placed", count: "none" } } }))
answered(await client.GET("/api/v1/orders/{id}", { params: { path: { id: order.id } } }))
answered(await client.GET("/api/v1/orders/aggregate", { params: { query: { pipe } } }))
answered(await client.GET("/api/v1/orders/schema"))
answered(await client.GET("/api/v1/orders/meta"))

// payments
const { payment } = answered(
  await client.POST("/api/v1/payments/pay", { body: { order: order.id, amount: 25, method: "card" } })
)
answered(await client.GET("/api/v1/payments/{payment_id}", { params: { path: { payment_id: payment } } }))
answered(await client.GET("/api/v1/payments/methods"))

// users, version 2
const second = answered(
  await client.POST("/api/v2/users", {
    body: { full_name: "Ben", email: "ben@example.com", password: "a long secret", roles: [] }
  })
)
answered(await client.GET("/api/v2/users", { params: { query: { page: 1, page_size: 10 } } }))
answered(await client.GET("/api/v2/users/{user_id}", { params: { path: { user_id: second.id } } }))

answered(await client.DELETE("/api/v1/users/{id}", { params: { path: byId } }))
console.log(JSON.stringify(statuses))
`
