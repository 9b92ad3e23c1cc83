/** Stores a new key pair in a folder. Processes that start at the same time agree on one pair. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"

/** Writes the private key beside its place and links it: the first of several processes wins; returns whether. */
export const writePair = Effect.fnUntraced(function*(folder: string, privatePem: string, publicPem: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* makeFolder(folder)
  const hidden = yield* files.makeTempDirectoryScoped({ directory: folder, prefix: ".new-" })
  const written = path.join(hidden, "private.pem")
  const file = yield* files.open(written, { flag: "wx", mode: 0o600 })
  yield* file.writeAll(new TextEncoder().encode(privatePem))
  yield* file.sync
  const isOurs = yield* files.link(written, path.join(folder, "private.pem")).pipe(
    Effect.as(true),
    Effect.catchTag(
      "PlatformError",
      (error) => error.reason._tag === "AlreadyExists" ? Effect.succeed(false) : Effect.fail(error)
    )
  )
  if (isOurs) yield* files.writeFileString(path.join(folder, "public.pem"), publicPem, { mode: 0o600 })
  return isOurs
}, Effect.scoped)

/** Creates a folder and its parents. `makeDirectory` with `recursive` never ends where no folder can be created, as in /proc. */
const makeFolder: (
  folder: string
) => Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(
  function*(folder) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    if (yield* files.exists(folder)) return
    const parent = path.dirname(folder)
    if (parent !== folder) yield* makeFolder(parent)
    yield* Effect.catchTag(
      files.makeDirectory(folder, { mode: 0o700 }),
      "PlatformError",
      (error) => error.reason._tag === "AlreadyExists" ? Effect.void : Effect.fail(error)
    )
  }
)
