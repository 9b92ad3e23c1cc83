/** What is left in a browser of who has signed out, or whose sign-in has ended. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import type { Page } from "playwright-core"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { inBrowser } from "../../../test/support/browser.ts"
import { library, password } from "./library.ts"
import { opened, signIn } from "./pages.ts"

class Account extends Model.Class<Account>()("Account", { id: Model.id(), name: Schema.String }) {}

const bank = KernelEngine.make("bank")
  .register(Resource.make(Account, { methods: ["GET", "POST"] }), { segment: "account", name: "account" })
  .enableExplorer()

/** Chooses an entry of the account's menu. */
const choose = async (page: Page, name: string) => {
  await page.getByRole("button", { name: "Account" }).or(page.getByLabel("Profile")).first().click()
  await page.getByRole("menuitem", { name }).click()
}

/** Opens the explorer with a clock of the test's own, and signs in. */
const editing = (...where: Parameters<typeof opened>) =>
  Effect.tap(opened(...where), (explorer) =>
    Effect.promise(async () => {
      await explorer.page.clock.install()
      await signIn(explorer, "editor")
    }))

/** Holds answers of the service to one caller; `begun` when there is one. */
const hold = async (page: Page, url: string) => {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let caller: string | undefined
  await page.route(url, async (route) => {
    const { authorization } = await route.request().allHeaders()
    caller ??= authorization
    if (authorization !== caller) return route.continue()
    const response = await route.fetch()
    begun.resolve()
    await released.promise
    await route.fulfill({ response })
  })
  return { begun: begun.promise, release: released.resolve }
}

const unanswered = (page: Page) => page.getByText("The service has not answered your sign-out")

inBrowser("The explorer", (open) => {
  it.live("says that the service has not answered a sign-out, and ends the sign-in when it does", () =>
    Effect.gen(function*() {
      const explorer = yield* editing(open, (yield* library).baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.route("**/session", (route) => route.abort())
        await choose(page, "Logout")
        await unanswered(page).waitFor()
        await page.clock.fastForward(6_000)
        await unanswered(page).waitFor()
        await page.unroute("**/session")
        await page.clock.fastForward(6_000)
        await unanswered(page).waitFor({ state: "detached" })
        await page.reload()
        await page.getByLabel("Username").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("says that the service has refused a sign-out, and repeats one that it has no time for", () =>
    Effect.gen(function*() {
      const explorer = yield* editing(open, (yield* library).baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        let asked = 0
        let status = 429
        await page.route("**/session", (route) => {
          if (route.request().method() !== "DELETE") return route.continue()
          asked++
          return route.fulfill({ status, json: { message: "No" } })
        })
        await choose(page, "Logout")
        await unanswered(page).waitFor()
        status = 403
        await page.clock.fastForward(6_000)
        await page.getByText("The service has refused your sign-out").waitFor()
        assert.strictEqual(asked, 2)
        await page.clock.fastForward(60_000)
        await page.getByText("The service has refused your sign-out").waitFor()
        assert.strictEqual(asked, 2)
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("does not end the sign-in of somebody who has signed in on another page meanwhile", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const context = yield* open
      const explorer = yield* editing(Effect.succeed(context), baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.route("**/session", (route) => route.abort())
        await choose(page, "Logout")
        await unanswered(page).waitFor()
      })
      yield* Effect.promise(() => context.clearCookies())
      const other = yield* opened(Effect.succeed(context), baseUrl)
      yield* Effect.promise(async () => {
        await signIn(other, "reader")
        await unanswered(page).waitFor({ state: "detached" })
        await page.unroute("**/session")
        await page.clock.fastForward(60_000)
        await other.page.reload()
        await other.page.getByRole("button", { name: "Go to…" }).waitFor()
      })
      assert.deepStrictEqual([...explorer.problems, ...other.problems], [])
    }))

  it.live("repeats a sign-out everywhere as such", () =>
    Effect.gen(function*() {
      const explorer = yield* editing(open, (yield* library).baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.route("**/session?everywhere=true", (route) => route.abort())
        await choose(page, "Sign out everywhere")
        await page.getByRole("button", { name: "Confirm" }).click()
        await unanswered(page).waitFor()
        await page.unroute("**/session?everywhere=true")
        const repeated = page.waitForResponse("**/session?everywhere=true")
        await page.clock.fastForward(6_000)
        assert.strictEqual((await repeated).status(), 204)
        await unanswered(page).waitFor({ state: "detached" })
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("shows nothing of somebody whose sign-out has failed to who signs in next, and says that it has", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      yield* editor.books.create({ payload: { title: "Tea", state: "printed", price: 12.5 } })
      const explorer = yield* opened(open, baseUrl, "#/books")
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByRole("link", { name: "Tea" }).waitFor()
        await page.route(
          "**/session?everywhere=true",
          (route) => route.fulfill({ status: 503, json: { message: "The store is away" } })
        )
        await choose(page, "Sign out everywhere")
        await page.getByRole("button", { name: "Confirm" }).click()
        await page.getByLabel("Username").waitFor()
        await page.getByText(/Your sign-ins may go on.*The store is away/u).waitFor()

        // The next list does not arrive.
        const asked = page.waitForRequest("**/books?*")
        await page.route("**/books?*", () => undefined)
        await signIn(explorer, "reader")
        await asked
        await page.getByRole("heading", { name: "Books" }).waitFor()
        assert.strictEqual(await page.getByRole("link", { name: "Tea" }).count(), 0)
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("shows nothing of what the service has said to somebody, and arrives when somebody else has signed in", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        // In another language, the service is asked again what it has.
        const held = await hold(page, "**/meta")
        await page.getByRole("button", { name: "English" }).click()
        await page.getByRole("menuitem", { name: "Deutsch" }).click()
        await held.begun
        await page.getByRole("button", { name: "Konto" }).click()
        await page.getByRole("menuitem", { name: "Abmelden", exact: true }).click()
        await page.getByLabel("Benutzername").fill("reader@example.com")
        await page.getByLabel("Passwort").fill(password)
        await page.getByRole("button", { name: "Anmelden" }).click()
        const books = page.getByRole("menuitem", { name: "Bücher" })
        await books.waitFor()
        held.release()
        await books.click()
        await page.getByRole("heading", { name: "Bücher", exact: true }).waitFor()
        // Readers see no genres.
        assert.strictEqual(await page.locator("a[href='#/genres']").count(), 0)
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("writes nothing as who has signed in since somebody has saved, signed out, and waited for an answer", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result } = yield* editor.authors.create({ payload: { name: "Ann" } })
      const explorer = yield* opened(open, baseUrl, `#/authors/${result}`)
      const { page } = explorer
      const written: Array<string> = []
      page.on("request", (request) => {
        if (request.method() === "PATCH") written.push(request.url())
      })
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Name *").fill("Another")
        const held = await hold(page, "**/authors/*")
        await page.getByRole("button", { name: "Save" }).click()
        await held.begun
        await choose(page, "Logout")
        await page.getByLabel("Username").waitFor()
        await signIn(explorer, "editor")
        held.release()
        await page.getByRole("menuitem", { name: "Books" }).click()
        await page.getByRole("heading", { name: "Books", exact: true }).waitFor()
      })
      assert.deepStrictEqual([written, explorer.problems], [[], []])
    }))

  it.live("writes nothing as nobody after the sign-in has ended, asks who is there, and has what was entered", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const context = yield* open
      const explorer = yield* editing(Effect.succeed(context), baseUrl)
      const { page } = explorer
      const sent: Array<string | undefined> = []
      page.on("request", (request) => {
        if (request.method() === "POST" && !request.url().endsWith("/session")) {
          sent.push(request.headers()["authorization"]?.slice(0, 6))
        }
      })
      yield* Effect.promise(async () => {
        await explorer.goTo("#/authors/create")
        await page.getByLabel("Name *").fill("Ann")
      })
      const other = yield* opened(Effect.succeed(context), baseUrl)
      yield* Effect.promise(async () => {
        await choose(other.page, "Logout")
        await other.page.getByLabel("Username").waitFor()
        // The access token ends.
        await page.clock.fastForward("01:00:00")
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByLabel("Username").waitFor()
        assert.strictEqual(await page.getByText("ra.auth").count(), 0)
        await signIn(explorer, "editor")
        await page.getByText("changes that you had not saved").waitFor()
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Ann" }).waitFor()
      })
      assert.deepStrictEqual((yield* editor.authors.list())._items.map(({ name }) => name), ["Ann"])
      assert.deepStrictEqual([sent, explorer.problems], [["Bearer"], []])
    }))

  it.live("leads from the page of the account to the sign-in once this is over", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "reader")
        await page.route("**/token/sessions", (route) => route.fulfill({ status: 401, json: { message: "No" } }))
        await choose(page, "Your account")
        await page.getByLabel("Username").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("has the list of a resource that is named as its own page of the account", () =>
    Effect.gen(function*() {
      yield* Effect.promise(() => builtExplorer())
      const { baseUrl, client } = yield* bank.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
      yield* client.account.create({ payload: { name: "Savings" } })
      const { page, problems } = yield* opened(open, baseUrl, "#/account")
      yield* Effect.promise(() => page.getByRole("link", { name: "Savings" }).waitFor())
      assert.deepStrictEqual(problems, [])
    }))
})
