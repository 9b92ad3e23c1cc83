import { DocumentStore, KernelConfig, KernelServer } from "appkernel"
import { Console, Effect, Layer } from "effect"
import { engine } from "./engine.ts"

/** Says where the service is, and what to try next, once it listens. */
const announce = Effect.gen(function*() {
  const { address, port } = yield* KernelConfig.serverAddress
  const { description } = yield* DocumentStore.DocumentStore
  const base = `http://${address.includes(":") ? `[${address}]` : address}:${port}`
  const resources = engine.registrations.map((registration) =>
    `  ${base}${registration.path}  ${
      registration._tag === "Resource"
        ? registration.methods.join(", ")
        : registration.calls.map(({ name }) => name).join(", ")
    }`
  )
  yield* Console.log(
    [
      "",
      `The shop is open at ${base}, its documents are in ${description}.`,
      "",
      ...resources,
      "",
      "Try next:",
      `  curl '${base}/api/v1/products?page_size=3&sort_by=price'`,
      `  curl '${base}/api/v1/products/schema'`,
      `  curl -H 'content-type: application/json' '${base}/api/v1/users' \\`,
      `    -d '{"name": "Ada Lovelace", "email": "ada@example.com", "password": "analytical engine"}'`,
      `  curl '${base}/api/v1/users?email=ada@example.com'`,
      `  curl '${base}/api/v1/products?price=<50&tags=~kitchen&sort_by=price&fields=name,price'`,
      `  a browser at ${base}/docs`,
      ""
    ].join("\n")
  )
})

export const welcome = Layer.effectDiscard(KernelServer.whenListening(Effect.orDie(announce)))
