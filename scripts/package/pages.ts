/** A service whose pages need files that the package brings beside its code. */
import { KernelEngine } from "appkernel"
import { Effect } from "effect"

const engine = KernelEngine.make("notes").enableOpenApi({ title: "Notes", version: "1" })

const program = Effect.gen(function*() {
  const { baseUrl } = yield* engine.test()
  for (const page of ["/openapi.json", "/docs", "/redoc", "/docs/swagger-ui.js", "/redoc/redoc.js"]) {
    const { status } = yield* Effect.promise(() => fetch(baseUrl + page))
    if (status !== 200) return yield* Effect.die(new Error(`${page} is answered ${status}`))
  }
})

await Effect.runPromise(Effect.scoped(program))
