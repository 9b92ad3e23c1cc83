/** Calls `URL` as often as `CALLS` says, each for 100 ms, and ends. */
import { Effect } from "effect"
import * as HttpClientFactory from "../../src/Client/HttpClientFactory.ts"

const { CALLS: calls = "1", URL: url = "" } = process.env

const program = Effect.gen(function*() {
  const proxy = yield* HttpClientFactory.get(url)
  const call = Effect.flip(proxy.wrap("things").get())
  const failures = yield* Effect.all(Array.from({ length: Number(calls) }, () => call), { concurrency: "unbounded" })
  console.log([...new Set(failures.map((failure) => "reason" in failure ? failure.reason._tag : failure._tag))].join())
})

await Effect.runPromise(
  Effect.provide(program, HttpClientFactory.layerWith({ connectTimeout: "100 millis", shutdownTimeout: "1 second" }))
)
