/**
 * Saves what is downloaded: into a temporary file beside the destination, which gets its name when it is complete. A failed
 * or interrupted download leaves nothing behind and an earlier file as it was. Only a process that is killed leaves its
 * temporary file, `.<uuid>.part`.
 */
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { fileModes } from "../../internal/fileModes.ts"

/** Where a download is saved: a folder that exists, and the file's name if the caller chose it. */
export interface Destination {
  readonly folder: string
  readonly name: string | undefined
}

/**
 * The destination that a path means: an existing folder, also one that ends with a separator, otherwise a file in an
 * existing folder. Fails if the folder does not exist.
 */
export const destinationOf = Effect.fnUntraced(function*(
  dest: string
): Effect.fn.Return<Destination, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const absolute = path.resolve(dest)
  if (dest.endsWith("/") || dest.endsWith(path.sep)) return yield* existingFolder(absolute, undefined)
  const isFolder = yield* fileSystem.stat(absolute).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false))
  )
  return isFolder
    ? { folder: absolute, name: undefined }
    : yield* existingFolder(path.dirname(absolute), path.basename(absolute))
})

/**
 * Saves the bytes under the name in the folder, in the place of an earlier file, whose mode it gets, and returns the absolute
 * path. The file is on the disk before it gets its name.
 */
export const saveFile = <E, R>(
  folder: string,
  name: string,
  content: Stream.Stream<Uint8Array, E, R>
): Effect.Effect<string, E | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path | R> =>
  Effect.scoped(Effect.gen(function*() {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const destination = path.join(folder, name)
    const part = path.join(folder, `.${(yield* WebCrypto.WebCrypto).randomUUID()}.part`)
    yield* Effect.addFinalizer(() => Effect.ignore(fileSystem.remove(part, { force: true }), { log: "Warn" }))
    yield* Effect.scoped(Effect.gen(function*() {
      const mode = yield* modeOf(destination)
      // Nobody reads it meanwhile who could not read the earlier file.
      const file = yield* fileSystem.open(part, { flag: "wx", mode })
      yield* fileSystem.chmod(part, mode)
      // An interrupted write would still run while the file is closed.
      yield* Stream.runForEach(content, (bytes) => Effect.uninterruptible(file.writeAll(bytes)))
      yield* Effect.uninterruptible(file.sync)
    }))
    yield* Effect.uninterruptible(fileSystem.rename(part, destination))
    return destination
  })).pipe(Effect.mapError((error) => error instanceof PlatformError.PlatformError ? named(error) : error))

// internal

/** The system's error for a full disk has a name that says so. */
const named = (error: PlatformError.PlatformError): PlatformError.PlatformError => {
  const { reason } = error
  const { cause } = reason
  if (reason._tag === "BadArgument" || !Predicate.hasProperty(cause, "code")) return error
  const { _tag, method, module, pathOrDescriptor, syscall } = reason
  return cause.code === "ENOSPC" || cause.code === "EDQUOT"
    ? PlatformError.systemError({
      _tag,
      module,
      method,
      pathOrDescriptor,
      syscall,
      cause,
      description: "the disk is full"
    })
    : error
}

/** The permissions of the file that is replaced; of a new one if there is none. */
const modeOf = (destination: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.stat(destination).pipe(
      Effect.map(({ mode }) => mode & 0o777),
      Effect.catchReason("PlatformError", "NotFound", () => Effect.map(fileModes, ({ file }) => file))
    ))

const existingFolder = Effect.fnUntraced(function*(folder: string, name: string | undefined) {
  const fileSystem = yield* FileSystem.FileSystem
  const { type } = yield* fileSystem.stat(folder)
  if (type === "Directory") return { folder, name }
  return yield* Effect.fail(PlatformError.systemError({
    _tag: "BadResource",
    module: "FileSystem",
    method: "downloadTo",
    pathOrDescriptor: folder,
    description: "it is no directory"
  }))
})
