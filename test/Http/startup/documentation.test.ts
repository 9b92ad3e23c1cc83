import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import type { Page } from "playwright-core"
import { engine as shop } from "../../../examples/shop/engine.ts"
import * as OpenApi from "../../../src/Http/OpenApi.ts"
import * as Documentation from "../../../src/Http/startup/documentation.ts"
import {
  Accounts,
  Authenticated,
  Converter,
  CurrentUser,
  EmbeddedStore,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Service,
  Tokens
} from "../../../src/index.ts"
import { inBrowser } from "../../support/browser.ts"
import { Note, User } from "../../support/models.ts"
import { credentials, payments } from "../../support/shop.ts"

const engine = KernelEngine.make("documented")
  .register(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Note)

const document = OpenApi.make(engine, { title: "Shop & <Co>", version: "1.0.0" })

const operations = Object.values(document.paths).flatMap((item) => Object.values(item))

const add = (routes: ReadonlyArray<Documentation.DocumentationRoute>) => (router: HttpRouter.HttpRouter) =>
  router.addAll(routes.map(({ handler, method, path }) => HttpRouter.route(method, path, handler)))

const served = engine.use(
  HttpRouter.use((router) =>
    Effect.flatMap(Documentation.routes(Effect.succeed(document)), (routes) => add(routes)(router))
  )
).layerServe.pipe(Layer.provide(EmbeddedStore.layerMemory), Layer.provideMerge(NodeHttpServer.layerTest))

const mounted = (routes: ReadonlyArray<Documentation.DocumentationRoute>) =>
  HttpRouter.serve(HttpRouter.use((router) => add(routes)(router)), { disableLogger: true, disableListenLog: true })
    .pipe(
      Layer.provideMerge(NodeHttpServer.layerTest)
    )

/** Opens a path of the server, and listens to all that the page asks for and complains of. */
const visit = Effect.fnUntraced(function*(context: { readonly newPage: () => Promise<Page> }, path: string) {
  const { address } = yield* HttpServer.HttpServer
  return yield* visitAt(`http://localhost:${"port" in address ? address.port : 0}`, context, path)
})

const visitAt = Effect.fnUntraced(function*(
  origin: string,
  context: { readonly newPage: () => Promise<Page> },
  path: string
) {
  const page = yield* Effect.promise(() => context.newPage())
  const requests: Array<string> = []
  const problems: Array<string> = []
  page.on("request", (request) => {
    if (!/^(?:data|blob):/u.test(request.url())) requests.push(request.url())
  })
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text())
  })
  page.on("pageerror", (error) => problems.push(error.message))
  yield* Effect.promise(() =>
    page.addInitScript(`addEventListener("securitypolicyviolation", (event) => {
      console.error("CSP: " + event.violatedDirective + " " + event.blockedURI)
    })`)
  )
  yield* Effect.promise(() => page.goto(`${origin}${path}`))
  const left = yield* Effect.promise(() =>
    page.evaluate("document.querySelector('#documentation').getBoundingClientRect().x")
  )
  assert.strictEqual(left, 0, "the page has a frame around it")
  return { origin, page, problems, requests }
})

class Account extends Model.Class<Account>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}

const accounts = Accounts.fromModel(Account, { login: "email", secret: "password" })

const secured = KernelEngine.make("secured")
  .register(Account)
  .register(
    Service.make("WhoAmIService").operation(
      "whoami",
      { path: "/whoami", success: Schema.String, require: Authenticated },
      () => Effect.map(CurrentUser, ({ subject }) => subject)
    )
  )
  .register(Tokens.service, { urlBase: "/api/v1" })
  .enableSecurity()
  .enableOpenApi({ title: "Secured", version: "1.0.0" })

const shopServed = shop.layerServe.pipe(
  Layer.provide([payments, credentials]),
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provide(EmbeddedStore.layerMemory)
)

inBrowser("Documentation / browser", (open) => {
  it.layer(shopServed)("of the shop", (it) => {
    it.effect(
      "has no warnings in its schemas and samples, which have no generated identifiers",
      () =>
        Effect.gen(function*() {
          const { page, problems } = yield* visit(yield* open, "/redoc")
          yield* Effect.promise(() => page.waitForSelector("[data-section-id]"))
          const product = page.locator("[id='operation/products.create']")
          const sample = yield* Effect.promise(() => product.locator("pre, .redoc-json").first().innerText())
          assert.include(sample, "\"AAA-0000\"")
          assert.notInclude(sample, "\"id\"")
          assert.deepStrictEqual(problems, [])
        })
    )
  })

  it.live("/docs signs in with a name and a password, and calls as the user", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* secured.test({
        store: Layer.mergeAll(EmbeddedStore.layerMemory, Jwt.layer, accounts)
      })
      const { users } = repositories
      const jane = yield* users.save(
        yield* Model.finalise(Account, { email: "jane@example.com", password: "correct horse" })
      )
      const { page, problems } = yield* visitAt(baseUrl, yield* open, "/docs")
      const call = (status: RegExp) =>
        Effect.gen(function*() {
          const operation = page.locator("[id$='whoami']")
          yield* Effect.promise(() => operation.getByRole("button", { name: "Execute" }).click())
          const answer = operation.locator(".live-responses-table")
          yield* Effect.promise(() =>
            answer.locator(".response-col_status").filter({ hasText: status }).first().waitFor()
          )
          return yield* Effect.promise(() => answer.innerText())
        })
      yield* Effect.promise(() => page.locator("[id$='whoami'] .opblock-summary-control").click())
      yield* Effect.promise(() => page.locator("[id$='whoami']").getByRole("button", { name: "Try it out" }).click())
      yield* call(/^401/u)
      // A browser says in its console that a request failed.
      assert.isTrue(problems.every((problem) => problem.includes("401")))
      problems.length = 0
      yield* Effect.promise(() => page.locator(".auth-wrapper button.authorize").first().click())
      const form = page.locator(".auth-container").filter({ hasText: "signIn" }).first()
      const enter = Effect.fnUntraced(function*(password: string) {
        yield* Effect.promise(() => form.locator("#oauth_username").fill("jane@example.com"))
        yield* Effect.promise(() => form.locator("#oauth_password").fill(password))
        yield* Effect.promise(() => form.getByRole("button", { name: "Apply given OAuth2 credentials" }).click())
      })
      yield* enter("correct horse")
      yield* Effect.promise(() => form.getByRole("button", { name: "Remove authorization" }).waitFor())
      yield* Effect.promise(() => page.locator(".btn-done").first().click())
      assert.include(yield* call(/^200/u), jane.id)
      assert.deepStrictEqual(problems, [])
    }))

  it.live("/redoc shows the schemes, and who may call what", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* secured.test({
        store: Layer.mergeAll(EmbeddedStore.layerMemory, Jwt.layer, accounts)
      })
      const { page, problems } = yield* visitAt(baseUrl, yield* open, "/redoc")
      yield* Effect.promise(() => page.waitForSelector("[data-section-id]"))
      const text = yield* Effect.promise(() => page.locator("#documentation").innerText())
      for (const shown of ["signIn", "bearer", "basic", "Who may do this: everybody signed in."]) {
        assert.include(text, shown)
      }
      assert.deepStrictEqual(problems, [])
    }))

  // The tests above open them without the slash.
  it.layer(served)("pages, with a trailing slash as well", (it) => {
    it.effect("/docs/ shows every operation, and executes one", () =>
      Effect.gen(function*() {
        const { page, problems, requests, origin } = yield* visit(yield* open, "/docs/")
        yield* Effect.promise(() => page.waitForSelector(".opblock"))
        const shown = yield* Effect.promise(() => page.$$eval(".opblock", (blocks) => blocks.length))
        assert.strictEqual(shown, operations.length)
        const list = page.locator("[id^='operations-notes-'][id$='list']")
        yield* Effect.promise(() => list.locator(".opblock-summary-control").click())
        yield* Effect.promise(() => list.getByRole("button", { name: "Try it out" }).click())
        yield* Effect.promise(() => list.getByRole("button", { name: "Execute" }).click())
        const status = list.locator(".live-responses-table .response .response-col_status")
        yield* Effect.promise(() => status.waitFor())
        assert.match(yield* Effect.promise(() => status.innerText()), /^200/)
        assert.match(yield* Effect.promise(() => list.locator(".live-responses-table").innerText()), /"_type": "list"/)
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(requests.filter((url) => new URL(url).origin !== origin), [])
        assert.include(requests, `${origin}/openapi.json`)
      }))

    it.effect("/redoc/ shows every operation, and finds one", () =>
      Effect.gen(function*() {
        const { origin, page, problems, requests } = yield* visit(yield* open, "/redoc/")
        yield* Effect.promise(() => page.waitForSelector("[data-section-id]"))
        const text = yield* Effect.promise(() => page.locator("#documentation").innerText())
        for (const { summary } of operations) assert.include(text, summary)
        // The search runs in a worker.
        yield* Effect.promise(() => page.getByPlaceholder("Search...").fill("Replace a User"))
        const found = page.locator("[data-role='search:results'] li").first()
        yield* Effect.promise(() => found.waitFor())
        assert.include(yield* Effect.promise(() => found.innerText()), "Replace a User")
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(requests.filter((url) => new URL(url).origin !== origin), [])
      }))
  })
})

it.layer(served)("Documentation", (it) => {
  it.effect("/openapi.json is the document", () =>
    Effect.gen(function*() {
      const response = yield* HttpClient.get("/openapi.json")
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(yield* response.json, JSON.parse(JSON.stringify(document)))
    }))

  it.effect("scripts and styles are cached for a year, under URLs with their hash", () =>
    Effect.gen(function*() {
      for (const path of ["/docs", "/redoc"]) {
        const page = yield* Effect.flatMap(HttpClient.get(path), ({ text }) => text)
        const urls = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css)\?[^"]+)"/gu)].map(([, url]) => `/${url}`)
        assert.isNotEmpty(urls)
        for (const url of urls) {
          const { headers, status } = yield* HttpClient.get(url)
          assert.strictEqual(status, 200)
          assert.strictEqual(headers["cache-control"], "public, max-age=31536000, immutable")
          assert.include(headers["etag"], new URL(url, "http://localhost").search.slice(1))
          assert.match(headers["content-type"] ?? "", /^text\/(?:javascript|css); charset=utf-8$/)
        }
      }
    }))

  it.effect("a client that has the file gets 304 without a body", () =>
    Effect.gen(function*() {
      for (const path of ["/openapi.json", "/docs", "/docs/swagger-ui.js", "/redoc/redoc.js"]) {
        const { headers } = yield* HttpClient.get(path)
        const again = yield* HttpClient.get(path, { headers: { "if-none-match": headers["etag"] ?? "" } })
        assert.deepStrictEqual([again.status, yield* again.text], [304, ""])
        const other = yield* HttpClient.get(path, { headers: { "if-none-match": "\"other\"" } })
        assert.strictEqual(other.status, 200)
      }
    }))

  it.effect("responses are compressed if the client accepts it", () =>
    Effect.gen(function*() {
      const fetch = (encoding: string) =>
        Effect.flatMap(
          HttpClient.execute(
            HttpClientRequest.get("/docs/swagger-ui.js", { headers: { "accept-encoding": encoding } })
          ),
          (response) =>
            Effect.map(response.arrayBuffer, (body) => ({
              encoding: response.headers["content-encoding"],
              vary: response.headers["vary"],
              body: Buffer.from(body)
            }))
        )
      const compressed = yield* fetch("gzip, br")
      const whole = yield* fetch("gzip;q=0, identity")
      assert.deepStrictEqual([compressed.encoding, whole.encoding], ["gzip", undefined])
      assert.deepStrictEqual([compressed.vary, whole.vary], ["accept-encoding", "accept-encoding"])
      // The client has decompressed it.
      assert.isTrue(compressed.body.equals(whole.body))
    }))

  it.effect("pages load nothing from other origins", () =>
    Effect.gen(function*() {
      for (const path of ["/docs", "/redoc"]) {
        const response = yield* HttpClient.get(path)
        const policy = response.headers["content-security-policy"] ?? ""
        assert.match(policy, /^default-src 'none'; script-src 'self';/)
        assert.notMatch(policy, /https?:|unsafe-eval|\*/)
        assert.notMatch(yield* response.text, /https?:/)
      }
    }))
})

it.effect("without pages, the document is still served", () =>
  Effect.gen(function*() {
    const routes = yield* Documentation.routes(Effect.succeed(document), { includeDocs: false })
    assert.deepStrictEqual(routes.map(({ path }) => path), ["/openapi.json"])
  }))

it.effect("pages may call the servers that the document names", () =>
  Effect.gen(function*() {
    const servers = [{ url: "https://api.example.org/v1" }, { url: "/v2" }]
    const routes = yield* Documentation.routes(
      Effect.succeed(OpenApi.make(engine, { title: "Shop", version: "1", servers }))
    )
    const response = yield* HttpClient.get("/docs").pipe(Effect.provide(mounted(routes)))
    assert.include(
      response.headers["content-security-policy"],
      "connect-src 'self' https://api.example.org; "
    )
  }))
