/** A program loads the modules of a feature only when it uses the feature. A server loads no client of Node's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as path from "node:path"
import { promisify } from "node:util"

const support = path.join(import.meta.dirname, "../../support")

type Row = readonly [what: string, modules: ReadonlyArray<string>]

const rows: ReadonlyArray<Row> = [
  ["none", []],
  ["expand", ["expansion/budget", "expansion/expansion", "expansion/page", "expansion/referring"]],
  ["many", ["many/handlers", "many/items", "many/writes"]],
  ["history", ["history/historyHandlers"]],
  ["deleted", ["history/deletedHandlers"]],
  ["tables", ["tables/cells", "tables/writeTable"]],
  ["mcp", []]
]

/** What a program loads with each of these, one after the other. */
const loadedWith = (whats: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--conditions=source",
      "--import",
      path.join(support, "sourceCondition.ts"),
      path.join(support, "loadingProgram.ts"),
      ...whats
    ])
    return Array.from(
      stdout.matchAll(/^loaded with (\w+): (.*)$/gmu),
      ([, what = "", loaded = ""]): Row => [what, loaded.split(",").filter((name) => name !== "")]
    )
  })

describe("a program that serves documents", () => {
  // What one loads for another that is before it in the one order shows in the other.
  it.effect.each<[order: string, rows: ReadonlyArray<Row>]>([
    ["one after the other", rows],
    ["in the reverse order", rows.toReversed()]
  ])("loads with each feature only what it is for, %s", ([, rows]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* loadedWith(rows.map(([what]) => what)), rows)
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
