/** A list in a browser while its service stops, starts again, and refuses. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { inBrowser } from "../../../test/support/browser.ts"
import { doorTo } from "../../../test/support/door.ts"
import { freshDirectory } from "../../../test/support/folders.ts"
import { libraryOn, libraryWithPeopleOn } from "./library.ts"
import { opened, signIn } from "./pages.ts"

inBrowser("A live list", (open) => {
  it.live("says that it isn't live while its service is away, and shows afterwards what was written meanwhile", () =>
    Effect.gen(function*() {
      const store = EmbeddedStore.layerWith({ path: yield* freshDirectory })
      const first = yield* Scope.fork(yield* Scope.Scope)
      const { baseUrl, editor } = yield* Scope.provide(libraryWithPeopleOn(store), first)
      yield* editor.authors.create({ payload: { name: "Ann" } })
      const door = yield* doorTo(baseUrl)
      yield* door.open
      const explorer = yield* opened(open, `http://127.0.0.1:${door.port}`, "#/authors")
      const { page } = explorer
      const state = (name: string) => page.getByText(name, { exact: true }).waitFor()
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByRole("link", { name: "Ann" }).waitFor()
        await state("Live")
      })
      yield* door.close
      yield* Scope.close(first, Exit.void)
      yield* Effect.promise(() => state("Not live"))

      const again = yield* libraryOn(store)
      yield* again.editor.authors.create({ payload: { name: "Bob" } })
      yield* door.turnTo(again.baseUrl)
      yield* door.open
      yield* Effect.promise(async () => {
        await state("Live")
        await page.getByRole("link", { name: "Bob" }).waitFor()

        // What the service refuses is not tried again.
        await page.route("**/changes?*", (route) => route.fulfill({ status: 403, json: { message: "No" } }))
      })
      yield* door.close
      yield* door.open
      yield* Effect.promise(async () => {
        await state("No longer live")
        await page.getByText("does not tell changes any more").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))
})
