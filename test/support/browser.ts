/** A real browser for the suites of pages: CHROMIUM_PATH, or one of the usual names on the path. */
import { afterAll, assert, describe } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { type Browser, type BrowserContext, chromium } from "playwright-core"
import { bundled } from "../../scripts/package/bundle.ts"

const root = path.join(import.meta.dirname, "../..")

interface Manifest {
  readonly name: string
  readonly exports: { readonly [entry: string]: { readonly source?: string } }
}

/** The sources of the project's packages, since what is built of them may not be there. */
const sources = Object.fromEntries([
  ["appkernel", path.join(root, "src/browser.ts")],
  ...fs.globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
    const { exports, name }: Manifest = JSON.parse(fs.readFileSync(path.join(root, file), "utf8"))
    return Object.entries(exports).flatMap(([entry, { source }]) =>
      source === undefined ? [] : [[`${name}${entry.slice(1)}$`, path.join(root, path.dirname(file), source)] as const]
    )
  })
])

/** Bundles a program of the project for a browser. */
export const bundledForBrowser = (input: string) => Effect.promise(() => bundled(input, sources))

/** The first one has no windows, and needs three quarters of the processor time of the others. */
const names = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome"
]

/** No test looks at pixels, and drawing them by an emulated graphics card takes a tenth of the processor time. */
const withoutGraphics = ["--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer"]

const named = process.env["CHROMIUM_PATH"] ?? ""

const executablePath = named === ""
  ? names
    .flatMap((name) => (process.env["PATH"] ?? "").split(path.delimiter).map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file))
  : named

/**
 * Declares a suite that needs a browser: skipped where there is none, but for CI, where it has to run. Its tests share the
 * browser, and each has windows of its own, which share nothing.
 */
export const inBrowser = (
  name: string,
  suite: (open: Effect.Effect<BrowserContext, never, Scope.Scope>) => void
): void => {
  if (executablePath === undefined && process.env["CI"] === undefined) {
    console.warn(`Skipped, as there is no browser: ${name}. Give CHROMIUM_PATH, or install chromium-headless-shell.`)
    describe.skip(name, () => suite(Effect.die(new Error("There is no browser"))))
    return
  }
  describe(name, () => {
    let browser: Browser | undefined
    const started = async (): Promise<Browser> => {
      assert(
        executablePath !== undefined,
        "There is no browser: give CHROMIUM_PATH, or install chromium-headless-shell"
      )
      // After a crash, the next test has another one. A container's root has no sandbox to put it in.
      if (browser?.isConnected() !== true) {
        browser = await chromium.launch({ executablePath, args: ["--no-sandbox", ...withoutGraphics] })
      }
      return browser
    }
    afterAll(() => browser?.close())
    suite(Effect.flatMap(Effect.promise(started), windowOf))
  })
}

/** No test looks at what moves, and each picture of a movement takes processor time. */
const atOnce = `{
  const sheet = new CSSStyleSheet()
  sheet.replaceSync("*, ::before, ::after { transition-duration: 0s !important; animation-duration: 0s !important }")
  document.adoptedStyleSheets.push(sheet)
}`

/** A window of its own, until the scope is closed. */
const windowOf = Effect.fnUntraced(function*(browser: Browser) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newContext()),
    (context) => Effect.promise(() => context.close())
  )
  context.setDefaultTimeout(120_000)
  yield* Effect.promise(() => context.addInitScript(atOnce))
  return context
})
