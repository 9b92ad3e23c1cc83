/** Ten things that people do each day, and how many clicks each takes with the hands on the keyboard otherwise. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator } from "playwright-core"
import sharp from "sharp"
import { inBrowser } from "../../../test/support/browser.ts"
import { library, password } from "./library.ts"
import { opened } from "./pages.ts"

inBrowser("Everyday tasks in the explorer", (open) => {
  it.live("take few clicks", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: author } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n + 1),
        (n) =>
          editor.books.create({
            payload: {
              title: `Book ${String(n).padStart(2, "0")}`,
              state: n % 2 === 0 ? "printed" as const : "draft" as const,
              price: n,
              author
            }
          })
      )
      yield* editor.posters.create({ payload: { name: "Spring" } })
      const buffer = yield* Effect.promise(() =>
        sharp({ create: { width: 40, height: 40, channels: 3, background: "red" } }).png().toBuffer()
      )
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const counted: { [task: string]: number } = {}
      let clicks = 0
      const click = async (what: Locator) => {
        await what.click()
        clicks++
      }
      const task = async (name: string, run: () => Promise<unknown>) => {
        clicks = 0
        await run()
        counted[name] = clicks
      }
      const { keyboard } = page
      /** Back to a list without a filter, which is no part of a task. */
      const list = (name: string) => explorer.goTo(`#/${name}?filter=${encodeURIComponent("{}")}`)
      const button = (name: string) => page.getByRole("button", { name, exact: true })
      const row = (name: string) => page.getByRole("link", { name })
      const saved = () => page.getByText("Unsaved changes").waitFor({ state: "hidden" })
      yield* Effect.promise(async () => {
        page.setDefaultTimeout(30_000)
        await task("sign in", async () => {
          await page.getByLabel("Username").and(page.locator(":focus")).waitFor()
          await keyboard.type("editor@example.com")
          await keyboard.press("Tab")
          await keyboard.type(`${password}\n`)
          await page.getByRole("button", { name: "Go to…" }).waitFor()
        })
        await task("find a document by a word", async () => {
          await click(page.getByRole("menuitem", { name: "Books" }))
          await click(page.getByRole("searchbox").or(page.getByPlaceholder(/^Search/u)).first())
          await keyboard.type("07")
          await page.getByLabel("1 document", { exact: true }).waitFor()
        })
        await list("books")
        await page.getByLabel("12 documents").waitFor()
        await task("filter by two fields", async () => {
          await click(button("Filter"))
          await page.getByRole("combobox", { name: "Field" }).and(page.locator(":focus")).waitFor()
          await keyboard.type("Price\n")
          await page.getByLabel("Value").and(page.locator(":focus")).waitFor()
          await keyboard.type("7\n")
          await page.getByLabel("1 document", { exact: true }).waitFor()
          await button("Filter").and(page.locator(":focus")).waitFor()
          await keyboard.press("Enter")
          await page.getByRole("combobox", { name: "Field" }).and(page.locator(":focus")).waitFor()
          await keyboard.type("Title\n")
          await page.getByLabel("Value").and(page.locator(":focus")).waitFor()
          await keyboard.type("Book 07\n")
          await page.getByRole("button", { name: /^Title/u }).first().waitFor()
          await page.getByLabel("1 document", { exact: true }).waitFor()
        })
        await list("books")
        await task("edit one field and save", async () => {
          await click(row("Book 03"))
          await click(page.getByLabel("Price *"))
          await keyboard.press("ControlOrMeta+a")
          await keyboard.type("99\n")
          await saved()
        })
        await list("books")
        await task("create with a reference", async () => {
          await click(page.getByRole("link", { name: "New Book" }))
          await page.getByLabel("Title *").and(page.locator(":focus")).waitFor()
          await keyboard.type("New")
          await keyboard.press("Tab")
          await page.getByLabel("Author").and(page.locator(":focus")).waitFor()
          await keyboard.type("Ann")
          await page.getByRole("option", { name: "Ann Author" }).waitFor()
          await keyboard.press("ArrowDown")
          await keyboard.press("Enter")
          await page.getByLabel("State *").focus()
          await keyboard.press("Enter")
          await keyboard.press("Enter")
          await page.getByLabel("Price *").focus()
          await keyboard.type("5\n")
          await page.getByRole("heading", { name: "New", exact: true }).waitFor()
        })
        await list("posters")
        await task("upload a picture", async () => {
          await click(row("Spring"))
          const chosen = page.waitForEvent("filechooser")
          await click(page.getByText("Choose a file").first())
          await (await chosen).setFiles({ name: "red.png", mimeType: "image/png", buffer })
          await click(button("Save"))
          await saved()
        })
        await list("books")
        await task("delete, after a question", async () => {
          await click(row("Book 05"))
          await click(button("Delete"))
          await click(page.getByRole("dialog").getByRole("button", { name: "Delete" }))
          await page.getByLabel("12 documents").waitFor()
        })
        await list("books")
        await task("change many at once", async () => {
          await click(page.locator("thead").getByRole("checkbox"))
          await click(page.getByRole("button", { name: /^Change/u }))
          await page.getByText("This is about 12 Books").waitFor()
          await page.getByRole("combobox", { name: "Field" }).and(page.locator(":focus")).waitFor()
          await keyboard.type("Price\n")
          await page.getByRole("dialog").getByLabel("Price").waitFor()
          await keyboard.press("Tab")
          await keyboard.type("7")
          await click(page.getByRole("dialog").getByRole("button", { name: "Change 12" }))
          await page.getByText("12 documents changed").waitFor()
        })
        await list("authors")
        await list("books")
        await task("save as CSV", async () => {
          const download = page.waitForEvent("download")
          await click(button("Save as CSV, as shown"))
          await download
        })
        await task("see who has changed what", async () => {
          await click(row("Book 03"))
          await click(page.getByRole("tab", { name: "History" }))
          await page.getByText(/99/u).first().waitFor()
        })
      })
      assert.deepStrictEqual(counted, {
        "sign in": 0,
        "find a document by a word": 2,
        "filter by two fields": 1,
        "edit one field and save": 2,
        "create with a reference": 1,
        "upload a picture": 3,
        "delete, after a question": 3,
        "change many at once": 3,
        "save as CSV": 1,
        "see who has changed what": 2
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))
})
