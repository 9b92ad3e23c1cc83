/** What the explorer does where a part of it does not arrive. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { inBrowser } from "../../../test/support/browser.ts"
import { library, password } from "./library.ts"
import { assertAccessible, enter, opened, signIn } from "./pages.ts"

inBrowser("The explorer", (open) => {
  it.live("loads a part again that did not arrive, and says so where the service has another version of it", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      yield* editor.books.create({ payload: { title: "Tea", state: "printed", price: 12.5 } })
      const context = yield* open
      yield* Effect.promise(async () => {
        await context.route("**/assets/{ResourceList,ActionDialog}-*", (route) => route.abort())
        await context.route("**/assets/AccountPage-*", (route) => route.fulfill({ status: 404 }))
      })
      const explorer = yield* opened(Effect.succeed(context), baseUrl)
      const { page } = explorer
      page.setDefaultTimeout(20_000)
      yield* Effect.promise(async () => {
        await page.setViewportSize({ width: 500, height: 800 })
        await signIn(explorer, "editor")
        await page.getByRole("button", { name: "Order paper" }).click()
        await page.getByRole("dialog").getByText("The service can't be reached").waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
        await explorer.goTo("#/books")
        await page.getByText("The service can't be reached").waitFor()
        await assertAccessible(page, "a part that did not arrive")
        await context.unroute("**/assets/{ResourceList,ActionDialog}-*")
        await page.getByRole("button", { name: "Try again" }).click()
        await page.getByRole("link", { name: "Tea" }).waitFor()
        await explorer.goTo("#/")
        await page.getByRole("button", { name: "Order paper" }).click()
        await page.getByLabel("Sheets *").waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Account" }).or(page.getByLabel("Profile")).first().click()
        await page.getByRole("menuitem", { name: "Your account" }).click()
        await page.getByText("The service has another version of this page now").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Try again" }).count(), 0)
        await page.getByRole("button", { name: "Load it again" }).waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("loads for a stranger no more than the form, which changes its language and its colours", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const files: Array<string> = []
      const asked: Array<string> = []
      page.on("request", (request) => {
        const { pathname } = new URL(request.url())
        if (pathname.includes("/assets/")) files.push(pathname.replace(/^.*\/|-.*$/gu, ""))
        else asked.push(pathname)
      })
      yield* Effect.promise(async () => {
        await page.reload()
        await page.getByLabel("Username").and(page.locator(":focus")).waitFor()
        await page.waitForLoadState("networkidle")
        assert.deepStrictEqual([files.toSorted(), asked], [["connection", "main"], ["/explorer"]])
        for (const scheme of ["light", "dark"]) {
          await assertAccessible(page, `sign-in, ${scheme}`)
          await page.getByRole("button", { name: "Light or dark" }).click()
        }
        await page.getByLabel("Username").fill("reader@example.com")
        await page.getByRole("combobox", { name: "Language" }).selectOption("Deutsch")
        await page.getByRole("heading", { name: "Anmelden" }).waitFor()
        assert.strictEqual(await page.getByLabel("Benutzername").inputValue(), "reader@example.com")
        await page.getByLabel("Passwort").fill("wrong")
        await page.getByRole("button", { name: "Anmelden" }).press("Enter")
        await page.getByRole("alert").getByText("Zugangsdaten").waitFor()
        await page.getByRole("button", { name: "Anmelden" }).and(page.locator(":focus")).waitFor()
        await page.getByLabel("Passwort").fill(password)
        await page.keyboard.press("Enter")
        await page.getByText("Bücher").first().waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("says that the page did not arrive, and loads it again", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const context = yield* open
      yield* Effect.promise(() => context.route("**/assets/page-*", (route) => route.abort()))
      const explorer = yield* opened(Effect.succeed(context), baseUrl)
      yield* Effect.promise(async () => {
        await enter(explorer, "reader")
        await explorer.page.getByText("This page could not be loaded").waitFor()
        await context.unroute("**/assets/page-*")
        await explorer.page.getByRole("button", { name: "Load it again" }).click()
        await explorer.page.getByRole("button", { name: "Go to…" }).waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("asks once for what a German reader sees, and is in English without the German texts", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const context = yield* open
      yield* Effect.promise(() =>
        context.addInitScript("localStorage.setItem('RaStoreappkernel-explorer.locale', '\"de\"')")
      )
      const explorer = yield* opened(Effect.succeed(context), baseUrl)
      const { page } = explorer
      page.setDefaultTimeout(20_000)
      const asked: Array<string> = []
      yield* Effect.promise(async () => {
        await page.getByLabel("Benutzername").fill("reader@example.com")
        await page.getByLabel("Passwort").fill("correct horse")
        await page.getByRole("button", { name: "Anmelden" }).click()
        await page.getByText("Bücher").first().waitFor()
        page.on("request", (request) => {
          if (request.url().endsWith("/openapi.json")) asked.push(request.headers()["accept-language"] ?? "")
        })
        await page.reload()
        await page.getByText("Bücher").first().waitFor()
        assert.deepStrictEqual(asked, ["de"])
        await page.getByText("reader@example.com").first().waitFor()

        await context.route("**/assets/german-*", (route) => route.abort())
        await page.reload()
        await page.getByRole("button", { name: "Go to…" }).waitFor()
        await page.getByText("Books").first().waitFor()
        assert.strictEqual(await page.evaluate("document.documentElement.lang"), "en")
      })
      // The page says it in the console as well.
      assert.deepStrictEqual(explorer.problems.filter((problem) => !/assets\/german-/u.test(problem)), [])
    }))
})
