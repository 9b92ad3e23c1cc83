/**
 * Writes a log to `FOLDER` until the disk is full, frees space, and continues. Prints the numbers of complete and of
 * incomplete lines in the file.
 */
import { Effect } from "effect"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { openLogFile } from "../../src/Http/server/logFile.ts"

const folder = process.env["FOLDER"] ?? ""
const file = join(folder, "shop.log")
const line = (kind: string) => `${JSON.stringify({ kind, text: "x".repeat(997) })}\n`

let now = 0
const failures: Array<string> = []
const options = {
  file,
  maxSize: 100_000_000,
  backupCount: 1,
  modes: { folder: 0o700, file: 0o600, expected: 0 },
  onFailure: (detail: string) => failures.push(detail),
  now: () => now
}

await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  const log = yield* openLogFile(options)
  while (failures.length === 0) {
    log.write(line("before"))
    yield* Effect.promise(() => setTimeout(0))
  }
  rmSync(join(folder, "filler"))
  now += 10_000
  for (let i = 0; i < 10; i++) log.write(line("after"))
})))

const lines = readFileSync(file, "utf8").trimEnd().split("\n")
const isWhole = (text: string) => text.startsWith("{") && text.endsWith("}")
console.log(JSON.stringify({
  failures: failures.length,
  cut: lines.filter((text) => !isWhole(text)).length,
  after: lines.filter((text) => isWhole(text) && text.includes("\"after\"")).length
}))
