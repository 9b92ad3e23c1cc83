/** Models that nobody has made for the explorer: each has a list, and a form that saves what it has loaded unchanged. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { type DocumentStore, EmbeddedStore, KernelEngine, KernelServer, Resource } from "../../../src/index.ts"
import { inBrowser } from "../../../test/support/browser.ts"
import { sendTo } from "../../../test/support/rest.ts"
import { opened } from "./pages.ts"
import { modelOf } from "./schemaModels.ts"
import { schemas } from "./schemas.ts"

/** An engine whose type does not say which models it has. */
interface Engine {
  readonly register: (registration: unknown, options: { readonly segment: string; readonly name: string }) => Engine
  readonly enableExplorer: () => {
    readonly layerServe: Layer.Layer<never, never, DocumentStore.DocumentStore | HttpServer.HttpServer>
  }
}

// What it is made of is known when it runs.
const empty = KernelEngine.make("schemas") as unknown as Engine

// A busy machine may be slow to read a request.
const server = KernelServer.layerWith({
  address: "127.0.0.1",
  port: 0,
  requestTimeout: "1 hour",
  headerTimeout: "1 hour"
})

inBrowser("The explorer", (open) => {
  it.live("has for each of twenty schemas of others a list, and a form that saves what it has loaded", () =>
    Effect.gen(function*() {
      yield* Effect.promise(() => builtExplorer())
      const made = Object.entries(schemas).map(([name, schema]) => ({ name, ...modelOf(name, schema) }))
      assert.strictEqual(made.length, 20)
      let engine = empty
      for (const { model, name } of made) {
        const path = name.toLowerCase()
        engine = engine.register(Resource.make(model, { methods: ["GET", "POST", "PUT"] }), {
          segment: path,
          name: path
        })
      }
      const context = yield* Layer.build(
        Layer.provideMerge(engine.enableExplorer().layerServe, [Layer.fresh(EmbeddedStore.layerMemory), server])
      )
      const baseUrl = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      for (const { document, name } of made) {
        const path = `/${name.toLowerCase()}`
        const created = yield* sendTo(baseUrl, "POST", path, document)
        assert.strictEqual(created.status, 201, `${name}: ${created.text}`)
        const at = `${path}/${created.body.result}`
        const before = (yield* sendTo(baseUrl, "GET", at)).body
        yield* Effect.promise(async () => {
          await explorer.goTo(`#${path}`)
          await page.locator("tbody tr").first().click()
          await page.getByLabel("Label *", { exact: true }).fill("After")
          const [answer] = await Promise.all([
            page.waitForResponse((response) => response.request().method() === "PUT"),
            page.getByRole("button", { name: "Save" }).click()
          ])
          assert.strictEqual(answer.status(), 200, `${name}: ${await answer.text()}`)
          await page.getByText("Unsaved changes").waitFor({ state: "hidden" })
        })
        const after = (yield* sendTo(baseUrl, "GET", at)).body
        assert.deepStrictEqual(after, { ...before, label: "After" }, name)
      }
      assert.deepStrictEqual(explorer.problems, [])
    }))
})
