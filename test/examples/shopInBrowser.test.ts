import { assert, it } from "@effect/vitest"
import { EmbeddedStore, Model } from "appkernel"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as path from "node:path"
import { engine } from "../../examples/shop/engine.ts"
import { User } from "../../examples/shop/models/User.ts"
import { bundledForBrowser, inBrowser } from "../support/browser.ts"
import { surroundings } from "../support/shop.ts"

const root = path.join(import.meta.dirname, "../..")

/** The page and the program that it loads, from the same origin as the shop. */
const pageOf = (code: string) =>
  Layer.merge(
    HttpRouter.add(
      "GET",
      "/page",
      HttpServerResponse.html(`<!doctype html><script type="module" src="/page.js"></script>`)
    ),
    HttpRouter.add("GET", "/page.js", HttpServerResponse.text(code, { contentType: "text/javascript" }))
  )

inBrowser("The shop from a browser", (open) => {
  it.live("is used by the client of its descriptions, with typed results and failures", () =>
    Effect.gen(function*() {
      const { builtins, code } = yield* bundledForBrowser(path.join(root, "test/support/shopInBrowser.ts"))
      assert.deepStrictEqual(builtins, [])
      const store = surroundings(EmbeddedStore.layerMemory)
      const { baseUrl, repositories } = yield* engine.use(pageOf(code)).test({ store })
      const admin = { name: "Admin", email: "admin@shop.example", password: "maple meadow", roles: ["admin"] }
      yield* repositories.users.insert(yield* Model.finalise(User, admin))
      const browser = yield* open
      const page = yield* Effect.promise(() => browser.newPage())
      const problems: Array<string> = []
      page.on("pageerror", ({ message }) => problems.push(message))
      yield* Effect.promise(() => page.goto(`${baseUrl}/page`))
      const shown = yield* Effect.promise(() => page.locator("#shown").innerText())
      assert.deepStrictEqual(shown.split("\n"), [
        "Unauthorized",
        "Forbidden",
        "WrongPassword",
        "Password changed",
        "invalid_grant",
        "NotFound",
        "Lamp: a date"
      ])
      assert.deepStrictEqual(problems, [])
    }))
})
