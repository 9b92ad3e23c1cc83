/** Calls a service of another origin, and shows what a script can read: `test/Http/routes/CorsInBrowser.test.ts` bundles it. */
import { KernelApi, KernelClient, Model, Validator } from "appkernel"
import { Cause, Effect, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"

export class Memo extends Model.Class<Memo>()("Memo", {
  id: Model.id({ prefix: "M" }),
  text: Schema.String.pipe(Validator.notEmpty),
  ...Model.versioned
}) {}

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const api = KernelApi.make("memos").register(Memo, { methods }).enableSecurity().enableRateLimits()

const readable = ["etag", "location", "x-total-count", "retry-after", "ratelimit", "ratelimit-policy"]

/** The names of the headers that the script could read, of those that it looks for. */
const shown = ({ headers, status }: HttpClientResponse.HttpClientResponse) =>
  [status, ...readable.filter((name) => headers[name] !== undefined)].join(" ")

const program = Effect.gen(function*() {
  const baseUrl = new URLSearchParams(location.search).get("service") ?? ""
  const anonymous = yield* KernelClient.make(api, { baseUrl })
  const unauthorized = yield* Effect.flip(anonymous.memos.list())
  const { memos } = yield* KernelClient.make(api, {
    baseUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-gateway-user", "jane"))
  })
  const responseMode = "decoded-and-response"
  const [{ result: id }, created] = yield* memos.create({ payload: { text: "milk" }, responseMode })
  const [page, listed] = yield* memos.list({ query: { text: "milk" }, responseMode })
  const [memo, read] = yield* memos.get({ params: { id }, responseMode })
  const ifMatch = { "if-match": read.headers["etag"] ?? "" }
  const [, replaced] = yield* memos.replace({
    params: { id },
    payload: { text: "oat milk" },
    headers: { ...ifMatch, prefer: "return=representation" },
    responseMode
  })
  const stale = yield* Effect.flip(memos.patch({ params: { id }, payload: { text: "bread" }, headers: ifMatch }))
  const unchanged = yield* Effect.flip(
    memos.get({ params: { id }, headers: { "if-none-match": replaced.headers["etag"] ?? "" } })
  )
  const deleted = yield* memos.delete({ params: { id }, responseMode: "response-only" })
  const cookie = yield* HttpClient.get(`${baseUrl}/cookie`)
  const limited = yield* Effect.flip(Effect.forever(memos.list()))
  const response = yield* memos.list({ responseMode: "response-only" })
  return [
    unauthorized._tag,
    ...[created, listed, read, replaced].map((answer) => shown(answer)),
    `${page._items.length} ${memo.text}`,
    stale._tag,
    unchanged._tag,
    shown(deleted),
    yield* cookie.text,
    limited._tag,
    shown(response)
  ]
})

if ("document" in globalThis) {
  Effect.runFork(program.pipe(
    Effect.catchCause((cause) => Effect.succeed([Cause.pretty(cause)])),
    Effect.map((lines) => {
      document.body.innerHTML = `<pre id="shown">${lines.join("\n")}</pre>`
    }),
    // Cookies are sent to another origin only if a script asks for it.
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.RequestInit, { credentials: "include" })
  ))
}
