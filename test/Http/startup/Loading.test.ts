/** A program loads the modules of a feature only when it uses the feature. A server loads no client of Node's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as path from "node:path"
import { promisify } from "node:util"

const support = path.join(import.meta.dirname, "../../support")

const loadedWith = (what: string) =>
  Effect.promise(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--conditions=source",
      "--import",
      path.join(support, "sourceCondition.ts"),
      path.join(support, "loadingProgram.ts"),
      what
    ])
    const [, loaded] = /^loaded (.*)$/mu.exec(stdout) ?? []
    return loaded?.split(",").filter((name) => name !== "")
  })

describe("a program that serves documents", () => {
  it.effect.each<[what: string, modules: ReadonlyArray<string>]>([
    ["none", []],
    ["expand", ["expansion/budget", "expansion/expansion", "expansion/page", "expansion/referring"]],
    ["many", ["many/handlers", "many/items", "many/writes"]],
    ["history", ["history/historyHandlers"]],
    ["deleted", ["history/deletedHandlers"]],
    ["tables", ["response/tables"]],
    ["mcp", []]
  ])("loads with %s only what it is for", ([what, modules]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* loadedWith(what), modules)
    }))

  it.effect.each<[what: string, module: string, isLoaded: boolean]>([
    ["none with its server", path.join(support, "../../src/Http/server/nodeServer.ts"), false],
    ["one with the module of Node", "node:http", true]
  ])("loads of clients %s", ([, module, isLoaded]) =>
    Effect.gen(function*() {
      const program = `await import(${JSON.stringify(module)})
        console.log(process.moduleLoadList.includes("NativeModule internal/deps/undici/undici"))`
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [
          "--conditions=source",
          "--import",
          path.join(support, "sourceCondition.ts"),
          "--input-type=module",
          "--eval",
          program
        ])
      )
      assert.strictEqual(stdout, `${isLoaded}\n`)
    }))
})
