import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { engine as shop } from "../../../examples/shop/engine.ts"
import { EmbeddedStore, KernelServer, OpenApi } from "../../../src/index.ts"
import { type Installed, installed } from "../../support/installed.ts"
import { quickHashes } from "../../support/quickHashes.ts"
import { administrator, credentials, payments } from "../../support/shop.ts"

const document = OpenApi.make(shop, { title: "Shop", version: "1.0.0" })

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
)

const layer = shop.layerServe.pipe(
  Layer.provide(payments),
  Layer.provideMerge(credentials),
  Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 })),
  Layer.provide([EmbeddedStore.layerMemory, quickHashes])
)

const execute = promisify(execFile)

/** What a program prints; when it fails, what it complains of. */
const run = (program: string, args: ReadonlyArray<string>, cwd: string) =>
  Effect.promise(() =>
    execute(program, args, { cwd, timeout: 240_000 }).then(
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

const token = Effect.map(administrator, ({ authorization }) => authorization)

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
      "openapi-typescript and openapi-fetch: every operation compiles, and gets a response",
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
          const compiler = join(import.meta.dirname, "../..", "..", "node_modules", "typescript", "bin", "tsc")
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
          const printed = yield* run(process.execPath, ["calls.js", yield* baseUrl, yield* token], place)
          assertAllAnswered(JSON.parse(printed))
        }),
      600_000
    )

    it.effect(
      "openapi-python-client: every operation gets a response, which the client decodes",
      ({ skip }) =>
        Effect.gen(function*() {
          const tool = yield* Effect.promise(() =>
            installed("openapi-python-client-0.29.1", (folder) => [
              ["python3", ["-m", "venv", folder]],
              [
                join(folder, "bin", "python"),
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "openapi-python-client==0.29.1"]
              ]
            ])
          )
          const folder = foundOrSkipped(tool, skip)
          const place = yield* workplace(folder)
          const python = join(folder, "bin", "python")
          writeFileSync(join(place, "config.yml"), pythonConfig)
          writeFileSync(join(place, "calls.py"), pythonCalls)
          const options = ["--path", "openapi.json", "--config", "config.yml", "--meta", "none"]
          yield* run(
            python,
            ["-m", "openapi_python_client", "generate", ...options, "--output-path", "shop_client"],
            place
          )
          const printed = yield* run(python, ["calls.py", yield* baseUrl, yield* token], place)
          assertAllAnswered(JSON.parse(printed))
        }),
      600_000
    )
  })
})

const typescriptCalls = `
import createClient from "openapi-fetch"
import type { paths } from "./schema.js"

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? "",
  headers: { authorization: process.argv[3] ?? "" }
})
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
const got = await client.GET("/api/v1/users/{id}", { params: { path: byId } })
answered(got)
const conditions = { "If-Match": got.response.headers.get("etag") ?? "" }
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
answered(await client.POST("/api/v1/users/query", { body: { name: "Annie", page_size: 5 } }))
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
answered(await client.GET("/api/v1/products/changes", { params: { query: { offset: "now" } } }))
answered(await client.GET("/api/v1/changes", { params: { query: { watch: ["products"], offset: "now" } } }))
answered(await client.POST("/api/v1/products/query", { body: { price: "<20", query: { stock: 3 } } }))
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
answered(await client.POST("/api/v1/orders/query", { body: {} }))
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

// tokens
const grant = { grant_type: "password", username: email, password: "a longer secret" }
const { access_token } = answered(await client.POST("/api/v1/token", { body: grant }))
answered(await client.POST("/api/v1/token/revoke", { body: { token: access_token } }))

answered(await client.DELETE("/api/v1/users/{id}", { params: { path: byId } }))
console.log(JSON.stringify(statuses))
`

/** What users of `openapi-python-client` need, as the documentation has it. */
const pythonConfig = `
post_hooks: []
content_type_overrides:
  application/json-patch+json: text/plain
  multipart/form-data: text/plain
  application/x-www-form-urlencoded: text/plain
`

/**
 * What `openapi-python-client` itself can't do; the calls below do without, or give it in another way.
 *
 * | What | Why |
 * |---|---|
 * | bodies of `application/json-patch+json`, `multipart/form-data` and `application/x-www-form-urlencoded` | of several types of bodies it tells which was given by `isinstance(body, list[…])`, a `TypeError` in Python, so that the configuration leaves all but one |
 * | the parameters `query` and `pipe` | it drops parameters that have `content` in the place of a `schema`; they are given to the client (`httpx_args`) |
 */
const pythonCalls = `
import json, sys
from shop_client import Client
from shop_client.api.orders import orders_aggregate, orders_create, orders_get, orders_list, orders_meta, orders_query, orders_schema
from shop_client.api.payments import payments_methods, payments_pay, payments_status
from shop_client.api.changes import api_v1_changes
from shop_client.api.products import (products_aggregate, products_changes, products_create, products_get,
    products_get_summary, products_list, products_meta, products_query, products_schema)
from shop_client.api.tokens import tokens_revoke, tokens_token
from shop_client.api.users import (users_aggregate, users_change_password, users_create, users_delete, users_get,
    users_list, users_meta, users_patch, users_query, users_replace, users_schema)
from shop_client.api.users_version_2 import users_v2_create, users_v2_get, users_v2_list
from shop_client import models as m

statuses = {}

def asked(operation, answer):
    statuses[operation] = int(answer.status_code)
    if answer.parsed is None or type(answer.parsed).__name__ == "ErrorMessage":
        raise Exception(operation + ": " + answer.content.decode())
    return answer.parsed

def expect(actual, expected):
    if actual != expected:
        raise Exception(f"{actual!r} is not {expected!r}")

def client_with(**params):
    return Client(base_url=sys.argv[1], headers={"authorization": sys.argv[2]}, raise_on_unexpected_status=True,
        httpx_args={"params": params})

client = client_with()
counting = client_with(pipe=json.dumps([{"$count": "n"}]))
whole = "return=representation"

# users
new_user = m.UserCreate(name="Ann", email="pia@example.com", password="a long secret", roles=["user"])
user = asked("POST /api/v1/users", users_create.sync_detailed(client=client, body=new_user, prefer=whole))
expect(type(user).__name__, "User")
got = users_get.sync_detailed(user.id, client=client)
expect(asked("GET /api/v1/users/{id}", got).version, 1)
tag = got.headers["etag"]
asked("PUT /api/v1/users/{id}", users_replace.sync_detailed(user.id, client=client, body=new_user, if_match=tag))
patch = m.UserPatch(name="Annie")
asked("PATCH /api/v1/users/{id}", users_patch.sync_detailed(user.id, client=client, body=patch))
secrets = m.UsersChangePasswordBody(current_password="a long secret", new_password="a longer secret")
asked("POST /api/v1/users/{id}/change_password", users_change_password.sync_detailed(user.id, client=client, body=secrets))
named = client_with(query=json.dumps({"name": "Annie"}))
users = asked("GET /api/v1/users", users_list.sync_detailed(client=named, sort_by="-name", page_size=5))
expect([item.email for item in users.field_items], ["pia@example.com"])
several = [m.UserCreate(name=name, email=name + "@example.com", password="a long secret") for name in ("bob", "cleo")]
created = asked("POST /api/v1/users", users_create.sync_detailed(client=client, body=several))
expect(len(created.result), 2)
asked("GET /api/v1/users/aggregate", users_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/users/query", users_query.sync_detailed(client=client, body=m.UsersQueryBody(name="Annie", page_size=5)))
asked("GET /api/v1/users/schema", users_schema.sync_detailed(client=client))
asked("GET /api/v1/users/meta", users_meta.sync_detailed(client=client))

# products
new_product = m.ProductCreate(code="XYZ-0001", name="Chair", price=12.5, currency=m.Currency.CHF, stock=3, tags=["wood"])
product = asked("POST /api/v1/products", products_create.sync_detailed(client=client, body=new_product, prefer=whole))
asked("GET /api/v1/products", products_list.sync_detailed(client=client, price="<20", logic=m.ProductsListLogic.AND))
asked("GET /api/v1/products/{id}", products_get.sync_detailed(product.id, client=client))
summary = asked("GET /api/v1/products/{id}/get_summary", products_get_summary.sync_detailed(product.id, client=client))
expect("Chair" in summary.result, True)
asked("GET /api/v1/products/aggregate", products_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/products/query", products_query.sync_detailed(client=client, body=m.ProductsQueryBody(price="<20")))
asked("GET /api/v1/products/changes", products_changes.sync_detailed(client=client, offset="now"))
asked("GET /api/v1/changes", api_v1_changes.sync_detailed(
    client=client, watch=[m.ApiV1ChangesWatchItem.PRODUCTS], offset="now"))
asked("GET /api/v1/products/schema", products_schema.sync_detailed(client=client))
asked("GET /api/v1/products/meta", products_meta.sync_detailed(client=client))

# orders
lines = [m.OrderLineCreate(product=product.id, quantity=2, price=12.5)]
order = asked("POST /api/v1/orders", orders_create.sync_detailed(
    client=client, body=m.OrderCreate(customer=user.id, lines=lines), prefer=whole))
asked("GET /api/v1/orders", orders_list.sync_detailed(client=client, sort_by="placed", count=m.OrdersListCount.NONE))
asked("GET /api/v1/orders/{id}", orders_get.sync_detailed(order.id, client=client))
asked("GET /api/v1/orders/aggregate", orders_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/orders/query", orders_query.sync_detailed(client=client, body=m.OrdersQueryBody()))
asked("GET /api/v1/orders/schema", orders_schema.sync_detailed(client=client))
asked("GET /api/v1/orders/meta", orders_meta.sync_detailed(client=client))

# payments
paid = asked("POST /api/v1/payments/pay", payments_pay.sync_detailed(
    client=client, body=m.PaymentCreate(order=order.id, amount=25, method=m.PaymentMethod("card"))))
asked("GET /api/v1/payments/{payment_id}", payments_status.sync_detailed(paid.payment, client=client))
asked("GET /api/v1/payments/methods", payments_methods.sync_detailed(client=client))

# users, version 2
second = asked("POST /api/v2/users", users_v2_create.sync_detailed(client=client, body=m.UserV2Create(
    full_name="Ben", email="leo@example.com", password="a long secret", roles=[])))
asked("GET /api/v2/users", users_v2_list.sync_detailed(client=client, page=1, page_size=10))
asked("GET /api/v2/users/{user_id}", users_v2_get.sync_detailed(second.id, client=client))

# tokens
grant = m.TokenRequest(grant_type="password", username="pia@example.com", password="a longer secret")
issued = asked("POST /api/v1/token", tokens_token.sync_detailed(client=client, body=grant))
revocation = m.Revocation(token=issued.access_token)
asked("POST /api/v1/token/revoke", tokens_revoke.sync_detailed(client=client, body=revocation))

asked("DELETE /api/v1/users/{id}", users_delete.sync_detailed(user.id, client=client))
print(json.dumps(statuses))
`
