/** Calls `URL` while all file descriptors of the process are taken, and again; prints how both calls ended. */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as HttpClientFactory from "../../src/Client/HttpClientFactory.ts"

const program = Effect.gen(function*() {
  const proxy = yield* HttpClientFactory.get(process.env["URL"] ?? "", {
    circuitBreaker: { failureThreshold: 1, recoveryTimeout: "1 minute" }
  })
  const call = Effect.match(proxy.wrap("things").get(), {
    onSuccess: () => "answered",
    onFailure: (error) => "reason" in error ? error.reason._tag : error._tag
  })
  // What a call loads is loaded.
  yield* Effect.scoped(HttpClientFactory.get("http://127.0.0.1:9"))
  const taken: Array<number> = []
  yield* Effect.ignore(Effect.forever(Effect.try(() => taken.push(fs.openSync("/dev/null", "r")))))
  const first = yield* call
  for (const file of taken) fs.closeSync(file)
  console.log(`${first}, then ${yield* call}`)
})

await Effect.runPromise(Effect.provide(program, HttpClientFactory.layer))
