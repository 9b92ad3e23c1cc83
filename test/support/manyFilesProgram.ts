/** Calls `URL` while all file descriptors of the process are taken, and again, twice; prints how the calls ended. */
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
  const taken: Array<number> = []
  const ended: Array<string> = []
  // The first call loads what calls need, and the third needs a connection alone.
  for (let i = 0; i < 2; i++) {
    yield* Effect.ignore(Effect.forever(Effect.try(() => taken.push(fs.openSync("/dev/null", "r")))))
    ended.push(yield* call)
    for (const file of taken.splice(0)) fs.closeSync(file)
    ended.push(yield* call)
  }
  console.log(ended.join(", "))
})

await Effect.runPromise(Effect.provide(program, HttpClientFactory.layerWith({ maxKeepaliveConnections: 0 })))
