import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { currentProcess, isRunning, ownerOf } from "../../../src/Repository/internal/folderOwner.ts"

describe("folderOwner", () => {
  it.effect("knows a process that is running, and one that is gone", () =>
    Effect.sync(() => {
      const gone = spawnSync(process.execPath, ["--version"]).pid
      assert.isTrue(isRunning(currentProcess()))
      assert.isFalse(isRunning({ pid: gone, started: "" }))
      assert.isFalse(isRunning({ pid: gone, started: "1" }))
    }))

  it.effect.runIf(process.platform === "linux")(
    "tells a process from an earlier one of the same number",
    () =>
      Effect.sync(() => {
        assert.isFalse(isRunning({ pid: process.pid, started: "1" }))
      })
  )

  it.effect("takes a process of unknown age for the one it looks for", () =>
    Effect.sync(() => {
      assert.isTrue(isRunning({ pid: process.pid, started: "" }))
    }))

  it.effect("reads an owner as it was written, and nothing else", () =>
    Effect.sync(() => {
      const owner = currentProcess()
      assert.deepStrictEqual(ownerOf({ ...owner }), owner)
      assert.isUndefined(ownerOf(undefined))
      assert.isUndefined(ownerOf({ pid: "1", started: "1" }))
    }))
})
