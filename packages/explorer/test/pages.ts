/** What somebody does in the explorer. */
import { assert } from "@effect/vitest"
import axe from "axe-core"
import { Effect, type Scope } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { password } from "./library.ts"

/** A page of the explorer, and what went wrong in it. */
export interface Explorer {
  readonly page: Page
  readonly problems: ReadonlyArray<string>
  /** Goes to an address of the explorer: `#/books`. */
  readonly goTo: (address: string) => Promise<void>
}

/** Opens the explorer in a window of its own, at an address. */
export const opened = Effect.fnUntraced(function*(
  open: Effect.Effect<BrowserContext, never, Scope.Scope>,
  baseUrl: string,
  address = ""
) {
  const browser = yield* open
  const page = yield* Effect.promise(() => browser.newPage())
  const problems: Array<string> = []
  page.on("pageerror", ({ message }) => problems.push(message))
  page.on("console", (message) => {
    // The page's policy forbids what it reports; what the service refuses is a test's own matter.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      problems.push(message.text())
    }
  })
  page.on("dialog", (dialog) => {
    // Nothing is left unsaved where a test leaves a page.
    problems.push(`${dialog.type()} ${dialog.message()}`)
    void dialog.accept()
  })
  const goTo = async (to: string) => {
    await page.goto(`${baseUrl}/explorer${to}`)
  }
  yield* Effect.promise(() => goTo(address))
  return { page, problems, goTo } satisfies Explorer
})

/** Enters name and password. */
export const enter = async ({ page }: Explorer, role: string): Promise<void> => {
  await page.getByLabel("Username").fill(`${role}@example.com`)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
}

/** Signs somebody in, and waits for the page behind it. */
export const signIn = async (explorer: Explorer, role: string): Promise<void> => {
  await enter(explorer, role)
  await explorer.page.getByRole("button", { name: "Go to…" }).waitFor()
}

/** Asserts that axe, which looks for barriers, finds nothing serious. */
export const assertAccessible = async (page: Page, where: string): Promise<void> => {
  // Colours in transition are none that somebody reads.
  await page.evaluate("Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => 0)))")
  // It stays until the page is loaded again.
  if (await page.evaluate("typeof axe") === "undefined") await page.evaluate(axe.source)
  const found: ReadonlyArray<Violation> = await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations)"
  )
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical")
  assert.deepStrictEqual(
    serious.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 300)).join("\n")}`),
    []
  )
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}
