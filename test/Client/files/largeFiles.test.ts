/** The memory that large files need, in processes of their own. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as path from "node:path"
import { runProgram } from "../../support/processes.ts"

describe("large files", () => {
  it.live.each(["uploadFrom", "downloadTo"])("need little memory for %s", (row) =>
    Effect.gen(function*() {
      const file = path.join(import.meta.dirname, "../../../bench/run.ts")
      const program = yield* runProgram(file, {}, [], ["--part", "transfers", "--size", "160", "--rows", row])
      assert.strictEqual(yield* program.ended, 0, program.output())
      const [megabytes = Number.NaN] = program.output().trim().split(/\s+/u).map(Number).toReversed()
      assert.isBelow(megabytes, 100, program.output())
    }))
})
