import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as path from "node:path"
import { attacks } from "../../../test/support/hostilePipelines.ts"
import { runProgram } from "../../../test/support/processes.ts"

it.effect("Hostile pipelines do not exhaust a process with a small heap", () =>
  Effect.gen(function*() {
    const program = yield* runProgram(programFile, { NODE_OPTIONS: "--max-old-space-size=256" })
    assert.strictEqual(yield* program.ended, 0, program.output())
    const ended = program.output().trim().split("\n")
    assert.deepStrictEqual(
      ended.map((line) => line.slice(line.indexOf(":") + 2)),
      attacks.map(({ name }) => name)
    )
  }))

// internal

// Documents of 200 MiB would not fit in there beside those that are stored, and the program itself.
const programFile = path.join(import.meta.dirname, "../../../test/support/hostileProgram.ts")
