import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import * as path from "node:path"
import { freshDirectory } from "../../../../../test/support/folders.ts"
import { printed, runProgram } from "../../../../../test/support/processes.ts"
import * as EmbeddedStore from "../../../src/EmbeddedStore.ts"

describe("readers of an open folder", () => {
  it.live.skipIf(process.platform === "win32")(
    "that were killed are forgotten with the first write after a minute",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const store = yield* EmbeddedStore.make({ path: folder })
        yield* store.insertOne("things", { _id: 1 })
        const program = yield* runProgram(programFile, { FOLDER: folder })
        yield* printed(program, "reading")
        const pid = Buffer.alloc(4)
        pid.writeUInt32LE(program.process.pid ?? 0)
        // To open and close the file in this process would release its locks.
        const isKnown = Effect.sync(() => spawnSync("cat", [path.join(folder, "lock.mdb")]).stdout.includes(pid))
        program.process.kill("SIGKILL")
        yield* program.ended
        yield* store.insertOne("things", { _id: 2 })
        assert.isTrue(yield* isKnown)
        const now = performance.now()
        const clock = vi.spyOn(performance, "now").mockReturnValue(now + 61_000)
        yield* Effect.addFinalizer(() => Effect.sync(() => clock.mockRestore()))
        yield* store.insertOne("things", { _id: 3 })
        assert.isFalse(yield* isKnown)
      })
  )
})

const programFile = path.join(import.meta.dirname, "../../../../../test/support/readingProgram.ts")
