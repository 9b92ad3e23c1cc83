import { assert, it } from "@effect/vitest"
import * as fs from "node:fs"
import { settings } from "../../../src/Http/config/settings.ts"

const byText = (a: string, b: string): number => a < b ? -1 : 1

const keys = Object.values(settings).map(({ key }) => key).toSorted(byText)

it("every key is in the table of KernelConfig", () => {
  const text = fs.readFileSync("src/Http/KernelConfig.ts", "utf8")
  assert.deepStrictEqual(
    Array.from(text.matchAll(/^ \* \| `([\w.]+)` \|/gmu), ([, key = ""]) => key).toSorted(byText),
    keys
  )
})

it("every key is in the configuration of the shop", () => {
  const found: Array<string> = []
  let section = ""
  let parent = ""
  for (const line of fs.readFileSync("examples/shop/cfg.yml", "utf8").split("\n")) {
    section = /^ {2}(\w+):/u.exec(line)?.[1] ?? section
    const [, mapping] = /^ {4}(?:# )?(\w+):$/u.exec(line) ?? []
    const [, key] = /^ {4}(?:# )?(\w+):/u.exec(line) ?? []
    const [, nested] = /^ {4}(?:# )? {2}(\w+):/u.exec(line) ?? []
    if (mapping !== undefined) parent = mapping
    else if (key !== undefined) found.push(`${section}.${key}`)
    else if (nested !== undefined) found.push(`${section}.${parent}.${nested}`)
  }
  assert.deepStrictEqual(found.toSorted(byText), keys)
})
