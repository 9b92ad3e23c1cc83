import { DocumentStore, KernelServer } from "appkernel"
import { Console, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { engine } from "./engine.ts"

/** Says where the service is, and what to try next, once it listens. */
const announce = Effect.gen(function*() {
  const base = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
  const { description } = yield* DocumentStore.DocumentStore
  const endpoints = engine.registrations.flatMap((registration) =>
    registration._tag === "Resource"
      ? [`  ${base}${registration.path}  ${registration.methods.join(", ")}`]
      : registration.calls.map(({ method, path }) => `  ${base}${path}  ${method}`)
  )
  yield* Console.log(
    [
      "",
      `The shop is open at ${base}, its documents are in ${description}.`,
      "",
      ...endpoints,
      "",
      "Try next:",
      `  curl '${base}/api/v1/products?page_size=3&sort_by=price'`,
      `  curl '${base}/api/v1/products?price=<50&tags=~kitchen&sort_by=price&fields=name,price'`,
      `  curl '${base}/api/v1/products/schema'`,
      "",
      "Sign up, sign in, and see yourself:",
      `  curl -H 'content-type: application/json' '${base}/api/v1/users' \\`,
      `    -d '{"name": "Ada Lovelace", "email": "ada@example.com", "password": "analytical engine"}'`,
      `  TOKEN=$(curl -s '${base}/api/v1/token' -d grant_type=password -d username=ada@example.com \\`,
      `    -d 'password=analytical engine' | node -pe 'JSON.parse(fs.readFileSync(0)).access_token')`,
      `  curl -H "authorization: Bearer $TOKEN" '${base}/api/v1/users'`,
      "",
      "Order something, and see your orders with their products, and how one went:",
      `  PRODUCT=$(curl -s '${base}/api/v1/products?page_size=1' | node -pe 'JSON.parse(fs.readFileSync(0))._items[0].id')`,
      `  ORDER=$(curl -s -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' '${base}/api/v1/orders' \\`,
      `    -d '{"lines": [{"product": "'$PRODUCT'", "quantity": 1}]}' \\`,
      `    | node -pe 'JSON.parse(fs.readFileSync(0)).result')`,
      `  curl -H "authorization: Bearer $TOKEN" '${base}/api/v1/orders?expand=lines.product'`,
      `  curl -H "authorization: Bearer $TOKEN" "${base}/api/v1/orders/$ORDER/revisions"`,
      "",
      `  a browser at ${base}/docs`,
      `  one at ${base}/explorer, for the administrator`,
      `  and one at ${base}/stock, which shows what is in stock as it is now`,
      ""
    ].join("\n")
  )
})

export const welcome = Layer.effectDiscard(KernelServer.whenListening(Effect.orDie(announce)))
