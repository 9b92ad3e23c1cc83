import { assert, it } from "@effect/vitest"
import { ApiKeys, KernelServer, Model, OpenApi, Repository, SignInAttempts } from "appkernel"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { engine } from "../../../examples/shop/engine.ts"
import { User } from "../../../examples/shop/models/User.ts"
import { endpointsOf } from "../../../src/Http/description/standardEndpoints.ts"
import { basic, ownSigner, tokens } from "../../support/credentials.ts"
import type { FreshStore } from "../../support/mongo.ts"
import { quickHashes } from "../../support/quickHashes.ts"
import { bearer } from "../../support/rest.ts"
import { accounts, payments, request, signIn } from "../../support/shop.ts"
import { routeStores } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"

/** The statuses for nobody, for a user, and for an administrator. */
type Row = readonly [nobody: number, user: number, admin: number]

/** A signed address is one that another route answers with. */
const signed = "GET /api/v1/products/:id/picture/signed/:signature"

/**
 * Every route of the shop. Identifiers in paths are the user's own, of whom there is no document, and bodies are empty: 404 and
 * 400 are the answers to those who may. Credentials that are not valid are 401 on every route.
 */
const table: { readonly [route: string]: Row } = {
  "GET /api/v1/users": [401, 200, 200],
  "POST /api/v1/users": [400, 400, 400],
  "GET /api/v1/users/:id": [401, 404, 404],
  "PUT /api/v1/users/:id": [401, 400, 400],
  "PATCH /api/v1/users/:id": [401, 404, 404],
  "DELETE /api/v1/users/:id": [401, 404, 404],
  "POST /api/v1/users/:id/change_password": [401, 404, 404],
  "GET /api/v1/users/aggregate": [401, 400, 400],
  "POST /api/v1/users/query": [401, 200, 200],
  "GET /api/v1/users/schema": [401, 200, 200],
  "GET /api/v1/users/meta": [401, 200, 200],
  "GET /api/v1/products": [200, 200, 200],
  "POST /api/v1/products": [401, 403, 400],
  "GET /api/v1/products/:id": [404, 404, 404],
  "GET /api/v1/products/:id/get_summary": [404, 404, 404],
  "GET /api/v1/products/:id/picture": [404, 404, 404],
  "POST /api/v1/products/:id/picture/address": [404, 404, 404],
  [signed]: [403, 403, 403],
  "GET /api/v1/products/aggregate": [400, 400, 400],
  "GET /api/v1/products/changes": [200, 200, 200],
  // Of the collections that it names.
  "GET /api/v1/changes": [200, 200, 200],
  "POST /api/v1/products/query": [200, 200, 200],
  "GET /api/v1/products/schema": [200, 200, 200],
  "GET /api/v1/products/meta": [200, 200, 200],
  "GET /api/v1/orders": [401, 200, 200],
  "POST /api/v1/orders": [401, 400, 400],
  "GET /api/v1/orders/:id": [401, 404, 404],
  "GET /api/v1/orders/:id/revisions": [401, 404, 404],
  "GET /api/v1/orders/:id/revisions/:revision": [401, 404, 404],
  "GET /api/v1/orders/aggregate": [401, 400, 400],
  "GET /api/v1/orders/changes": [401, 200, 200],
  "POST /api/v1/orders/query": [401, 200, 200],
  "GET /api/v1/orders/schema": [401, 200, 200],
  "GET /api/v1/orders/meta": [401, 200, 200],
  "GET /api/v1/jobs": [401, 403, 200],
  "GET /api/v1/jobs/:id": [401, 403, 404],
  "POST /api/v1/jobs/:id/retry": [401, 403, 404],
  "POST /api/v1/jobs/:id/discard": [401, 403, 404],
  "GET /api/v1/jobs/aggregate": [401, 403, 400],
  "POST /api/v1/jobs/query": [401, 403, 200],
  "GET /api/v1/jobs/schema": [401, 403, 200],
  "GET /api/v1/jobs/meta": [401, 403, 200],
  "GET /api/v1/subscriptions": [401, 200, 200],
  "POST /api/v1/subscriptions": [401, 400, 400],
  "GET /api/v1/subscriptions/:id": [401, 404, 404],
  "PATCH /api/v1/subscriptions/:id": [401, 404, 404],
  "DELETE /api/v1/subscriptions/:id": [401, 404, 404],
  "POST /api/v1/subscriptions/:id/rotate": [401, 404, 404],
  "GET /api/v1/subscriptions/aggregate": [401, 400, 400],
  "POST /api/v1/subscriptions/query": [401, 200, 200],
  "GET /api/v1/subscriptions/schema": [401, 200, 200],
  "GET /api/v1/subscriptions/meta": [401, 200, 200],
  "GET /api/v1/deliveries": [401, 200, 200],
  "GET /api/v1/deliveries/:id": [401, 404, 404],
  "POST /api/v1/deliveries/:id/send_again": [401, 404, 404],
  "GET /api/v1/deliveries/aggregate": [401, 400, 400],
  "POST /api/v1/deliveries/query": [401, 200, 200],
  "GET /api/v1/deliveries/schema": [401, 200, 200],
  "GET /api/v1/deliveries/meta": [401, 200, 200],
  "POST /api/v1/payments/pay": [401, 400, 400],
  "GET /api/v1/payments/:payment_id": [401, 404, 404],
  "GET /api/v1/payments/methods": [200, 200, 200],
  "GET /api/v2/users": [401, 200, 200],
  "GET /api/v2/users/:user_id": [401, 404, 404],
  "POST /api/v2/users": [401, 403, 400],
  "POST /api/v1/token": [400, 400, 400],
  "POST /api/v1/token/revoke": [400, 400, 400],
  "GET /api/v1/token/sessions": [401, 200, 200],
  "DELETE /api/v1/token/sessions/:id": [401, 200, 200],
  // Routes that are not registered.
  "GET /.well-known/jwks.json": [200, 200, 200],
  "GET /openapi.json": [200, 200, 200],
  "GET /docs": [200, 200, 200],
  "GET /redoc": [200, 200, 200],
  "GET /explorer": [200, 200, 200],
  "GET /explorer/openapi.json": [401, 403, 200],
  "GET /": [302, 302, 302]
}

const unregistered = new Set([
  signed,
  "GET /.well-known/jwks.json",
  "GET /openapi.json",
  "GET /docs",
  "GET /redoc",
  "GET /explorer",
  "GET /explorer/openapi.json",
  "GET /"
])

/** Routes by layers of the program, and those of files, which have the grants of their documents. */
const undescribed = new Set([
  "GET /.well-known/jwks.json",
  "GET /",
  "GET /api/v1/products/:id/picture",
  "POST /api/v1/products/:id/picture/address",
  signed
])

/** The routes of the registrations, and those of the document. */
const registered = (): ReadonlyArray<string> => {
  const served = engine.registrations.flatMap((registration) => [
    ...registration._tag === "Service"
      ? []
      : endpointsOf(registration).map(({ method, path }) => `${method} ${registration.path}${path}`),
    ...registration.calls.map(({ method, path }) => `${method} ${path}`)
  ])
  const { paths } = OpenApi.make(engine, { title: "Shop", version: "1.0.0" })
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/gu, ":$1")}`)
  )
  return [...new Set([...served, ...documented].map((route) => route.replace(/(?<=.)\/$/u, "")))]
}

type Who = "nobody" | "user" | "admin" | "invalid"

interface Sent {
  readonly name: string
  readonly headers: { readonly [name: string]: string }
  readonly who: Who
}

const password = "analytical engine"

/** Credentials of every kind. Passwords are sent if they are asked for. */
const credentials = Effect.fnUntraced(function*(baseUrl: string, withPasswords: boolean) {
  const users = yield* Repository.for(User)
  const keys = yield* ApiKeys.ApiKeys
  const email = (name: string) => `${name}@example.com`
  const account = Effect.fnUntraced(function*(name: string) {
    return yield* users.insert(yield* Model.finalise(User, { name, email: email(name), password, roles: ["admin"] }))
  })
  const [boss, , gone] = yield* Effect.forEach(["boss", "left", "gone"], account)
  const signedIn = (name: string) => signIn(baseUrl, email(name), password)
  const token = (body: object) => request(baseUrl, "POST /api/v1/token", body)

  const signedOut = yield* signedIn("left")
  yield* request(baseUrl, "POST /api/v1/token/revoke", { token: signedOut.access_token })
  const first = yield* signedIn("left")
  const refresh = { grant_type: "refresh_token", refresh_token: first.refresh_token }
  const renewed = (yield* token(refresh)).body
  assert.strictEqual((yield* token(refresh)).status, 400)
  const deleted = yield* signedIn("gone")
  yield* users.deleteMany(($) => $.email.equals(email("gone")))

  const owner = boss!.id
  const key = yield* keys.generate({ owner, roles: ["admin"] })
  const keyOfGone = yield* keys.generate({ owner: gone!.id, roles: ["admin"] })
  const revokedKey = yield* keys.generate({ owner, roles: ["admin"] })
  yield* keys.revoke(revokedKey.id)
  const expiredKey = yield* keys.generate({ owner, roles: ["admin"], expiresIn: "1 millis" })
  yield* TestClock.adjust("1 second")

  const own = yield* tokens(yield* ownSigner)
  const sent = (name: string, who: Who, headers: Sent["headers"]): Sent => ({ name, who, headers })
  const ofKey = ({ key }: typeof expiredKey) => ({ "x-api-key": Redacted.value(key) })
  const all: ReadonlyArray<Sent> = [
    sent("none", "nobody", {}),
    ...own.map(([name, text, proof]) => sent(name, "subject" in proof ? "user" : "invalid", bearer(text))),
    sent("a token of a sign-in", "admin", bearer((yield* signedIn("boss")).access_token)),
    sent("a token that is signed out", "invalid", bearer(signedOut.access_token)),
    sent("a token of a refresh token that came twice", "invalid", bearer(renewed.access_token)),
    sent("the token before it", "invalid", bearer(first.access_token)),
    sent("a token of a deleted user", "invalid", bearer(deleted.access_token)),
    sent("a refresh token as a token", "invalid", bearer(first.refresh_token)),
    ...withPasswords ?
      [
        sent("a name and a password", "admin", { authorization: basic(`${email("boss")}:${password}`) }),
        sent("a wrong password", "invalid", { authorization: basic(`${email("boss")}:no`) }),
        sent("a deleted user's password", "invalid", { authorization: basic(`${email("gone")}:${password}`) })
      ] :
      [],
    sent("a key", "admin", ofKey(key)),
    sent("a deleted user's key", "invalid", ofKey(keyOfGone)),
    sent("a revoked key", "invalid", ofKey(revokedKey)),
    sent("an expired key", "invalid", ofKey(expiredKey))
  ]
  return all
})

const statusFor = (who: Who, [nobody, user, admin]: Row): number =>
  who === "nobody" ? nobody : who === "user" ? user : who === "admin" ? admin : 401

const anyNumber = { limit: 10_000, window: "1 minute" } as const

const served = (store: FreshStore) =>
  engine.layerServe.pipe(
    Layer.provide(payments),
    Layer.provideMerge(
      Layer.mergeAll(
        shop("RS256"),
        ApiKeys.layer,
        // Wrong passwords are slowed elsewhere.
        Layer.provide(accounts, SignInAttempts.layerWith({ perAccount: anyNumber, perAddress: anyNumber }))
      )
    ),
    Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 })),
    Layer.provideMerge(Layer.merge(store, quickHashes))
  )

routeStores((name, store) =>
  it.layer(served(store))(`Every route of the shop / ${name}`, (it) => {
    it.effect("is in the table", () =>
      Effect.sync(() => {
        const expected = Object.keys(table).filter((route) => !unregistered.has(route))
        assert.deepStrictEqual(expected.toSorted(), registered().toSorted())
      }))

    it.effect("is printed, if the engine has it, and each printed one is a route", () =>
      Effect.gen(function*() {
        const baseUrl = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
        const printed = new Set(engine.policy.entries.map(({ endpoint }) => endpoint))
        assert.deepStrictEqual(
          [...printed].toSorted(),
          Object.keys(table).filter((route) => !undescribed.has(route)).toSorted()
        )
        for (const line of printed) {
          const { body, status } = yield* request(baseUrl, line.replace(/:\w+/u, "U1"))
          assert.notStrictEqual(status, 405, line)
          if (status === 404) assert.notMatch(body.message, /^There is nothing at /u, line)
        }
      }))

    it.effect("answers to all credentials as the table says", () =>
      Effect.gen(function*() {
        const baseUrl = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
        // The same code verifies them for each store: on a server, each route is sent one of each sort by turns.
        const isWhole = name === "memory"
        const all = yield* credentials(baseUrl, isWhole)
        assert.isAtLeast(all.length, 27)
        const sorts = Object.values(Object.groupBy(all, ({ who }) => who))
        for (const [turn, [route, row]] of Object.entries(table).entries()) {
          const sent = isWhole ? all : sorts.map((sort) => sort[turn % sort.length]!)
          // Who may begin a stream may read on, which takes long on some servers.
          const line = route.replace(/:\w+/u, "U1").replace(/\/changes$/u, "$&?offset=now").replace(
            "v1/changes?",
            "$&watch=products&"
          )
          const body = /^(?:POST|PUT|PATCH)/u.test(line) ? {} : undefined
          const differences = yield* Effect.forEach(sent, ({ headers, name, who }) =>
            Effect.map(
              request(baseUrl, line, body, headers),
              ({ status }) =>
                status === statusFor(who, row) ? [] : [`${name}: ${status} and not ${statusFor(who, row)}`]
            ), {
            concurrency: 8
          })
          assert.deepStrictEqual(differences.flat(), [], route)
        }
      }))
  })
)
