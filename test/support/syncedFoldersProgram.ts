/** A program that puts a file into a folder (`FOLDER`), and prints which folders below `BELOW` it has written to the disk by then. */
import { Effect, Stream } from "effect"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as path from "node:path"

const { BELOW: below = "", FOLDER: folder = "" } = process.env

const { fsync } = fs
const synced = new Set<number>()
const noted: typeof fsync = Object.assign(
  (descriptor: number, done: fs.NoParamCallback) => {
    const { ino } = fs.fstatSync(descriptor)
    fsync(descriptor, (error) => {
      synced.add(ino)
      done(error)
    })
  },
  { __promisify__: fsync.__promisify__ }
)
fs.fsync = noted
// Those who import it get this one.
syncBuiltinESMExports()

const { FileStore } = await import("../../src/index.ts")

const files = await Effect.runPromise(FileStore.makeFolder(folder))
await Effect.runPromise(files.put(Stream.make(new Uint8Array(3)), { id: "0".repeat(32) }))
const done = new Set(synced)
const folders = [below, ...fs.globSync("**/*/", { cwd: below }).map((name) => path.join(below, name))]
for (const one of folders) if (done.has(fs.statSync(one).ino)) console.log(path.relative(below, one) || ".")
