/** Files in the forms and lists of a browser. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { inBrowser } from "../../../test/support/browser.ts"
import { library } from "./library.ts"
import { assertAccessible, opened, signIn } from "./pages.ts"

const picture = (name: string, background: string) =>
  Effect.promise(async () => ({
    name,
    mimeType: "image/png",
    buffer: await sharp({ create: { width: 40, height: 40, channels: 3, background } }).png().toBuffer()
  }))

const pdf = (name: string, length = 100) => ({
  name,
  mimeType: "application/pdf",
  buffer: Buffer.from(`%PDF-1.7\n${" ".repeat(length)}`)
})

inBrowser("Files in the explorer", (open) => {
  it.live("are chosen, replaced and removed; what is refused stands at its field, and the rest is saved", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const [red, blue] = yield* Effect.all([picture("red.png", "red"), picture("blue.png", "blue")])
      const explorer = yield* opened(open, baseUrl, "#/posters/create")
      const { page } = explorer
      const inputOf = (label: string) => page.getByLabel(label, { exact: true })
      const problemAt = (label: string) => inputOf(label).evaluate((input) => input.getAttribute("aria-invalid"))
      const stored = Effect.map(editor.posters.list(), ({ _items: [poster] }) => ({
        name: poster?.name,
        picture: poster?.picture?.name,
        sheets: poster?.sheets.map(({ name }) => name)
      }))
      const save = async () => {
        await page.getByRole("button", { name: "Save" }).click()
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" })
      }
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByLabel("Name *").fill("Spring")
        await inputOf("Picture").setInputFiles(red)
        await inputOf("Sheets").setInputFiles([pdf("a.pdf"), pdf("large.pdf", 30_000)])
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByText("One field needs another look").waitFor()
        assert.deepStrictEqual([await problemAt("Picture"), await problemAt("Sheets")], ["false", "true"])
        await page.getByRole("button", { name: "Remove large.pdf" }).click()
        await page.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Spring" }).waitFor()
        await page.getByRole("img", { name: "red.png" }).waitFor()
      })
      assert.deepStrictEqual(yield* stored, { name: "Spring", picture: "red.png", sheets: ["a.pdf"] })

      // The keyboard stops once at a file.
      const stops = yield* Effect.promise(async () => {
        await page.getByLabel("Name *").focus()
        const found: Array<string> = []
        for (let i = 0; i < 6; i++) {
          await page.keyboard.press("Tab")
          const name =
            "document.activeElement.ariaLabel || document.activeElement.innerText || document.activeElement.tagName"
          found.push(String(await page.evaluate(name)))
        }
        return found
      })
      assert.deepStrictEqual(stops, ["red.png", "Remove red.png", "INPUT", "a.pdf", "Remove a.pdf", "INPUT"])

      // A text that is saved, one file that is taken and one that is not.
      yield* Effect.promise(async () => {
        await page.getByLabel("Name *").fill("Summer")
        await inputOf("Picture").setInputFiles(blue)
        await inputOf("Sheets").setInputFiles([pdf("b.pdf"), { ...pdf("c.png"), mimeType: "image/png" }])
        await page.getByRole("button", { name: "Save" }).click()
        await page.getByText("One field needs another look").waitFor()
        await page.getByRole("heading", { name: "Summer" }).waitFor()
        assert.strictEqual(await problemAt("Sheets"), "true")
        await assertAccessible(page, "a refused file")
      })
      assert.deepStrictEqual(yield* stored, { name: "Summer", picture: "blue.png", sheets: ["a.pdf", "b.pdf"] })
      yield* Effect.promise(async () => {
        assert.strictEqual(await page.getByText("since you began").count(), 0)
        assert.strictEqual(await page.getByRole("button", { name: /^Remove/u }).count(), 4)
        await page.getByRole("button", { name: "Remove c.png" }).click()
        await page.getByText("Unsaved changes").waitFor({ state: "hidden" })
        await page.getByRole("button", { name: "Remove a.pdf" }).click()
        await page.getByRole("button", { name: "Remove blue.png" }).click()
        await save()
      })
      assert.deepStrictEqual(yield* stored, { name: "Summer", picture: undefined, sheets: ["b.pdf"] })

      const asked: Array<string | undefined> = []
      yield* Effect.promise(async () => {
        await inputOf("Picture").setInputFiles(red)
        await inputOf("Sheets").setInputFiles([blue, red])
        await save()
        // The form asks for its pictures itself.
        const kept = page.locator("form img")
        await Promise.all([0, 1, 2].map((i) => kept.nth(i).waitFor()))
        page.on("request", (request) => {
          if (request.url().endsWith("/address")) asked.push(request.url().split("/").at(-2))
        })
        await explorer.goTo("#/posters")
        // In the place of the signs that there are files.
        await page.locator("tbody img[alt='red.png']").waitFor()
        await page.locator("tbody img[alt='blue.png']").waitFor()
        await page.locator("tbody").getByText("b.pdf").waitFor()
        // One picture of each field, however many it has.
        await page.locator("tbody").getByText("+1").waitFor()
        const pictures = "Array.from(document.querySelectorAll('tbody img'))"
        await page.evaluate(`Promise.all(${pictures}.map((picture) => picture.decode()))`)
        assert.deepStrictEqual(await page.evaluate(`${pictures}.map(({ naturalWidth }) => naturalWidth)`), [32, 32])
        await assertAccessible(page, "list of files")
      })
      assert.strictEqual(asked.length, 2)
      assert.deepStrictEqual(explorer.problems, [])

      // Who reads them opens them as well.
      const reader = yield* opened(open, baseUrl, "#/posters")
      yield* Effect.promise(async () => {
        await signIn(reader, "reader")
        await reader.page.getByRole("link", { name: "Summer" }).click()
        await reader.page.getByRole("main").getByRole("img", { name: "red.png" }).first().waitFor()
        const [saved] = await Promise.all([
          reader.page.waitForEvent("download"),
          reader.page.getByRole("button", { name: "b.pdf" }).click()
        ])
        assert.strictEqual(saved.suggestedFilename(), "b.pdf")
        await assertAccessible(reader.page, "files of a reader")
        await reader.page.emulateMedia({ media: "print" })
        assert.isTrue(await reader.page.getByRole("button", { name: "b.pdf" }).isVisible())
      })
      assert.deepStrictEqual(reader.problems, [])
    }))
})
