/** A program that puts files into a folder (`FOLDER`) until the disk is full, and one more when there is space again. */
import { Effect, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { FileStore } from "../../src/index.ts"

const { FOLDER: folder = "" } = process.env

const content = (megabytes: number) => Stream.take(Stream.forever(Stream.make(new Uint8Array(65_536))), megabytes * 16)

await Effect.runPromise(Effect.gen(function*() {
  const files = yield* FileStore.makeFolder(path.join(folder, "files"))
  const say = Effect.flatMap(
    Stream.runCount(files.entries),
    (count) => Effect.sync(() => console.log(`files ${count}`))
  )
  yield* files.put(content(2))
  const error = yield* Effect.flip(files.put(content(4)))
  yield* Effect.sync(() => console.log(error._tag, Object(error)["retryable"], error.message))
  yield* say
  yield* Effect.sync(() => fs.rmSync(path.join(folder, "filler")))
  yield* files.put(content(4))
  yield* say
}))
