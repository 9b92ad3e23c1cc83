import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import * as browser from "../src/browser.ts"
import * as all from "../src/index.ts"

const root = path.join(import.meta.dirname, "..")

/** The sources of the package's entries, by the names of their modules. */
const entries = new Map(
  Object.entries(JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).exports as Entries).flatMap(
    ([entry, { source }]) => source === undefined || entry === "." ? [] : [[entry.slice("./".length), source] as const]
  )
)

interface Entries {
  readonly [entry: string]: { readonly source?: string }
}

describe("The package", () => {
  it("is checked with all that the compiler's configuration of editors includes", () => {
    const includes = (file: string): ReadonlyArray<string> =>
      JSON.parse(/^ {2}"include": (\[.*\])/mu.exec(fs.readFileSync(path.join(root, file), "utf8"))?.[1] ?? "[]")
    assert.deepStrictEqual(includes("tsconfig.check.json"), [...includes("tsconfig.json"), ".examples/**/*"])
  })

  it("has an entry for each module of the index: `import * as Model from \"appkernel/Model\"`", async () => {
    for (const [name, value] of Object.entries(all)) {
      // Permissions stand in the index beside their module.
      if (Reflect.get(all.Permission, name) === value) continue
      const source = entries.get(name)
      assert.isDefined(source, `package.json has no entry ./${name}`)
      const module: object = await import(path.join(root, source))
      // A module that is a single class is exported as the class.
      assert.isTrue(module === value || Reflect.get(module, name) === value, `./${name} is ${source}`)
    }
  })

  it("has no entry for a module that the index lacks", () => {
    // Those whose types alone are public have nothing at run time.
    const types = fs.readFileSync(path.join(root, "src/Model/index.ts"), "utf8").matchAll(/^export type \* as (\w+)/gmu)
    const names = [...Object.keys(all), ...Array.from(types, ([, name = ""]) => name)]
    for (const name of entries.keys()) assert.include(names, name)
  })

  it("gives browsers modules of the index", () => {
    for (const [name, value] of Object.entries(browser)) assert.strictEqual(Reflect.get(all, name), value, name)
  })
})
