/** The example shop with its users, who sign in as the world does. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { User } from "../../examples/shop/models/User.ts"
import { paymentProvider } from "../../examples/shop/payments.ts"
import { Accounts, type DocumentStore, HttpClientFactory, Jwt } from "../../src/index.ts"
import { bearer, type Headers, sendTo } from "./rest.ts"
import { shop as keysOfShop } from "./tokens.ts"

export const accounts = Accounts.fromModel(User, { login: "email", secret: "password" })

/** The service that takes payments, on a port and with a client of its own, and with its documents in the shop's store. */
export const payments = Layer.fresh(Layer.provide(paymentProvider, HttpClientFactory.layer))

/** What the shop needs, for `engine.test`. */
export const surroundings = <E>(store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  Layer.fresh(Layer.mergeAll(Layer.provideMerge(payments, store), Jwt.layer, accounts))

/** What the shop needs beside a store, for servers that tests put together. */
export const credentials = Layer.merge(keysOfShop("ES256"), accounts)

/** A header with a token of an administrator. No account stands behind it. */
export const administrator = Effect.gen(function*() {
  const { sign } = yield* Jwt.Jwt
  return bearer(Redacted.value(yield* sign({ subject: "U-admin", roles: ["admin"], expiresIn: "1 hour" })))
})

/** Sends a request to the shop: `GET /products`. */
export const request = (baseUrl: string, line: string, body?: unknown, headers?: Headers) => {
  const [method = "", path = ""] = line.split(" ", 2)
  return sendTo(baseUrl, method, path, body, headers)
}

/** Signs in by name and password. */
export const signIn = (baseUrl: string, username: string, password: string) =>
  Effect.map(
    request(baseUrl, "POST /api/v1/token", { grant_type: "password", username, password }),
    ({ body, status, text }): { readonly access_token: string; readonly refresh_token: string } => {
      assert.strictEqual(status, 200, text)
      return body
    }
  )
