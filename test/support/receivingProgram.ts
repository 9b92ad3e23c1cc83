/** Gets a body from `URL`, and prints how many characters it has. */
import { Effect } from "effect"
import * as HttpClientFactory from "../../src/Client/HttpClientFactory.ts"

const program = Effect.gen(function*() {
  const proxy = yield* HttpClientFactory.get(process.env["URL"] ?? "")
  const [, body] = yield* proxy.wrap("things").get()
  console.log(`Received ${(JSON.stringify(body).match(/x/gu) ?? []).length}`)
})

await Effect.runPromise(Effect.provide(program, HttpClientFactory.layer))
