/** The explorer in a browser: who sees what, lists, documents, two editors, hostile values, barriers. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { gzipSync } from "node:zlib"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { inBrowser } from "../../../test/support/browser.ts"
import { library } from "./library.ts"
import { assertAccessible, enter, opened, signIn } from "./pages.ts"

const price = (n: number) => ({ title: `Book ${String(n).padStart(2, "0")}`, state: "draft" as const, price: n })

describe("The explorer's page", () => {
  it.live("begins with less than 300 KB, compressed, and has the licenses of what is in it", () =>
    Effect.promise(async () => {
      const folder = await builtExplorer()
      const { entry, preload }: { readonly entry: string; readonly preload: ReadonlyArray<string> } = JSON.parse(
        fs.readFileSync(path.join(folder, "manifest.json"), "utf8")
      )
      const sizes = [entry, ...preload].map((file) =>
        gzipSync(fs.readFileSync(path.join(folder, file)), { level: 9 }).length
      )
      // Most of what lists and documents need is not in it.
      assert.isBelow(sizes.reduce((sum, size) => sum + size), 300_000)
      assert.include(fs.readFileSync(path.join(folder, "licenses.txt"), "utf8"), "react-dom ")
    }))
})

inBrowser("The explorer", (open) => {
  it.live("shows each of three people what they may see and do, and nobody without a password", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      yield* editor.books.create({ payload: { title: "Tea", state: "printed", price: 12.5, cost: 3 } })

      const first = yield* opened(open, baseUrl)
      yield* Effect.promise(async () => {
        await first.page.getByLabel("Username").fill("editor@example.com")
        await first.page.getByLabel("Password").fill("wrong")
        await first.page.getByRole("button", { name: "Sign in" }).click()
        await first.page.getByRole("alert").waitFor()
        await signIn(first, "editor")
        await first.page.getByRole("menuitem", { name: "Books" }).click()
        await first.page.getByRole("link", { name: "New Book" }).waitFor()
        await first.page.getByRole("columnheader", { name: "Cost" }).waitFor()
        await first.page.getByRole("link", { name: "Tea" }).click()
        await first.page.getByRole("button", { name: "Save" }).waitFor()
        await first.page.getByRole("button", { name: "Print more" }).waitFor()
        // Paper has the document alone.
        await first.page.emulateMedia({ media: "print" })
        const printed = ["Books", "Save", "Title *"].map((name) =>
          first.page.getByRole("menuitem", { name }).or(first.page.getByRole("button", { name })).or(
            first.page.getByLabel(name)
          ).first().isVisible()
        )
        assert.deepStrictEqual(await Promise.all(printed), [false, false, true])
        await first.page.emulateMedia({ media: "screen" })
      })

      const second = yield* opened(open, baseUrl, "#/books")
      const received: Array<string> = []
      second.page.on("response", (response) => {
        if (response.url().includes("/books")) void response.text().then((text) => received.push(text), () => 0)
      })
      yield* Effect.promise(async () => {
        await signIn(second, "reader")
        await second.page.getByRole("link", { name: "Tea" }).click()
        await second.page.getByText("You may look at this document").waitFor()
        // Who may not change it reads text.
        const form = second.page.locator("form[data-document]")
        await form.getByText("12.5", { exact: true }).waitFor()
        assert.strictEqual(await form.locator("input, textarea").count(), 0)
        assert.strictEqual(await second.page.getByRole("button", { name: "Save" }).count(), 0)
        assert.strictEqual(await second.page.getByRole("button", { name: "Print more" }).count(), 0)
        assert.strictEqual(await second.page.getByText("Cost").count(), 0)
        await second.page.getByRole("menuitem", { name: "Books" }).click()
        await second.page.getByRole("heading", { name: "Books" }).waitFor()
        assert.strictEqual(await second.page.getByRole("link", { name: "New Book" }).count(), 0)
      })
      assert.isNotEmpty(received)
      for (const text of received) assert.notInclude(text, "cost")

      const third = yield* opened(open, baseUrl, "#/books")
      yield* Effect.promise(async () => {
        await enter(third, "stranger")
        await third.page.getByText("There is nothing here that you may see").waitFor()
        // Whoever signs out leaves nothing behind.
        await third.page.getByRole("button", { name: "Logout" }).click()
        await third.page.getByLabel("Username").waitFor()
        assert.strictEqual(
          await third.page.evaluate(
            "Object.keys(localStorage).filter((key) => !/theme|locale|sidebar|datatable|version/i.test(key)).join()"
          ),
          ""
        )
      })
      assert.deepStrictEqual([...first.problems, ...second.problems, ...third.problems], [])
    }))

  it.live("lists by filters that are in the address, follows what others write, and saves what is shown", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: author } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => ({ ...price(n + 1), author })),
        (payload) => editor.books.create({ payload })
      )
      const explorer = yield* opened(open, baseUrl, "#/books")
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("40 documents").waitFor()
        await page.getByRole("link", { name: "Ann Author" }).nth(24).waitFor()

        await page.getByRole("button", { name: "Filter", exact: true }).click()
        await page.getByRole("combobox", { name: "Field" }).fill("Price")
        await page.keyboard.press("Enter")
        await page.getByRole("combobox", { name: "Comparison" }).click()
        await page.getByRole("option", { name: "is at least" }).click()
        await page.getByRole("textbox", { name: "Value" }).or(page.getByRole("spinbutton", { name: "Value" })).fill(
          "38"
        )
        await page.getByRole("button", { name: "Apply" }).click()
        await page.getByLabel("3 documents").waitFor()
        await page.getByRole("button", { name: "Sort by price ascending" }).click()
        for (const n of [38, 39, 40]) {
          await page.locator("tbody tr").nth(n - 38).filter({ hasText: `Book ${n}` }).waitFor()
        }
      })
      const titles = () => page.locator("tbody tr a").filter({ hasText: "Book" }).allInnerTexts()
      assert.deepStrictEqual(yield* Effect.promise(titles), ["Book 38", "Book 39", "Book 40"])

      // A colleague with the address sees the same.
      const colleague = yield* opened(open, baseUrl, page.url().slice(page.url().indexOf("#")))
      yield* Effect.promise(async () => {
        await signIn(colleague, "editor")
        await colleague.page.getByLabel("3 documents").waitFor()
      })

      yield* editor.books.create({ payload: price(41) })
      yield* Effect.promise(async () => {
        await page.getByText("1 new row").waitFor()
        await page.getByRole("link", { name: "Book 41" }).waitFor()
        // As somebody has moved the columns.
        await page.evaluate("localStorage.setItem('RaStoreappkernel-explorer.books.datatable_columnRanks', '[2,0,1]')")
        await page.reload()
        await page.getByRole("link", { name: "Book 41" }).waitFor()
        const columns = await page.locator("thead th").allInnerTexts()
        const [saved] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Save as CSV" }).click()
        ])
        const [head, ...lines] = fs.readFileSync(await saved.path(), "utf8").trim().split(/\r?\n/u)
        assert.deepStrictEqual(
          head?.split(","),
          columns.map((label) => label.toLowerCase()).filter((label) => label !== "")
        )
        assert.include(columns.slice(2), "Title")
        assert.notInclude(head, "notes")
        assert.strictEqual(lines.length, 4)
        // An order that no column shows is said.
        assert.strictEqual(await page.getByText("Sorted by").count(), 0)
        await page.evaluate("localStorage.setItem('RaStoreappkernel-explorer.books.datatable', '[\"price\"]')")
        await page.reload()
        await page.getByText("Sorted by Price, ascending").waitFor()
      })
      assert.deepStrictEqual([...explorer.problems, ...colleague.problems], [])
    }))

  it.live("makes and changes documents: problems at their fields, lists that are moved, actions, history, restores", () =>
    Effect.gen(function*() {
      const { baseUrl, editor, repositories } = yield* library
      yield* editor.authors.create({ payload: { name: "Ann Author" } })
      const explorer = yield* opened(open, baseUrl, "#/books/create")
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Price *").fill("-1")
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByText("3 fields need another look").waitFor()
        for (const label of ["Title *", "State *", "Price *"]) {
          assert.strictEqual(await page.getByLabel(label).getAttribute("aria-invalid"), "true", label)
        }
        await page.getByLabel("Title *").fill("Coffee")
        await page.getByLabel("State *").click()
        await page.getByRole("option", { name: "Printed" }).click()
        await page.getByLabel("Price *").fill("7.5")
        await page.getByRole("combobox", { name: "Author" }).click()
        await page.getByRole("option", { name: "Ann Author" }).click()
        const chapters = page.getByRole("group", { name: "Chapters *" }).or(
          page.getByRole("group", { name: "Chapters", exact: true })
        )
        for (const [i, heading] of ["Beans", "Water"].entries()) {
          await chapters.getByRole("button", { name: "Add" }).click()
          await page.getByRole("group", { name: `Chapters ${i + 1}` }).getByLabel("Heading *").fill(heading)
          await page.getByRole("group", { name: `Chapters ${i + 1}` }).getByLabel("Pages *").fill(String(i + 3))
        }
        await page.getByRole("button", { name: "Move up: Chapters 2" }).click()
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Coffee" }).waitFor()
        await page.getByRole("tab", { name: "JSON" }).waitFor()
      })
      const [made] = yield* repositories.books.find()
      assert.deepStrictEqual(made?.chapters.map(({ heading, pages }) => [heading, pages]), [["Water", 4], ["Beans", 3]])

      yield* Effect.promise(async () => {
        // What was entered is there again after another page.
        await page.getByLabel("Title *").fill("Good coffee")
        await page.getByRole("menuitem", { name: "Authors" }).click()
        await page.getByRole("heading", { name: "Authors" }).waitFor()
        await page.goBack()
        await page.getByText("changes that you had not saved").waitFor()
        await page.getByRole("button", { name: "Save" }).click()
        await page.getByRole("heading", { name: "Good coffee" }).waitFor()

        await page.getByRole("button", { name: "Print more" }).click()
        await page.getByLabel("Copies *").fill("2")
        // Neither a click beside it nor Escape loses what is entered, or what the action answers.
        const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        await page.route("**/reprint", async (route) => {
          asked.resolve()
          await answered.promise
          await route.fulfill({ status: 409, json: { message: "The press is broken" } })
        }, { times: 1 })
        const leave = async () => {
          await page.mouse.click(5, 5)
          await page.keyboard.press("Escape")
        }
        await leave()
        await page.getByRole("button", { name: "Run" }).click()
        await asked.promise
        await leave()
        answered.resolve()
        await page.getByText("The press is broken").waitFor()
        await page.getByLabel("Copies *").fill("0")
        await page.getByRole("button", { name: "Run" }).click()
        await page.getByText("1 field needs").or(page.getByText("One field needs")).first().waitFor()
        await page.getByLabel("Copies *").fill("20")
        await page.getByRole("button", { name: "Run" }).click()
        await page.getByText("20 more of Good coffee").waitFor()
        await page.getByRole("button", { name: "Close" }).and(page.locator(":focus")).waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
        await page.reload()

        await page.getByRole("tab", { name: "History" }).click()
        await page.locator("ins", { hasText: "Good coffee" }).waitFor()
        // What each change has is not listed, and who made it has a name.
        assert.strictEqual(await page.getByText("Version", { exact: true }).count(), 0)
        await page.getByRole("listitem").filter({ hasText: "changed" }).getByText("editor@example.com").waitFor()
        await page.getByRole("button", { name: "Restore this state" }).click()
        await page.getByRole("button", { name: "Confirm" }).click()
        await page.getByRole("heading", { name: "Coffee", exact: true }).waitFor()

        const remove = async () => {
          await page.getByRole("button", { name: "Delete" }).click()
          await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
          await page.getByRole("heading", { name: "No Books yet." }).waitFor()
        }
        await remove()
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByRole("link", { name: "Coffee" }).click()
        await page.getByRole("heading", { name: "Coffee", exact: true }).waitFor()
        await remove()
        await page.getByRole("combobox", { name: "Deleted ones" }).click()
        await page.getByRole("option", { name: "only these" }).click()
        await page.getByRole("link", { name: "Coffee" }).click()
        await page.getByText("This document is deleted").waitFor()
        await page.locator("form[data-document]").getByText("Beans").waitFor()
        await page.getByRole("button", { name: "Restore" }).click()
        await page.getByRole("button", { name: "Print more" }).waitFor()

        // A word that is typed is saved, entered or not.
        const tags = page.getByLabel("Tags")
        await tags.fill("strong")
        await page.keyboard.press("Enter")
        await tags.pressSequentially("stronger")
        await page.keyboard.press("Enter")
        await tags.fill("black")
        await page.getByText("Unsaved changes").waitFor()
        await page.keyboard.press("Control+s")
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" })
        await tags.fill("sweet")
        await page.getByRole("button", { name: "Discard changes" }).click()
        await page.getByRole("button", { name: "black" }).waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "sweet" }).count(), 0)
      })
      const chief = yield* opened(open, baseUrl, `#/books/${made?.id}`)
      yield* Effect.promise(async () => {
        await signIn(chief, "chief")
        await chief.page.getByRole("tab", { name: "History" }).click()
        await chief.page.getByRole("listitem").getByRole("link", { name: "editor@example.com" }).first().waitFor()
      })
      const [kept] = yield* repositories.books.find()
      assert.deepStrictEqual([kept?.title, kept?.price, kept?.chapters.length], ["Coffee", 7.5, 2])
      assert.deepStrictEqual(kept?.tags, ["strong", "stronger", "black"])

      // Of several documents, one is refused, which stays chosen.
      const { result: needed } = yield* editor.authors.create({ payload: { name: "Bob Author" } })
      yield* editor.authors.create({ payload: { name: "Cid Author" } })
      yield* Effect.promise(async () => {
        await page.route(
          `**/authors/${needed}`,
          (route) => route.fulfill({ status: 409, json: { message: "Bob is still needed" } }),
          { times: 1 }
        )
        await explorer.goTo(`#/authors?filter=${encodeURIComponent("{}")}`)
        await page.getByLabel("3 documents").waitFor()
        await page.locator("thead").getByRole("checkbox").click()
        await page.getByRole("button", { name: "Delete" }).click()
        await page.getByRole("button", { name: "Delete 3 documents" }).click()
        await page.getByText("Only 2 of 3 have been deleted. Bob is still needed").waitFor()
        await page.getByText("This is about 1 Author").waitFor()
        await page.getByRole("button", { name: "Delete 1 document" }).click()
        await page.getByText("1 document deleted").waitFor()
      })
      assert.strictEqual((yield* editor.authors.list())._items.length, 0)
      assert.deepStrictEqual([...explorer.problems, ...chief.problems], [])
    }))

  it.live("writes what was entered and nothing else, and knows afterwards that it is saved", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: id } = yield* editor.racks.create({
        payload: { name: "Hall", depth: null, spot: { row: null, label: "a" } }
      })
      const stored = Effect.map(editor.racks.get({ params: { id } }), ({ boards, extra, name, spot, width }) => ({
        boards,
        extra,
        name,
        spot: { row: spot.row, label: spot.label },
        width
      }))
      const explorer = yield* opened(open, baseUrl, `#/racks/${id}`)
      const { page } = explorer
      const save = page.getByRole("button", { name: "Save" })
      const saved = async () => {
        await save.click()
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" })
        await page.getByText("Saved", { exact: true }).waitFor()
      }
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Label *").waitFor()
        assert.isTrue(await save.isDisabled())
        await page.getByLabel("Label *").fill("b")
        await saved()
        assert.isTrue(await save.isDisabled())
      })
      const first = { boards: undefined, extra: undefined, name: "Hall", spot: { row: null, label: "b" } }
      assert.deepStrictEqual(yield* stored, { ...first, width: undefined })

      // Nothing is entered: what somebody else writes is shown, and no conflict.
      yield* editor.racks.patch({ params: { id }, payload: { name: "Theirs" } })
      yield* Effect.promise(async () => {
        await page.getByRole("heading", { name: "Theirs" }).waitFor()
        assert.strictEqual(await page.getByLabel("Name *").inputValue(), "Theirs")
        assert.strictEqual(await page.getByText("since you began").count(), 0)

        await page.getByLabel("Extra").pressSequentially("12x")
        await save.click()
        await page.getByText("This is no valid JSON").waitFor()
        assert.isFalse(await save.isDisabled())
        // It is there again after another tab, and after another page, on which whoever leaves is asked as well.
        await page.getByRole("tab", { name: "JSON" }).click()
        await page.getByRole("tab", { name: "Document" }).click()
        assert.strictEqual(await page.getByLabel("Extra").inputValue(), "12x")
        await page.getByRole("menuitem", { name: "Genres" }).click()
        await page.getByRole("heading", { name: "Genres", exact: true }).waitFor()
        await page.goBack()
        await page.getByText("changes that you had not saved").waitFor()
        assert.strictEqual(await page.getByLabel("Extra").inputValue(), "12x")
        await page.getByRole("menuitem", { name: "Genres" }).click()
        await page.getByRole("heading", { name: "Genres", exact: true }).waitFor()
        await page.reload()
        await explorer.goTo(`#/racks/${id}`)
      })
      assert.strictEqual((yield* stored).extra, undefined)

      yield* Effect.promise(async () => {
        await page.getByLabel("Extra").fill("13")
        await page.getByLabel("Width").fill("1,500")
        await page.getByLabel("Name *").fill("")
        await saved()
        await page.getByRole("heading", { name: id }).waitFor()
        await page.reload()
        await page.getByLabel("Label *").waitFor()
        assert.strictEqual(await page.getByText("that you had not saved").count(), 0)
      })
      assert.deepStrictEqual(yield* stored, { ...first, extra: 13, name: "", width: 1500 })

      yield* Effect.promise(async () => {
        await page.getByLabel("Name *").fill("Mine")
        await page.getByLabel("Pin", { exact: true }).fill("s3cret")
        await page.getByLabel("Label *").fill("mine")
      })
      yield* editor.racks.patch({ params: { id }, payload: { name: "Theirs", spot: { row: 5, label: "b" } } })
      yield* Effect.promise(async () => {
        await page.getByText("since you began").waitFor()
        await save.click()
        const conflict = page.getByRole("dialog", { name: "This document has been changed" })
        await conflict.getByText("••••••••").waitFor()
        assert.strictEqual(await conflict.getByText("s3cret").count(), 0)
        await conflict.getByRole("button", { name: "Save what is chosen" }).click()
        await page.getByRole("heading", { name: "Mine" }).waitFor()
      })
      // Of a model, each has changed another part.
      assert.deepStrictEqual((yield* stored).spot, { row: 5, label: "mine" })

      yield* Effect.promise(async () => {
        // What has to be there, and may be `null`, is so without an entry.
        await explorer.goTo("#/racks/create")
        await page.getByLabel("Name *").fill("Cellar")
        await page.getByLabel("Label *").fill("c")
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Cellar" }).waitFor()
      })
      const made = (yield* editor.racks.list())._items.find(({ name }) => name === "Cellar")
      assert.deepStrictEqual([made?.depth, made?.spot.row], [null, null])
      assert.deepStrictEqual(explorer.problems, ["beforeunload "])
    }))

  it.live("lists the sign-ins of who is signed in, who ends another one, or all", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const first = yield* opened(open, baseUrl)
      const second = yield* opened(open, baseUrl)
      const entries = second.page.getByRole("main").getByRole("listitem")
      yield* Effect.promise(async () => {
        await signIn(first, "reader")
        await signIn(second, "reader")
        await second.page.getByRole("button", { name: "Account" }).or(second.page.getByLabel("Profile")).first().click()
        await second.page.getByRole("menuitem", { name: "Your account" }).click()
        await second.page.getByRole("heading", { name: "Where you are signed in" }).waitFor()
        await entries.nth(1).waitFor()
        assert.deepStrictEqual(await Promise.all([entries.count(), entries.getByText("This one").count()]), [2, 1])
        await assertAccessible(second.page, "account")
        await entries.getByRole("button", { name: "Sign out" }).click()
        await entries.nth(1).waitFor({ state: "detached" })
        await entries.getByText("This one").waitFor()
        const focused = await second.page.evaluate("document.activeElement?.textContent")
        assert.strictEqual(focused, "Where you are signed in")
        await entries.getByText("Last renewed").waitFor()
        // The other one has ended.
        await first.page.reload()
        await first.page.getByLabel("Username").waitFor()
        await second.page.getByRole("button", { name: "Sign out everywhere" }).click()
        await second.page.getByRole("button", { name: "Confirm" }).click()
        await second.page.getByLabel("Username").waitFor()
      })
      assert.deepStrictEqual([...first.problems, ...second.problems], [])
    }))

  it.live("makes a new document of a copy, and never writes over another one", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      yield* editor.genres.create({ payload: { id: "crime", name: "Crime" } })
      const explorer = yield* opened(open, baseUrl, "#/genres/create")
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Id *").fill("crime")
        await page.getByLabel("Name *").fill("Poems")
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByText("There is a document of this identifier").waitFor()
        // A problem of what the form has no input for is said above it.
        const errors = [
          { field: "name", message: "Name is taken" },
          { field: "Idempotency-Key", message: "Idempotency-Key is required" },
          { field: "name.0", message: "Name has an accent" }
        ]
        await page.route(
          "**/genres",
          (route) => route.fulfill({ status: 400, json: { message: "The request is not valid", errors } }),
          { times: 1 }
        )
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByText("Name is taken", { exact: true }).waitFor()
        await page.getByText("One field needs another look. Idempotency-Key is required Name has an accent").waitFor()
        await page.route("**/genres", (route) => route.abort(), { times: 1 })
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByText("The service can't be reached").waitFor()
      })
      assert.strictEqual((yield* editor.genres.get({ params: { id: "crime" } })).name, "Crime")
      yield* Effect.promise(async () => {
        await explorer.goTo("#/genres/crime")
        await page.getByRole("button", { name: "Clone" }).click()
        const ask = page.getByRole("dialog", { name: "Clone" })
        await ask.getByRole("button", { name: "Cancel" }).click()
        await ask.waitFor({ state: "hidden" })
        await page.getByRole("button", { name: "Clone" }).click()
        await ask.getByRole("button", { name: "Confirm" }).click()
        await page.getByRole("heading", { name: "New Genre" }).waitFor()
        assert.strictEqual(await page.getByLabel("Id *").inputValue(), "")
        assert.strictEqual(await page.getByLabel("Name *").inputValue(), "Crime")
        await page.getByLabel("Id *").fill("poems")
        await page.getByLabel("Name *").fill("Poems")
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Poems" }).waitFor()
      })
      assert.strictEqual((yield* editor.genres.get({ params: { id: "poems" } })).name, "Poems")

      // Identifiers that have a meaning in addresses have none.
      for (const id of ["%2F", "a/b", "create"]) yield* editor.genres.create({ payload: { id, name: `Called ${id}` } })
      yield* Effect.promise(async () => {
        for (const id of ["%2F", "a/b", "create"]) {
          await page.getByRole("menuitem", { name: "Genres" }).click()
          await page.getByRole("link", { name: `Called ${id}` }).click()
          await page.getByRole("heading", { name: `Called ${id}` }).waitFor()
        }
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("combines conditions while there are several, finds the times of a day, and asks again what has failed", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      for (const [n, published] of ["2026-01-30T12:00:00.000Z", "2026-01-31T12:00:00.000Z"].entries()) {
        yield* editor.books.create({ payload: { ...price(n + 1), published: DateTime.makeUnsafe(published) } })
      }
      const filter = { title: { "~": "Book" }, price: { "<": 2 }, $logic: "OR" }
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.route("**/session", (route) => route.fulfill({ status: 500 }))
        await explorer.goTo(`?again#/books?filter=${encodeURIComponent(JSON.stringify(filter))}`)
        await page.getByText("The service can't be reached").waitFor()
        await page.unroute("**/session")
        await page.getByRole("button", { name: "Try again" }).click()
        await page.getByLabel("2 documents").waitFor()
        await page.getByRole("button", { name: /^Title/u }).press("Delete")
        await page.getByLabel("1 document").waitFor()
        assert.notInclude(page.url(), "logic")
        await page.getByRole("button", { name: /^Price/u }).press("Delete")
        await page.getByLabel("2 documents").waitFor()

        await page.getByRole("button", { name: "Filter", exact: true }).click()
        await page.getByRole("combobox", { name: "Field" }).fill("Published")
        await page.keyboard.press("Enter")
        await page.getByRole("combobox", { name: "Comparison" }).click()
        await page.getByRole("option", { name: "is", exact: true }).click()
        await page.getByLabel("Value").fill("2026-01-31")
        await page.getByRole("button", { name: "Apply" }).click()
        await page.getByLabel("1 document").waitFor()
        // Times name the zone in which they are shown.
        const zone = String(await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone"))
        const said = await page.locator("tbody time").first().getAttribute("title")
        assert.match(String(said), /2026 at \d+:\d\d:\d\d.* (?:[A-Z]{2,5}|GMT[+-][\d:]+)$/u)
        await page.getByRole("link", { name: "Book 02" }).click()
        await page.getByText(zone, { exact: true }).waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("loses nothing of two editors of one document", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: id } = yield* editor.books.create({ payload: { ...price(1), notes: "old" } })
      const explorer = yield* opened(open, baseUrl, `#/books/${id}`)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Title *").fill("Mine")
        await page.getByLabel("Price *").fill("5")
      })
      yield* editor.books.patch({ params: { id }, payload: { title: "Theirs", notes: "new" } })
      yield* Effect.promise(async () => {
        await page.getByText("since you began").waitFor()
        assert.strictEqual(await page.getByLabel("Title *").inputValue(), "Mine")
        await page.getByRole("button", { name: "Save" }).click()
        const conflict = page.getByRole("dialog", { name: "This document has been changed" })
        await conflict.getByText("One field is changed here and there").waitFor()
        await conflict.getByRole("radiogroup", { name: "Title" }).getByLabel("Theirs").check()
        await conflict.getByRole("button", { name: "Save what is chosen" }).click()
        await page.getByRole("heading", { name: "Theirs" }).waitFor()
        await conflict.waitFor({ state: "hidden" })
      })
      const { notes, price: paid, title } = yield* editor.books.get({ params: { id } })
      assert.deepStrictEqual([title, paid, notes], ["Theirs", 5, "new"])

      // One's own save is no other editor, also where its answer was lost: whether changes are told or not.
      const { result: poster } = yield* editor.posters.create({ payload: { name: "Spring" } })
      const discard = page.getByRole("button", { name: "Discard changes" })
      yield* Effect.promise(async () => {
        for (const [address, label] of [[`books/${id}`, "Title *"], [`posters/${poster}`, "Name *"]] as const) {
          await explorer.goTo(`#/${address}`)
          await page.getByLabel(label).fill("Mine again")
          await page.route(`**/${address}`, async (route) => {
            await route.fetch()
            await route.abort()
          }, { times: 1 })
          await page.getByRole("button", { name: "Save" }).click()
          await page.getByRole("heading", { name: "Mine again" }).waitFor()
          await discard.waitFor({ state: "detached" })
          assert.strictEqual(await page.getByText("since you began").count(), 0, address)
        }
      })

      // What is deleted meanwhile can't be saved, and is discarded.
      const { result: author } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* Effect.promise(async () => {
        await page.route("**/authors/changes*", (route) => route.abort())
        await explorer.goTo(`#/authors/${author}`)
        await page.getByLabel("Name *").fill("Ann")
      })
      yield* editor.authors.delete({ params: { id: author } })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Save" }).click()
        await page.getByText("This document is deleted. What you have entered is not saved.").waitFor()
        await discard.click()
        await page.getByText("This document is deleted.", { exact: true }).waitFor()
        await explorer.goTo(`#/books/${id}`)
        await page.getByLabel("Title *").fill("Mine")
      })
      yield* editor.books.delete({ params: { id } })
      yield* Effect.promise(async () => {
        await page.getByText("This document is deleted. What you have entered is not saved.").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Compare" }).count(), 0)
        await discard.click()
        await discard.waitFor({ state: "detached" })
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("changes many at once after saying how many", () =>
    Effect.gen(function*() {
      const { baseUrl, editor, repositories } = yield* library
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => ({ ...price(n), notes: "old" })),
        (payload) => editor.books.create({ payload })
      )
      const explorer = yield* opened(open, baseUrl, `#/books?filter=${encodeURIComponent("{\"price\":{\"<\":27}}")}`)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("27 documents").waitFor()
        await page.getByRole("button", { name: "Many at once" }).click()
        await page.getByRole("menuitem", { name: "Change all that match" }).click()
        await page.getByText("This is about 27 Books").waitFor()
        await page.getByRole("combobox", { name: "Field" }).fill("State")
        await page.keyboard.press("Enter")
        const change = page.getByRole("button", { name: "Change 27 documents" })
        assert.isTrue(await change.isDisabled())
        await page.getByRole("combobox", { name: "State" }).click()
        await page.getByRole("option", { name: "Sold out" }).click()
        await change.click()
        await page.getByText("27 documents changed").waitFor()
      })
      assert.strictEqual(yield* repositories.books.count(($) => $.state.equals("sold_out")), 27)

      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Many at once" }).click()
        await page.getByRole("menuitem", { name: "Change all that match" }).click()
        await page.getByRole("combobox", { name: "Field" }).fill("Notes")
        await page.keyboard.press("Enter")
        await page.getByText("This is about 27 Books").waitFor()
        const change = page.getByRole("button", { name: "Change 27 documents" })
        assert.isTrue(await change.isDisabled())
        await page.getByLabel("Remove what is there").check()
        await change.click()
        await change.waitFor({ state: "hidden" })

        // What is chosen is what is seen.
        await page.locator("tbody").getByRole("checkbox").first().check()
        await page.getByRole("toolbar", { name: "Many at once" }).getByRole("button", { name: "Delete" }).click()
        await page.getByRole("dialog").getByText("It can be restored later").waitFor()
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
        await page.getByRole("button", { name: /^Price/u }).press("Delete")
        await page.getByLabel("30 documents").waitFor()
        await page.getByRole("toolbar", { name: "Many at once" }).waitFor({ state: "hidden" })

        // A list that was not answered is asked for again.
        await page.route(/\/books\?/u, (route) => route.fulfill({ status: 500 }))
        await page.getByRole("button", { name: "Sort by price ascending" }).click()
        await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor()
        assert.strictEqual(await page.getByText("1-25 of").count(), 0)
        await page.unroute(/\/books\?/u)
        await page.getByRole("alert").getByRole("button", { name: "Try again" }).click()
        await page.getByText("1-25 of 30").waitFor()

        // What can't be written at once is said before.
        await page.getByRole("button", { name: "Many at once" }).click()
        await page.getByRole("menuitem", { name: "Delete all that match" }).click()
        await page.getByText("This is about 30 Books. One change may be of 28 at most").waitFor()
        assert.isTrue(await page.getByRole("button", { name: "Delete 30 documents" }).isDisabled())
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      })
      const noted = yield* repositories.books.find()
      assert.strictEqual(noted.filter(({ notes }) => notes !== undefined).length, 3)

      const toolbar = page.getByRole("toolbar", { name: "Many at once" })
      const deleteTwo = async () => {
        await page.locator("tbody").getByRole("checkbox").nth(0).check()
        await page.locator("tbody").getByRole("checkbox").nth(1).check()
        await toolbar.getByRole("button", { name: "Delete" }).click()
        await page.getByRole("button", { name: "Delete 2 documents" }).click()
        await page.getByLabel("28 documents").waitFor()
      }
      const show = async (which: string) => {
        await page.getByRole("combobox", { name: "Deleted ones" }).click()
        await page.getByRole("option", { name: which }).click()
      }
      yield* Effect.promise(async () => {
        // A deletion is taken back at once, or later.
        await deleteTwo()
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByLabel("30 documents").waitFor()
        await page.getByText("2 documents restored").waitFor()
        await deleteTwo()
        await show("shown with the others")
        await page.getByLabel("30 documents").waitFor()
        await page.locator("tbody tr", { hasText: "deleted" }).nth(1).waitFor()
        assert.strictEqual(await page.locator("tbody").getByRole("checkbox", { disabled: true }).count(), 2)
        assert.strictEqual(await page.getByRole("button", { name: "Many at once" }).count(), 0)
        await show("only these")
        await page.getByLabel("2 documents").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Many at once" }).count(), 0)
        await page.locator("thead").getByRole("checkbox").check()
        assert.deepStrictEqual(await toolbar.getByRole("button").allInnerTexts(), ["", "Restore"])
        await toolbar.getByRole("button", { name: "Restore" }).click()
        await page.getByText("No Books found using the current filters").waitFor()
        await toolbar.waitFor({ state: "hidden" })
      })
      assert.strictEqual(yield* repositories.books.count(), 30)

      // So is it on a phone, where a list is sorted by a button.
      yield* Effect.promise(async () => {
        await page.setViewportSize({ width: 390, height: 800 })
        await show("not shown")
        await page.getByRole("button", { name: "Sort by" }).click()
        await page.getByRole("menuitem", { name: "Title" }).click()
        await page.getByRole("main").getByRole("listitem").first().filter({ hasText: "Book 00" }).waitFor()
        await page.getByRole("checkbox", { name: "Select Book 01" }).check()
        await toolbar.getByText("1 item selected").waitFor()
        await assertAccessible(page, "a phone's list")
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("takes every value for text, and keeps its layout", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const values = [
        "<img src=x onerror=globalThis.ran=1>",
        "<script>globalThis.ran=1</script>",
        "\"><svg onload=globalThis.ran=1>",
        "{{constructor.constructor('globalThis.ran=1')()}}",
        "javascript:globalThis.ran=1",
        "\u202Eevil\u202E text",
        "שלום עולם مرحبا",
        `Z${"\u0300\u0301\u0302\u0303\u0489".repeat(60)}algo`,
        "w".repeat(5_000),
        "%{smart_count} |||| ${1} %s",
        "constructor",
        "__proto__",
        "\u0000\u0007",
        "🧑‍🚀".repeat(50)
      ]
      yield* Effect.forEach(values, (value) =>
        editor.books.create({
          payload: {
            title: value,
            state: "draft",
            price: 1,
            tags: [value],
            notes: value,
            chapters: [{ heading: value, pages: 1 }]
          }
        }))
      const { result: large } = yield* editor.books.create({
        payload: { title: "large", state: "draft", price: 1, notes: "<b>x</b> ".repeat(60_000) }
      })
      const explorer = yield* opened(open, baseUrl, "#/books")
      const { page } = explorer
      const fits = async (where: string) => {
        assert.strictEqual(await page.evaluate("globalThis.ran"), undefined, where)
        assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")), 0, where)
      }
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("15 documents").waitFor()
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 800 })
          await explorer.goTo("#/books")
          const links = page.locator("main a[href^='#/books/B']")
          await links.nth(14).waitFor()
          await fits(`list ${width}`)
          const addresses = await links.evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""))
          assert.strictEqual(addresses.length, 15)
          for (const address of addresses) {
            await explorer.goTo(address)
            await page.getByLabel("Title *").waitFor()
            await fits(`${address} ${width}`)
          }
          await explorer.goTo(`#/books/${large}`)
          await page.getByRole("heading", { name: "large" }).waitFor()
          await fits(`large ${width}`)
        }
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("has its menu beside a wide page, and opens it over a narrow one, also where a screen is turned", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const item = page.getByRole("menuitem", { name: "Books" })
      yield* Effect.promise(async () => {
        await page.setViewportSize({ width: 390, height: 800 })
        await signIn(explorer, "editor")
        for (const _ of ["once", "again"]) {
          await page.getByRole("button", { name: "Open menu" }).click()
          await item.click()
          await page.getByText("No Books yet").waitFor()
          await item.waitFor({ state: "hidden" })
          await page.setViewportSize({ width: 1280, height: 800 })
          await item.waitFor()
          await page.setViewportSize({ width: 390, height: 800 })
          await item.waitFor({ state: "hidden" })
        }
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("has no barriers that axe finds, wide and narrow, light and dark, in English and German", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: author } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      const { result: id } = yield* editor.books.create({
        payload: { ...price(1), author, tags: ["new"], chapters: [{ heading: "One", pages: 3 }] }
      })
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.getByLabel("Username").waitFor()
        await assertAccessible(page, "sign-in")
        await signIn(explorer, "editor")
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          for (const width of [1280, 390]) {
            await page.setViewportSize({ width, height: 800 })
            const where = (name: string) => `${name} ${colorScheme} ${width}`
            await explorer.goTo("#/")
            await page.getByRole("heading", { name: "Latest changes" }).waitFor()
            await assertAccessible(page, where("home"))
            await explorer.goTo("#/books")
            await page.getByRole("link", { name: "Book 01" }).waitFor()
            await assertAccessible(page, where("list"))
            await explorer.goTo(`#/books/${id}`)
            await page.getByLabel("Title *").waitFor()
            await assertAccessible(page, where("document"))
            await page.getByRole("tab", { name: "History" }).click()
            await page.locator("ins").first().waitFor()
            await assertAccessible(page, where("history"))
            await explorer.goTo("#/books/create")
            await page.getByRole("button", { name: "Create" }).waitFor()
            await assertAccessible(page, where("create"))
          }
        }
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.getByRole("button", { name: "Translate" }).or(page.getByRole("button", { name: "English" })).first()
          .click()
        await page.getByRole("menuitem", { name: "Deutsch" }).click()
        await page.getByRole("button", { name: "Erstellen" }).waitFor()
        assert.strictEqual(await page.evaluate("document.documentElement.lang"), "de")
        await page.getByRole("menuitem", { name: "Bücher" }).waitFor()
        await page.getByRole("heading", { name: "Buch erstellen" }).waitFor()
        await page.getByLabel("Titel *").waitFor()
        await page.getByText("Wie es auf dem Umschlag steht").waitFor()
        await page.getByLabel("Zustand *").click()
        await page.getByRole("option", { name: "Ausverkauft" }).waitFor()
        await page.keyboard.press("Escape")
        await assertAccessible(page, "German")
        await page.getByRole("menuitem", { name: "Bücher" }).click()
        await page.locator("tbody tr a").first().click()
        await page.getByRole("button", { name: "Nachdrucken" }).click()
        await page.getByLabel("Auflage *").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))
})
