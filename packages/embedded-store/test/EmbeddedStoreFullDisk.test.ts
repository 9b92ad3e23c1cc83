import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as path from "node:path"
import { freshDirectory } from "../../../test/support/folders.ts"
import { printed, type Program, runProgram } from "../../../test/support/processes.ts"
import { allowMore, canAllowMore, withSmallDisk, withSmallFiles } from "../../../test/support/smallDisk.ts"

describe("EmbeddedStore on a full disk / embedded", () => {
  it.live.skipIf(withSmallDisk === undefined)(
    "rejects writes on a full disk, continues to read, and writes again when there is space",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const env = { FOLDER: path.join(folder, "store"), FILLER: path.join(folder, "filler") }
        const program = yield* runProgram(programFile, env, withSmallDisk?.(folder, 8, 3))
        yield* program.ended
        const said = saidBy(program)
        isRight(said, /^its file system has less than 1\.0 MB free \(there is no room left\)$/u)
        // It needs no room for what it has, but some for what is new.
        assert.match(said("open"), /^(?:opened|The store is unavailable \(open\): .*no space left on device)/i)
        const { FOLDER } = env
        assert.strictEqual(
          said("begin"),
          `The store is unavailable (open): folder ${FOLDER}/new can't be used: ENOSPC: no space left on device, write`
        )
        assert.strictEqual(said("begin again"), "opened")
      })
  )

  it.live.skipIf(withSmallDisk === undefined)(
    "fails to make a backup that has no room, however little it lacks",
    () =>
      Effect.gen(function*() {
        const [folder, disk] = [yield* freshDirectory, yield* freshDirectory]
        const env = { DATA: path.join(folder, "data"), DISK: disk }
        const program = yield* runProgram(backupFile, env, withSmallDisk?.(disk, 4, 0))
        assert.strictEqual(yield* program.ended, 0, program.output())
        const lines = program.output().split("\n").filter((line) => /^\d+: /u.test(line))
        assert.match(lines.at(-1) ?? "", /^\d+: made$/u)
        assert.isAbove(lines.length, 3)
        for (const line of lines.slice(0, -1)) assert.match(line, /^\d+: StoreUnavailable$/u)
      })
  )

  it.live.skipIf(!canAllowMore)(
    "rejects writes beyond the file size limit, continues to read, and writes again when the limit is raised",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const program = yield* runProgram(programFile, { FOLDER: folder }, withSmallFiles(3))
        yield* printed(program, "\nfull\n")
        assert.isTrue(allowMore(program.process.pid ?? 0))
        yield* program.ended
        isRight(saidBy(program), /^the disk did not take it or give it: .*no room left\)$/u)
      })
  )
})

// internal

const backupFile = path.join(import.meta.dirname, "../../../test/support/fullBackupProgram.ts")

const programFile = path.join(import.meta.dirname, "../../../test/support/fullDiskProgram.ts")

type Said = (topic: string) => string

const saidBy = (program: Program): Said => {
  const output = program.output()
  const lines = output.split("\n")
  return (topic) => lines.find((line) => line.startsWith(`${topic}: `))?.slice(topic.length + 2) ?? output
}

const isRight = (said: Said, reason: RegExp) => {
  for (const refusal of said("refused").split(" | ")) {
    const prefix = /^StoreUnavailable The store is unavailable \((?:insertOne|insertMany|transaction)\): /u
    assert.match(refusal, prefix)
    assert.match(refusal.replace(prefix, ""), reason)
  }
  assert.match(said("written before"), /^[1-9]\d+$/)
  assert.strictEqual(said("refused meanwhile"), "8")
  assert.strictEqual(said("update of all"), "StoreUnavailable")
  assert.strictEqual(said("problems when full"), "0")
  assert.strictEqual(said("problems"), "0")
  assert.strictEqual(said("done"), "true")
}
