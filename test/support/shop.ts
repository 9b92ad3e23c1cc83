/** The example shop with its users, who sign in as the world does. */
import { Effect, Layer, Redacted } from "effect"
import { User } from "../../examples/shop/models/User.ts"
import { paymentProvider } from "../../examples/shop/payments.ts"
import { Accounts, type DocumentStore, HttpClientFactory, Jwt } from "../../src/index.ts"
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

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // The tests look into bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Sends a request to the shop; a body is sent as JSON. */
export const request = (
  baseUrl: string,
  line: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = {}
) =>
  Effect.promise(async (): Promise<Reply> => {
    const [method = "", path = ""] = line.split(" ", 2)
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? null : JSON.stringify(body)
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  })

/** Signs in by name and password. */
export const signIn = (baseUrl: string, username: string, password: string) =>
  Effect.map(
    request(baseUrl, "POST /api/v1/token", { grant_type: "password", username, password }),
    ({ body }): { readonly access_token: string; readonly refresh_token: string } => body
  )
