/** Uses the shop from a browser, and shows what came of it: `test/examples/shopInBrowser.test.ts` bundles it. */
import { KernelApi, KernelClient } from "appkernel"
import { Cause, Effect, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { UsersApi } from "../../examples/shop/descriptions/Users.ts"
import { Product } from "../../examples/shop/models/Product.ts"

const api = KernelApi.make("shop")
  .register(UsersApi, { urlBase: "/api/v1" })
  .register(Product, { urlBase: "/api/v1", methods: ["GET", "POST"] })

const program = Effect.gen(function*() {
  const client = yield* KernelClient.make(api, { baseUrl: location.origin })
  const { result: id } = yield* client.users.create({
    payload: { name: "Jane Doe", email: "jane@example.com", password: "correct horse" }
  })
  const change = (current: string) =>
    client.users.change_password({
      params: { id },
      payload: { current_password: Redacted.make(current), new_password: Redacted.make("battery staple") }
    })
  const wrong = yield* Effect.flip(change("wrong password"))
  const { result: changed } = yield* change("correct horse")
  const missing = yield* Effect.flip(client.products.get({ params: { id: Product.fields.id.make("P-none") } }))
  yield* client.products.create({
    payload: { code: "LMP-0001", name: "Lamp", price: 40, currency: "CHF", stock: 3 }
  })
  const { _items: [lamp] } = yield* client.products.list({ query: { sort_by: "price" } })
  return [
    wrong._tag,
    changed,
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
