import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { programOf } from "../../support/processes.ts"

/** A program that has the package, on a Node that says it is of this version. */
const runOn = (version: string) =>
  Effect.suspend(() => {
    const older = `Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} })`
    const program = "import('appkernel').then(() => console.log('loaded'))"
    const process_ = spawn(process.execPath, [
      "--conditions=source",
      `--import=data:text/javascript,${encodeURIComponent(older)}`,
      `--eval=${program}`
    ])
    const started = programOf(process_)
    return Effect.map(started.ended, (code) => [code, started.output().trim()])
  })

describe("The version of Node", () => {
  it.live("that is too old ends a program with one line and the code 1", () =>
    Effect.gen(function*() {
      const { engines: { node } } = JSON.parse(readFileSync("package.json", "utf8"))
      assert.strictEqual(node, ">=22.19")
      for (const version of ["20.20.2", "22.18.0"]) {
        assert.deepStrictEqual(yield* runOn(version), [
          1,
          `AppKernel needs Node 22.19 or newer, and this is ${version}`
        ])
      }
      assert.deepStrictEqual(yield* runOn("22.19.0"), [0, "loaded"])
    }))
})
