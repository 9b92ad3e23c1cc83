import { Credentials, KernelClient } from "appkernel"
import { DateTime, Effect, Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { api } from "./api.ts"

const [form] = document.forms
const [list] = document.getElementsByTagName("ul")
const [message] = document.getElementsByTagName("output")

const say = (text: string) => Effect.sync(() => message?.replaceChildren(text))

let client = KernelClient.make(api, { baseUrl: location.origin })

const showBooks = Effect.gen(function*() {
  const { books } = yield* client
  const { _items } = yield* books.list({ query: { sort_by: "title", page_size: 100 } })
  list?.replaceChildren(..._items.map(({ author, id, on_shelf, title }) => {
    const [item, button] = [document.createElement("li"), document.createElement("button")]
    button.append("Borrow")
    button.addEventListener("click", () => run(borrow(id)))
    item.append(`${title} by ${author}, ${on_shelf} on the shelf `, button)
    return item
  }))
})

const borrow = Effect.fnUntraced(
  function*(id: string) {
    const { books } = yield* client
    const { due } = yield* books.borrow({ params: { id } })
    yield* say(`Yours until ${DateTime.formatIsoDateUtc(due)}`)
    yield* showBooks
  },
  // The errors that the contract declares are known here, each with its fields.
  Effect.catchTags({
    NoCopyLeft: ({ message }) => say(message),
    Unauthorized: () => say("Sign in first")
  })
)

const signIn = Effect.fnUntraced(function*(username: string, password: string) {
  const account = { username, password: Redacted.make(password) }
  const credentials = Credentials.tokens({ path: "/api/v1/token", account })
  client = KernelClient.make(api, { baseUrl: location.origin, credentials })
  const { loans } = yield* client
  const { _items } = yield* loans.list({ query: { returned: "null" } })
  yield* say(`Welcome. Books that you have: ${_items.length}`)
})

/** Runs an effect. What it does not expect, such as a network that is down, is shown, too. */
const run = <A>(effect: Effect.Effect<A, Error, HttpClient.HttpClient>) =>
  Effect.runFork(effect.pipe(Effect.catch((error) => say(error.message)), Effect.provide(FetchHttpClient.layer)))

form?.addEventListener("submit", (event) => {
  event.preventDefault()
  const [email, password] = form.getElementsByTagName("input")
  run(signIn(email?.value ?? "", password?.value ?? ""))
})
run(showBooks)
