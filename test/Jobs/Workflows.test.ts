import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as path from "node:path"
import { freshDirectory } from "../support/folders.ts"
import { linesOf, runProgram } from "../support/processes.ts"

it.live(
  "A workflow whose process is killed in each of its steps goes on after the last one that was noted, and ends once",
  () =>
    Effect.gen(function*() {
      const FOLDER = path.join(yield* freshDirectory, "data")
      const run = Effect.fnUntraced(function*(env: { readonly [name: string]: string }) {
        const running = yield* runProgram(programFile, { FOLDER, ...env })
        return { ended: yield* running.ended, lines: linesOf(running) }
      }, Effect.scoped)
      for (const KILL of ["1", "2", "3"]) {
        assert.strictEqual((yield* run({ KILL, WHEN: KILL === "2" ? "before" : "after" })).ended, "SIGKILL")
      }
      // A step is done again if its process was killed before the step was noted.
      assert.deepStrictEqual((yield* run({})).lines, [{ result: 6, times: [2, 1, 2] }])
    }).pipe(Effect.scoped),
  120_000
)

const programFile = path.join(import.meta.dirname, "../support/workflowProgram.ts")
