import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { Keys } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { runProgram } from "../support/processes.ts"

const root = path.join(import.meta.dirname, "../..")

const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const program = yield* runProgram(path.join(root, "src/Cli/Main.ts"), {}, [], args)
  return { code: yield* program.ended, output: program.output() }
})

describe("appkernel", () => {
  it.live("keys: makes a pair that a service uses, and never replaces one", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
        const keys = `${folder}/${algorithm}/keys`
        const { code, output } = yield* run("keys", keys, ...(algorithm === "RS256" ? [] : ["--algorithm", algorithm]))
        assert.strictEqual(code, 0, output)
        const used = yield* Effect.provide(
          Keys.Keys,
          Keys.layerWith({ cfgDir: path.dirname(keys), development: false })
        )
        assert.strictEqual(used.algorithm, algorithm)
        assert.include(output, used.id)
        assert.strictEqual((yield* files.stat(`${keys}/private.pem`)).mode & 0o777, 0o600)
      }
      const keys = `${folder}/ES256/keys`
      const before = yield* files.readFileString(`${keys}/private.pem`)
      const again = yield* run("keys", keys)
      assert.deepStrictEqual(again, {
        code: 1,
        output: `The keys for tokens can't be used: ${keys}/private.pem: it is there already\n`
      })
      yield* files.remove(`${keys}/private.pem`)
      const half = yield* run("keys", keys)
      assert.include(half.output, `${keys}/public.pem: it is there already`)
      assert.isFalse(yield* files.exists(`${keys}/private.pem`))
      yield* files.writeFileString(`${keys}/private.pem`, before)
    }).pipe(Effect.provide(NodeServices.layer)), 30_000)

  it.live("has the version of the package, which names it", () =>
    Effect.gen(function*() {
      const { bin, version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
      assert.include((yield* run("--version")).output, version)
      assert.deepStrictEqual(bin, { appkernel: "./dist/Cli/Main.js" })
      assert.isTrue(fs.readFileSync(path.join(root, "src/Cli/Main.ts"), "utf8").startsWith("#!/usr/bin/env node\n"))
    }))
})
