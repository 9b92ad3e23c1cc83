import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { AccessPolicy, type DocumentStore, Model, Tokens } from "appkernel"
import { Duration, Effect, type Layer } from "effect"
import * as path from "node:path"
import { engine } from "../../examples/shop/engine.ts"
import { User } from "../../examples/shop/models/User.ts"
import { quickHashes } from "../support/quickHashes.ts"
import type { Answer } from "../support/rest.ts"
import { bearer } from "../support/rest.ts"
import { request, signIn, surroundings } from "../support/shop.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

it.effect("the access policy of the shop is the reviewed one", () =>
  Effect.provide(
    AccessPolicy.matchesFile(engine.policy, path.join(import.meta.dirname, "shopPolicy.md")),
    NodeFileSystem.layer
  ))

const password = "analytical engine"

/** The end of a sign-in is known to the next request, however long a request takes. */
const atOnce = {
  accessToken: Duration.minutes(15),
  refreshToken: Duration.days(30),
  revocationDelay: Duration.zero
}

let count = 0
const email = (name: string) => `${name}.${count++}@example.com`
const newUser = (more?: object) => ({ name: "Joe", email: email("joe"), password, ...more })
const newProduct = () => ({
  code: `LMP-${String(count++).padStart(4, "0")}`,
  name: "Lamp",
  price: 40,
  cost: 25,
  currency: "CHF",
  stock: 100
})

/** A shop with an administrator and two users, the first of whom has an order and has paid it. */
const opened = Effect.fnUntraced(function*<E>(store: Layer.Layer<DocumentStore.DocumentStore, E>) {
  const { baseUrl, repositories } = yield* engine.test({ store: surroundings(store) })
  const callAs = (headers: { readonly [name: string]: string }) => (line: string, body?: unknown) =>
    request(baseUrl, line, body, headers)
  const nobody = callAs({})
  const accountOf = (name: string) => ({ name, email: email(name), password })
  const signedIn = (account: { readonly email: string }) =>
    Effect.map(signIn(baseUrl, account.email, password), ({ access_token }) => callAs(bearer(access_token)))
  const signedUp = (name: string) => {
    const account = accountOf(name)
    return Effect.flatMap(
      nobody("POST /api/v1/users", account),
      ({ body }) => Effect.map(signedIn(account), (call) => ({ id: String(body.result), email: account.email, call }))
    )
  }
  const boss = yield* Model.finalise(User, { ...accountOf("boss"), roles: ["admin"] })
  yield* repositories.users.insert(boss)
  const [ann, ben] = [yield* signedUp("ann"), yield* signedUp("ben")]
  const callers = { nobody, ann: ann.call, ben: ben.call, admin: yield* signedIn(boss) }
  const product = (yield* callers.admin("POST /api/v1/products", newProduct())).body.result
  const newOrder = (more?: object) => ({ lines: [{ product, quantity: 1, price: 40 }], ...more })
  const order = (yield* ann.call("POST /api/v1/orders", newOrder())).body.result
  const paid = yield* ann.call("POST /api/v1/payments/pay", { order, amount: 40 })
  return { callers, signedIn, newOrder, ann, ben: ben.id, boss: boss.id, product, order, payment: paid.body.payment }
})

type Shop = Effect.Success<ReturnType<typeof opened>>

/** The answers to nobody, to a user, to another user, and to the administrator. */
type Row = readonly [line: string, statuses: readonly [number, number, number, number], body?: () => unknown]

const everybody = [200, 200, 200, 200] as const
const signedUp = [401, 200, 200, 200] as const
const count_ = `aggregate?pipe=${encodeURIComponent("[{\"$count\":\"n\"}]")}`
const byCost = (operator: string) =>
  encodeURIComponent(JSON.stringify(operator === "" ? { cost: 25 } : [{ [operator]: { cost: 25 } }]))

const table = ({ ann, newOrder, order, payment, product }: Shop): ReadonlyArray<Row> => [
  // Products: everybody reads them without what they cost.
  ["GET /api/v1/products", everybody],
  [`GET /api/v1/products/${product}`, everybody],
  [`GET /api/v1/products/${product}/get_summary`, everybody],
  ["GET /api/v1/products/schema", everybody],
  ["GET /api/v1/products/meta", everybody],
  [`GET /api/v1/products/${count_}`, everybody],
  ["GET /api/v1/products?cost=25", [400, 400, 400, 200]],
  ["GET /api/v1/products?cost=null", [400, 400, 400, 200]],
  ["GET /api/v1/products?sort_by=cost", [400, 400, 400, 200]],
  ["GET /api/v1/products?fields=name,cost", [400, 400, 400, 200]],
  [`GET /api/v1/products/${product}?fields=cost`, [400, 400, 400, 200]],
  [`GET /api/v1/products?query=${byCost("")}`, [400, 400, 400, 200]],
  [`GET /api/v1/products/aggregate?pipe=${byCost("$match")}`, [400, 400, 400, 200]],
  ["POST /api/v1/products", [401, 403, 403, 201], newProduct],
  // Users: everybody signs up, and sees themselves.
  ["POST /api/v1/users", [201, 201, 201, 201], newUser],
  ["POST /api/v1/users", [403, 403, 403, 201], () => newUser({ roles: ["admin"] })],
  ["POST /api/v1/users", [403, 403, 403, 201], () => newUser({ id: `U-${count++}` })],
  ["POST /api/v1/users", [403, 403, 403, 200], () => newUser({ id: ann.id, email: ann.email, name: "Ann" })],
  ["POST /api/v1/users", [403, 403, 403, 201], () => [newUser(), newUser({ id: `U-${count++}` })]],
  ["GET /api/v1/users", signedUp],
  ["GET /api/v1/users/schema", signedUp],
  ["GET /api/v1/users/meta", signedUp],
  [`GET /api/v1/users/${count_}`, signedUp],
  [`GET /api/v1/users/${ann.id}`, [401, 200, 403, 200]],
  ["GET /api/v1/users/U-none", [401, 403, 403, 404]],
  [`PATCH /api/v1/users/${ann.id}`, [401, 200, 403, 200], () => ({ name: "Ann" })],
  [`PATCH /api/v1/users/${ann.id}`, [401, 403, 403, 200], () => ({ roles: ["user", "admin"] })],
  // The administrator has just changed them.
  [`PATCH /api/v1/users/${ann.id}`, [401, 200, 403, 200], () => ({ roles: ["user", "admin"] })],
  [`PATCH /api/v1/users/${ann.id}`, [401, 403, 403, 200], () => ({ roles: ["user"] })],
  [`PUT /api/v1/users/${ann.id}`, [401, 200, 403, 200], () => ({ name: "Ann", email: ann.email, password })],
  [
    `PUT /api/v1/users/${ann.id}`,
    [401, 403, 403, 200],
    () => ({ ...ann, name: "Ann", password, roles: ["user", "x"] })
  ],
  ["DELETE /api/v1/users/U-none", [401, 403, 403, 404]],
  [
    `POST /api/v1/users/${ann.id}/change_password`,
    [401, 200, 403, 200],
    () => ({ current_password: password, new_password: password })
  ],
  ["GET /api/v2/users", signedUp],
  [`GET /api/v2/users/${ann.id}`, [401, 200, 404, 200]],
  ["POST /api/v2/users", [401, 403, 403, 200], () => ({ full_name: "Joe", email: email("joe"), password })],
  // Orders: one's own.
  ["GET /api/v1/orders", signedUp],
  ["GET /api/v1/orders/schema", signedUp],
  ["GET /api/v1/orders/meta", signedUp],
  [`GET /api/v1/orders/${count_}`, signedUp],
  [`GET /api/v1/orders/${order}`, [401, 200, 404, 200]],
  ["GET /api/v1/orders/O-none", [401, 404, 404, 404]],
  ["POST /api/v1/orders", [401, 201, 201, 201], newOrder],
  ["POST /api/v1/orders", [401, 201, 403, 201], () => newOrder({ customer: ann.id })],
  ["POST /api/v1/orders", [401, 403, 403, 201], () => newOrder({ state: "paid" })],
  ["POST /api/v1/orders", [401, 409, 403, 409], () => newOrder({ id: order })],
  ["POST /api/v1/orders", [401, 403, 403, 201], () => newOrder({ id: `O-${count++}` })],
  // Payments: of one's own orders.
  ["POST /api/v1/payments/pay", [401, 422, 404, 422], () => ({ order, amount: 1 })],
  ["POST /api/v1/payments/pay", [401, 200, 404, 200], () => ({ order, amount: 40 })],
  ["POST /api/v1/payments/pay", [401, 404, 404, 404], () => ({ order: "O-none", amount: 40 })],
  [`GET /api/v1/payments/${payment}`, [401, 200, 404, 200]],
  ["GET /api/v1/payments/Y-none", [401, 404, 404, 404]],
  ["GET /api/v1/payments/methods", everybody],
  // Signing in and out.
  ["POST /api/v1/token", everybody, () => ({ grant_type: "password", username: ann.email, password })],
  ["POST /api/v1/token", [400, 400, 400, 400], () => ({ grant_type: "password", username: ann.email, password: "no" })],
  ["POST /api/v1/token/revoke", everybody, () => ({ token: "unknown" })],
  // The sign-ins of oneself.
  ["GET /api/v1/token/sessions", signedUp],
  ["DELETE /api/v1/token/sessions/unknown", signedUp]
]

const suite = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  describe(`who may do what in the shop / ${name}`, () => {
    it.live("is what the table says", () =>
      Effect.gen(function*() {
        const shop = yield* opened(store)
        let asAnn = shop.callers.ann
        for (const [line, expected, body] of table(shop)) {
          const callers = Object.values({ ...shop.callers, ann: asAnn })
          const replies = yield* Effect.forEach(callers, (call) => call(line, body?.()))
          assert.deepStrictEqual(replies.map(({ status }) => status), [...expected], line)
          // The administrator may have set the password of Ann, which ends her sign-ins.
          const isSet = /^(?:POST|PUT) .*\/users/u.test(line) && expected[3] === 200
          if (isSet) asAnn = yield* shop.signedIn(shop.ann)
        }
      }).pipe(Effect.provideService(Tokens.Lifetimes, atOnce), Effect.provide(quickHashes)))

    it.live("hides what products cost, and everything of others", () =>
      Effect.gen(function*() {
        const { ann, ben, boss, callers: { admin, nobody, ...users }, newOrder, order, product } = yield* opened(store)
        const readers = [nobody, users.ann, users.ben]
        const products = [
          "GET /api/v1/products",
          `GET /api/v1/products/${product}`,
          "GET /api/v1/products/schema",
          "GET /api/v1/products/schema?mongo=true",
          "GET /api/v1/products/meta",
          `GET /api/v1/products/aggregate?pipe=${encodeURIComponent("[{\"$match\":{\"price\":40}}]")}`
        ]
        for (const line of products) {
          assert.include((yield* admin(line)).text, "cost", line)
          for (const read of readers) assert.notInclude((yield* read(line)).text, "cost", line)
        }

        const idsOf = ({ body }: Answer) => body._items.map(({ id }: { readonly id: string }) => id)
        const visible = (line: string) =>
          Effect.forEach([users.ann, users.ben, admin], (call) =>
            Effect.map(call(line), (reply) => idsOf(reply).toSorted()))
        const all = [ann.id, ben, boss].toSorted()
        assert.deepStrictEqual(yield* visible("GET /api/v1/users"), [[ann.id], [ben], all])
        assert.deepStrictEqual(yield* visible("GET /api/v2/users"), [[ann.id], [ben], all])
        assert.deepStrictEqual(yield* visible("GET /api/v1/orders"), [[order], [], [order]])
        const counted = yield* Effect.forEach([users.ann, users.ben, admin], (call) =>
          call("GET /api/v1/users"))
        assert.deepStrictEqual(counted.map(({ headers }) => headers["x-total-count"]), ["1", "1", "3"])

        // An order is its customer's, whom its administrator may name.
        const placed = yield* users.ben("POST /api/v1/orders", newOrder())
        assert.strictEqual((yield* users.ben(`GET /api/v1/orders/${placed.body.result}`)).body.customer, ben)
        const given = yield* admin("POST /api/v1/orders", newOrder({ customer: ben }))
        assert.strictEqual((yield* users.ben(`GET /api/v1/orders/${given.body.result}`)).status, 200)
        assert.strictEqual((yield* users.ann(`GET /api/v1/orders/${given.body.result}`)).status, 404)
        assert.deepStrictEqual(
          (yield* users.ben(`GET /api/v1/orders/${order}`)).body.message,
          (yield* users.ben("GET /api/v1/orders/O-none")).body.message.replace("O-none", order)
        )
      }).pipe(Effect.provide(quickHashes)))

    it.live(
      "names the fields that only the administrator writes, and lets nobody take an account over",
      () =>
        Effect.gen(function*() {
          const { ann, callers: { admin, ann: asAnn, nobody } } = yield* opened(store)
          const messageOf = ({ body }: Answer) => body.message
          const signUp = (more: object) => nobody("POST /api/v1/users", newUser(more))
          assert.strictEqual(messageOf(yield* signUp({ roles: ["admin"] })), "You are not allowed to write roles")
          assert.strictEqual(messageOf(yield* signUp({ id: ann.id })), "You are not allowed to write id")
          assert.strictEqual(messageOf(yield* signUp({ id: "U-none" })), "You are not allowed to write id")
          const many = yield* nobody("POST /api/v1/users", [newUser(), newUser({ id: ann.id })])
          assert.strictEqual(messageOf(many), "You are not allowed to write id")
          const own = yield* asAnn(`PATCH /api/v1/users/${ann.id}`, { roles: ["admin"] })
          assert.strictEqual(messageOf(own), "You are not allowed to write roles")
          const { body } = yield* admin(`GET /api/v1/users/${ann.id}`)
          assert.deepStrictEqual([body.name, body.roles, body.version], ["ann", ["user"], 1])
          assert.strictEqual((yield* admin("GET /api/v1/users")).body._items.length, 3)
        }).pipe(Effect.provide(quickHashes))
    )
  })

storeMatrix(suite)
