/**
 * A program that makes backups of a store (`DATA`) onto a small disk (`DISK`), each time with a page more of room than before,
 * until one fits. It prints how each ends.
 */
import { Effect, Result } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"

const { DATA: data = "", DISK: disk = "" } = process.env

const pageSize = 4096

const filler = path.join(disk, "filler")

/** Leaves so many bytes of the disk free. */
const leave = (bytes: number): void => {
  fs.truncateSync(filler)
  const { bavail, bsize } = fs.statfsSync(disk)
  fs.writeFileSync(filler, Buffer.alloc(bavail * bsize - bytes))
}

const program = Effect.gen(function*() {
  yield* Effect.scoped(
    Effect.flatMap(EmbeddedStore.make({ path: data }), (store) => store.insertOne("things", { _id: 1 }))
  )
  const { bytes } = yield* EmbeddedStore.backup({ path: data, to: `${data}.backup` })
  for (let pages = 0; pages <= 16; pages++) {
    leave(bytes + pages * pageSize)
    const made = yield* Effect.result(EmbeddedStore.backup({ path: data, to: path.join(disk, "backup") }))
    console.log(`\n${pages}: ${Result.isSuccess(made) ? "made" : made.failure._tag}`)
    if (Result.isSuccess(made)) break
  }
})

await Effect.runPromise(program)
