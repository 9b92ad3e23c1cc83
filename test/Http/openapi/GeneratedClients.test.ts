import { describe } from "@effect/vitest"
import { heyApi, openapiPythonClient, openapiTypescript, orval } from "../../support/clientGenerators.ts"
import { clientsOfServices } from "../../support/generatedClients.ts"
import * as nasty from "../../support/nastyCalls.ts"

/** A picture of one pixel, in Base64. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const leftOut = "forms are left out, as the table below says"

describe("Clients that generators make from the document", () => {
  clientsOfServices({
    "openapi-typescript and openapi-fetch": {
      generator: openapiTypescript,
      shop: { program: typescriptCalls, prints: "statuses of every operation", limits: {} },
      nasty: { program: nasty.openapiTypescript, limits: {} }
    },
    "openapi-python-client": {
      generator: openapiPythonClient,
      shop: {
        program: pythonCalls,
        prints: "statuses of every operation",
        limits: {
          "POST /api/v1/files/upload": leftOut,
          "GET /api/v1/products/{id}/picture": "it has no answers of pictures"
        }
      },
      nasty: { program: nasty.openapiPythonClient, limits: { upload: leftOut, csv: "it has no bodies of text" } }
    },
    "hey-api": {
      generator: heyApi,
      shop: { program: heyApiCalls, limits: {} },
      nasty: { program: nasty.heyApi, limits: {} }
    },
    orval: {
      generator: orval,
      shop: { program: orvalCalls, limits: {} },
      nasty: { program: nasty.orval, limits: {} }
    }
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
const form = new FormData()
for (const [name, value] of Object.entries({ ...newProduct, code: "ABC-1235" })) form.append(name, String(value))
form.delete("tags")
form.append("picture", new Blob([Buffer.from("${png}", "base64")], { type: "image/png" }), "chair.png")
const made = await fetch(\`\${process.argv[2]}/api/v1/products\`, {
  method: "POST",
  headers: { authorization: process.argv[3] ?? "" },
  body: form
})
const pictured = { path: { id: String(Object(await made.json()).result) } }
const file = await client.GET("/api/v1/products/{id}/picture", { params: pictured, parseAs: "blob" })
if (file.response.headers.get("content-type") !== "image/png") throw new Error(JSON.stringify(file.error))
answered(await client.POST("/api/v1/products/{id}/picture/address", { params: pictured }))
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
answered(await client.GET("/api/v1/orders/changes", { params: { query: { offset: "now" } } }))
answered(await client.POST("/api/v1/orders/query", { body: {} }))
answered(await client.GET("/api/v1/orders/schema"))
answered(await client.GET("/api/v1/orders/meta"))
const { _items: states } = answered(
  await client.GET("/api/v1/orders/{id}/revisions", { params: { path: { id: order.id } } })
)
const state = { id: order.id, revision: states[0]?.revision ?? 0 }
answered(await client.GET("/api/v1/orders/{id}/revisions/{revision}", { params: { path: state } }))

// jobs
const { _items: jobs } = answered(await client.GET("/api/v1/jobs", { params: { query: { queue: "send-receipt" } } }))
const job = { path: { id: jobs[0]?.id ?? "" } }
answered(await client.GET("/api/v1/jobs/{id}", { params: job }))
answered(await client.POST("/api/v1/jobs/{id}/retry", { params: job }))
answered(await client.POST("/api/v1/jobs/{id}/discard", { params: job }))
answered(await client.GET("/api/v1/jobs/aggregate", { params: { query: { pipe } } }))
answered(await client.POST("/api/v1/jobs/query", { body: {} }))
answered(await client.GET("/api/v1/jobs/schema"))
answered(await client.GET("/api/v1/jobs/meta"))

// webhooks
const subscription = answered(
  await client.POST("/api/v1/subscriptions", {
    params: { header },
    body: { url: "https://partner.example/hooks", types: ["order.created"], enabled: true }
  })
)
if (subscription._type !== "WebhookSubscription") throw new Error(subscription._type)
const subscribed = { path: { id: subscription.id } }
answered(await client.GET("/api/v1/subscriptions"))
answered(await client.GET("/api/v1/subscriptions/{id}", { params: subscribed }))
answered(await client.PATCH("/api/v1/subscriptions/{id}", { params: subscribed, body: { enabled: false } }))
answered(await client.POST("/api/v1/subscriptions/{id}/rotate", { params: subscribed }))
answered(await client.GET("/api/v1/subscriptions/aggregate", { params: { query: { pipe } } }))
answered(await client.POST("/api/v1/subscriptions/query", { body: {} }))
answered(await client.GET("/api/v1/subscriptions/schema"))
answered(await client.GET("/api/v1/subscriptions/meta"))
answered(await client.DELETE("/api/v1/subscriptions/{id}", { params: subscribed }))
const { _items: deliveries } = answered(await client.GET("/api/v1/deliveries"))
const delivery = { path: { id: deliveries[0]?.id ?? "" } }
answered(await client.GET("/api/v1/deliveries/{id}", { params: delivery }))
answered(await client.POST("/api/v1/deliveries/{id}/send_again", { params: delivery }))
answered(await client.GET("/api/v1/deliveries/aggregate", { params: { query: { pipe } } }))
answered(await client.POST("/api/v1/deliveries/query", { body: {} }))
answered(await client.GET("/api/v1/deliveries/schema"))
answered(await client.GET("/api/v1/deliveries/meta"))

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
answered(await client.GET("/api/v1/token/sessions"))
answered(await client.DELETE("/api/v1/token/sessions/{id}", { params: { path: { id: "unknown" } } }))

// files
const uploaded = answered(
  await client.POST("/api/v1/files/upload", {
    body: { scan: "hello" },
    bodySerializer({ scan }) {
      const form = new FormData()
      form.append("scan", new Blob([scan]), "scan.txt")
      return form
    }
  })
)
if (uploaded.name !== "scan.txt" || uploaded.size !== 5) throw new Error(JSON.stringify(uploaded))

answered(await client.DELETE("/api/v1/users/{id}", { params: { path: byId } }))
console.log(JSON.stringify(statuses))
`

const heyApiCalls = `
import { client } from "./client/client.gen"
import * as sdk from "./client/sdk.gen"

const main = async () => {
  client.setConfig({ baseUrl: process.argv[2] ?? "", headers: { authorization: process.argv[3] ?? "" } })
  const printed: Record<string, unknown> = {}
  const newUser = (name: string) => ({
    name,
    email: \`\${name.toLowerCase()}@hey.example.com\`,
    password: "a long secret",
    roles: ["user"]
  })
  const throwOnError = true
  const headers = { Prefer: "return=representation" }

  const { data: user } = await sdk.usersCreate({ body: newUser("Ann"), headers, throwOnError })
  if (user._type !== "User") throw new Error(user._type)
  printed["create"] = user.name
  const several = await sdk.usersCreate({ body: [newUser("Bob"), newUser("Cleo")], throwOnError })
  printed["createList"] = "result" in several.data ? several.data.result.length : several
  const query = { email: user.email, sort_by: "-name", page_size: 5 }
  printed["list"] = (await sdk.usersList({ query, throwOnError })).data._items.map((item) => item.name)
  const path = { id: user.id }
  printed["get"] = (await sdk.usersGet({ path, throwOnError })).data.name
  const { data: patched } = await sdk.usersPatch({ path, body: { name: "Annie" }, headers, throwOnError })
  printed["patch"] = patched._type === "User" ? patched.name : patched
  const chair = { code: "HEY-0001", name: "Chair", price: 12.5, currency: "CHF", stock: 3 } as const
  const { data: product } = await sdk.productsCreate({ body: chair, headers, throwOnError })
  if (product._type !== "Product") throw new Error(product._type)
  const summary = await sdk.productsGetSummary({ path: { id: product.id }, throwOnError })
  printed["action"] = summary.data.result.split(" ")[0]
  const { data: uploaded } = await sdk.filesUpload({
    body: { scan: new File(["hello"], "scan.txt"), note: "a note" },
    throwOnError
  })
  printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
  printed["delete"] = (await sdk.usersDelete({ path, throwOnError })).data.result
  const { error, response } = await sdk.usersGet({ path })
  printed["error"] = [response?.status, error !== undefined && "_type" in error && error._type]
  console.log(JSON.stringify(printed))
}

void main()
`

const orvalCalls = `
import * as shop from "./client"

const main = async () => {
  const printed: Record<string, unknown> = {}
  const newUser = (name: string) => ({
    name,
    email: \`\${name.toLowerCase()}@orval.example.com\`,
    password: "a long secret",
    roles: ["user"]
  })
  const whole = { headers: { Prefer: "return=representation" } }

  const created = await shop.usersCreate(newUser("Ann"), whole)
  if (created.status !== 201 || created.data._type !== "User") throw new Error(JSON.stringify(created))
  const user = created.data
  printed["create"] = user.name
  const several = await shop.usersCreate([newUser("Bob"), newUser("Cleo")])
  printed["createList"] = several.status === 201 && "result" in several.data ? several.data.result.length : several
  const page = await shop.usersList({ email: user.email, sort_by: "-name", page_size: 5 })
  printed["list"] = page.status === 200 ? page.data._items.map((item) => item.name) : page
  const got = await shop.usersGet(user.id)
  printed["get"] = got.status === 200 ? got.data.name : got
  const patched = await shop.usersPatch(user.id, { name: "Annie" }, whole)
  printed["patch"] = patched.status === 200 && patched.data._type === "User" ? patched.data.name : patched
  const chair = { code: "ORV-0001", name: "Chair", price: 12.5, currency: "CHF", stock: 3 } as const
  const product = await shop.productsCreate(chair, whole)
  if (product.status !== 201 || product.data._type !== "Product") throw new Error(JSON.stringify(product))
  const summary = await shop.productsGetSummary(product.data.id)
  printed["action"] = summary.status === 200 ? summary.data.result.split(" ")[0] : summary
  const uploaded = await shop.filesUpload({ scan: new File(["hello"], "scan.txt"), note: "a note" })
  printed["upload"] = uploaded.status === 200 ? [uploaded.data.name, uploaded.data.size, uploaded.data.note] : uploaded
  const deleted = await shop.usersDelete(user.id)
  printed["delete"] = deleted.status === 200 ? deleted.data.result : deleted
  const missing = await shop.usersGet(user.id)
  printed["error"] = missing.status === 404 ? [missing.status, "_type" in missing.data && missing.data._type] : missing
  console.log(JSON.stringify(printed))
}

void main()
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
import base64, json, sys
from client import Client
from client.api.jobs import (jobs_aggregate, jobs_discard, jobs_get, jobs_list, jobs_meta, jobs_query, jobs_retry,
    jobs_schema)
from client.api.deliveries import (deliveries_aggregate, deliveries_get, deliveries_list, deliveries_meta,
    deliveries_query, deliveries_schema, deliveries_send_again)
from client.api.subscriptions import (subscriptions_aggregate, subscriptions_create, subscriptions_delete,
    subscriptions_get, subscriptions_list, subscriptions_meta, subscriptions_patch, subscriptions_query,
    subscriptions_rotate, subscriptions_schema)
from client.api.orders import (orders_aggregate, orders_changes, orders_create, orders_get, orders_list, orders_meta, orders_query,
    orders_revision, orders_revisions, orders_schema)
from client.api.payments import payments_methods, payments_pay, payments_status
from client.api.changes import api_v1_changes
from client.api.products import (products_aggregate, products_changes, products_create, products_get,
    products_get_picture_address, products_get_summary, products_list, products_meta, products_query, products_schema)
from client.api.tokens import tokens_end_session, tokens_revoke, tokens_sessions, tokens_token
from client.api.users import (users_aggregate, users_change_password, users_create, users_delete, users_get,
    users_list, users_meta, users_patch, users_query, users_replace, users_schema)
from client.api.users_version_2 import users_v2_create, users_v2_get, users_v2_list
from client import models as m

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
fields = {"code": "XYZ-0002", "name": "Chair", "price": "12.5", "currency": "CHF", "stock": "3"}
picture = {"picture": ("chair.png", base64.b64decode("${png}"), "image/png")}
made = client.get_httpx_client().post("/api/v1/products", data=fields, files=picture).json()["result"]
asked("POST /api/v1/products/{id}/picture/address", products_get_picture_address.sync_detailed(made, client=client))
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
asked("GET /api/v1/orders/changes", orders_changes.sync_detailed(client=client, offset="now"))
asked("POST /api/v1/orders/query", orders_query.sync_detailed(client=client, body=m.OrdersQueryBody()))
asked("GET /api/v1/orders/schema", orders_schema.sync_detailed(client=client))
asked("GET /api/v1/orders/meta", orders_meta.sync_detailed(client=client))
states = asked("GET /api/v1/orders/{id}/revisions", orders_revisions.sync_detailed(order.id, client=client))
last = states.field_items[0].revision
asked("GET /api/v1/orders/{id}/revisions/{revision}", orders_revision.sync_detailed(order.id, last, client=client))

# jobs
job = asked("GET /api/v1/jobs", jobs_list.sync_detailed(client=client, queue="send-receipt")).field_items[0]
asked("GET /api/v1/jobs/{id}", jobs_get.sync_detailed(job.id, client=client))
asked("POST /api/v1/jobs/{id}/retry", jobs_retry.sync_detailed(job.id, client=client))
asked("POST /api/v1/jobs/{id}/discard", jobs_discard.sync_detailed(job.id, client=client))
asked("GET /api/v1/jobs/aggregate", jobs_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/jobs/query", jobs_query.sync_detailed(client=client, body=m.JobsQueryBody()))
asked("GET /api/v1/jobs/schema", jobs_schema.sync_detailed(client=client))
asked("GET /api/v1/jobs/meta", jobs_meta.sync_detailed(client=client))

# webhooks
subscription = asked("POST /api/v1/subscriptions", subscriptions_create.sync_detailed(
    client=client, body=m.WebhookSubscriptionCreate(url="https://partner.example/hooks", types=["order.created"]),
    prefer=whole))
asked("GET /api/v1/subscriptions", subscriptions_list.sync_detailed(client=client))
asked("GET /api/v1/subscriptions/{id}", subscriptions_get.sync_detailed(subscription.id, client=client))
asked("PATCH /api/v1/subscriptions/{id}", subscriptions_patch.sync_detailed(
    subscription.id, client=client, body=m.WebhookSubscriptionPatch(enabled=False)))
asked("POST /api/v1/subscriptions/{id}/rotate", subscriptions_rotate.sync_detailed(subscription.id, client=client))
asked("GET /api/v1/subscriptions/aggregate", subscriptions_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/subscriptions/query", subscriptions_query.sync_detailed(
    client=client, body=m.SubscriptionsQueryBody()))
asked("GET /api/v1/subscriptions/schema", subscriptions_schema.sync_detailed(client=client))
asked("GET /api/v1/subscriptions/meta", subscriptions_meta.sync_detailed(client=client))
asked("DELETE /api/v1/subscriptions/{id}", subscriptions_delete.sync_detailed(subscription.id, client=client))
delivery = asked("GET /api/v1/deliveries", deliveries_list.sync_detailed(client=client)).field_items[0]
asked("GET /api/v1/deliveries/{id}", deliveries_get.sync_detailed(delivery.id, client=client))
asked("POST /api/v1/deliveries/{id}/send_again", deliveries_send_again.sync_detailed(delivery.id, client=client))
asked("GET /api/v1/deliveries/aggregate", deliveries_aggregate.sync_detailed(client=counting))
asked("POST /api/v1/deliveries/query", deliveries_query.sync_detailed(client=client, body=m.DeliveriesQueryBody()))
asked("GET /api/v1/deliveries/schema", deliveries_schema.sync_detailed(client=client))
asked("GET /api/v1/deliveries/meta", deliveries_meta.sync_detailed(client=client))

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
asked("GET /api/v1/token/sessions", tokens_sessions.sync_detailed(client=client))
asked("DELETE /api/v1/token/sessions/{id}", tokens_end_session.sync_detailed("unknown", client=client))

asked("DELETE /api/v1/users/{id}", users_delete.sync_detailed(user.id, client=client))
print(json.dumps(statuses))
`
