/** A real browser for the suites of pages: CHROMIUM_PATH, or one of the usual names on the path. */
import { describe } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { type BrowserContext, chromium } from "playwright-core"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]

const named = process.env["CHROMIUM_PATH"] ?? ""

const executablePath = named === ""
  ? (process.env["PATH"] ?? "").split(path.delimiter)
    .flatMap((folder) => names.map((name) => path.join(folder, name)))
    .find((file) => fs.existsSync(file))
  : named

/** Declares a suite that needs a browser: skipped where there is none, but for CI, where it has to run. */
export const inBrowser = (
  name: string,
  suite: (open: Effect.Effect<BrowserContext, never, Scope.Scope>) => void
): void => {
  if (executablePath === undefined && process.env["CI"] === undefined) {
    console.warn(`Skipped, as there is no browser: ${name}. Give CHROMIUM_PATH, or install chromium.`)
    describe.skip(name, () => suite(Effect.die(new Error("There is no browser"))))
    return
  }
  describe(name, () => suite(opened))
}

/** A window of its own, until the scope is closed. */
const opened = Effect.gen(function*() {
  if (executablePath === undefined) {
    return yield* Effect.die(new Error("There is no browser: give CHROMIUM_PATH, or install chromium"))
  }
  const browser = yield* Effect.acquireRelease(
    // A container's root has no sandbox to put it in.
    Effect.promise(() => chromium.launch({ executablePath, args: ["--no-sandbox"] })),
    (browser) => Effect.promise(() => browser.close())
  )
  const context = yield* Effect.promise(() => browser.newContext())
  context.setDefaultTimeout(120_000)
  return context
})
