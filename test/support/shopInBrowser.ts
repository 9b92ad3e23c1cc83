/** Uses the shop from a browser, and shows what came of it: `test/examples/shopInBrowser.test.ts` bundles it. */
import { Credentials, KernelApi, KernelClient, TokensApi } from "appkernel"
import { Cause, Effect, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { UsersApi } from "../../examples/shop/descriptions/Users.ts"
import { Product } from "../../examples/shop/models/Product.ts"
import { User } from "../../examples/shop/models/User.ts"

const api = KernelApi.make("shop")
  .register(UsersApi, { urlBase: "/api/v1" })
  .register(Product, { urlBase: "/api/v1", methods: ["GET", "POST"] })
  .register(TokensApi.description, { urlBase: "/api/v1" })
  .enableSecurity()

/** A client that signs in at the service's address for it. */
const clientOf = (username: string, password: string) =>
  KernelClient.make(api, {
    baseUrl: location.origin,
    credentials: Credentials.tokens({
      path: "/api/v1/token",
      account: { username, password: Redacted.make(password) }
    })
  })

const program = Effect.gen(function*() {
  const anonymous = yield* KernelClient.make(api, { baseUrl: location.origin })
  const { result: id } = yield* anonymous.users.create({
    payload: { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }
  })
  const unauthorized = yield* Effect.flip(anonymous.users.get({ params: { id } }))
  const client = yield* clientOf("jane@example.com", "correct horse")
  const change = (current: string) =>
    client.users.change_password({
      params: { id },
      payload: { current_password: Redacted.make(current), new_password: Redacted.make("battery staple") }
    })
  const wrong = yield* Effect.flip(change("wrong password"))
  const { result: changed } = yield* change("correct horse")
  const { refresh_token } = yield* anonymous.tokens.token({
    payload: { grant_type: "password", username: "jane@example.com", password: Redacted.make("battery staple") }
  })
  yield* anonymous.tokens.revoke({ payload: { token: refresh_token } })
  const ended = yield* Effect.flip(
    anonymous.tokens.token({ payload: { grant_type: "refresh_token", refresh_token } })
  )
  const missing = yield* Effect.flip(client.products.get({ params: { id: Product.fields.id.make("P-none") } }))
  const forbidden = yield* Effect.flip(client.users.get({ params: { id: User.fields.id.make("U-other") } }))
  const admin = yield* clientOf("admin@shop.example", "maple meadow")
  yield* admin.products.create({
    payload: { code: "LMP-0001", name: "Lamp", price: 40, currency: "CHF", stock: 3 }
  })
  const { _items: [lamp] } = yield* client.products.list({ query: { sort_by: "price" } })
  return [
    unauthorized._tag,
    forbidden._tag,
    wrong._tag,
    changed,
    ended._tag,
    missing._tag,
    // A date-time, not the text that was sent.
    `${lamp?.name}: ${lamp?.added.epochMilliseconds === undefined ? "no date" : "a date"}`
  ]
})

const shown = program.pipe(
  Effect.catchCause((cause) => Effect.succeed([Cause.pretty(cause)])),
  Effect.map((lines) => {
    document.body.innerHTML = `<pre id="shown">${lines.join("\n")}</pre>`
  }),
  Effect.provide(FetchHttpClient.layer)
)

Effect.runFork(shown)
