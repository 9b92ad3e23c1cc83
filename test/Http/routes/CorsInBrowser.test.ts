/** The typed client in a page of another origin than the service. */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as path from "node:path"
import {
  Authenticated,
  Authentication,
  EmbeddedStore,
  KernelEngine,
  KernelServer,
  Resource
} from "../../../src/index.ts"
import { bundledForBrowser, inBrowser } from "../../support/browser.ts"
import { Memo, methods } from "../../support/otherOriginInBrowser.ts"

const root = path.join(import.meta.dirname, "../../..")

const gateway = Authentication.make({
  id: "gateway",
  header: "X-Gateway-User",
  challenge: { scheme: "Gateway" },
  verify: (credentials) => Effect.succeed({ subject: Redacted.value(credentials), roles: [], claims: {} })
})

const engine = KernelEngine.make("memos")
  .register(Resource.make(Memo, { methods }).require(Authenticated))
  .enableSecurity()
  .enableRateLimits({ perAddress: { limit: 30, window: "1 day" } })
  .use(HttpRouter.add(
    "GET",
    "/cookie",
    Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ cookies }) => HttpServerResponse.text(cookies["taste"] ?? "none")
    )
  ))

/** A server of nothing but a page, and its origin. */
const pageServer = (code: string) =>
  Effect.gen(function*() {
    const routes = Layer.merge(
      HttpRouter.add(
        "GET",
        "/",
        HttpServerResponse.html(`<!doctype html><script type="module" src="/page.js"></script>`)
      ),
      HttpRouter.add("GET", "/page.js", HttpServerResponse.text(code, { contentType: "text/javascript" }))
    )
    const server = KernelServer.layerWith({ address: "127.0.0.1", port: 0 })
    const context = yield* Layer.build(HttpRouter.serve(routes).pipe(Layer.provideMerge(server)))
    return yield* Effect.provideContext(HttpServer.addressFormattedWith((address) => Effect.succeed(address)), context)
  })

inBrowser("Cors / browser", (open) => {
  it.live(
    "lets a page of another origin use the typed client, with its credentials and all headers",
    () =>
      Effect.gen(function*() {
        const { builtins, code } = yield* bundledForBrowser(path.join(root, "test/support/otherOriginInBrowser.ts"))
        assert.deepStrictEqual(builtins, [])
        const origin = yield* pageServer(code)
        const { baseUrl } = yield* engine.test({
          store: Layer.mergeAll(EmbeddedStore.layerMemory, Authentication.layer(gateway))
        }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({
          env: { APPKERNEL_CORS_ORIGINS: origin, APPKERNEL_CORS_CREDENTIALS: "true" }
        }))))
        assert.notStrictEqual(origin, baseUrl)
        const browser = yield* open
        yield* Effect.promise(() => browser.addCookies([{ name: "taste", value: "sweet", url: baseUrl }]))
        const page = yield* Effect.promise(() => browser.newPage())
        const problems: Array<string> = []
        page.on("console", (line) => problems.push(line.text()))
        yield* Effect.promise(() => page.goto(`${origin}/?service=${baseUrl}`))
        const shown = yield* Effect.promise(() => page.locator("#shown").innerText())
        const limits = "ratelimit ratelimit-policy"
        assert.deepStrictEqual(shown.split("\n"), [
          "Unauthorized",
          `201 etag location ${limits}`,
          `200 x-total-count ${limits}`,
          `200 etag ${limits}`,
          `200 etag ${limits}`,
          "1 milk",
          "PreconditionFailed",
          "NotModified",
          `200 ${limits}`,
          "sweet",
          "TooManyRequests",
          `429 retry-after ${limits}`
        ], problems.join("\n"))
      })
  )
})
