/**
 * Checks a folder before lmdb opens it, since lmdb crashes the process when it can't open its files, and watches it while
 * it is open.
 */
import { type FileModes, makeFile, problemOf } from "@appkernel/document-store/folders"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"
import * as path from "node:path"
import process from "node:process"
import { inSteps } from "../orderedStore.ts"
import { lockFile as ownerFile } from "./folderLock.ts"
import { problemOfPages } from "./pages.ts"
import type { RecordCheck } from "./records.ts"

export const dataFile = "data.mdb"
const lockFile = "lock.mdb"
const roomFile = "room.tmp"

// The lock file is preallocated: lmdb maps it into memory, where a full disk raises a signal instead of an error.
const lockLength = 8192

// In milliseconds.
const lookEvery = 300

// More than lmdb needs for its first pages; without room for them it crashes the process, too.
const roomForNew = 65_536

// In the lock file, after a magic number and a version: the number of the last commit.
const lastCommitAt = 8

// A larger file is not read as a whole when it is opened; this much takes about a second.
const maxRead = 512 * 1024 * 1024

/**
 * Why lmdb can't use a folder, or `undefined`. It is read in steps, and `check` sees its values. Logs that others can read it.
 */
export const problemOfFolder = (
  folder: string,
  check: RecordCheck,
  { expected, file: mode }: FileModes
): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    const problem = problemOf(() => {
      const [data, lock] = [path.join(folder, dataFile), path.join(folder, lockFile)]
      for (const file of [data, lock]) makeFile(file, mode)
      // Missing files are created.
      if (sizeOf(data) > 0) return prepareLock(lock)
      tryRoom(path.join(folder, roomFile))
      prepareLock(lock)
      return hasCommits(lock) ? `${dataFile} is empty or was removed, but ${lockFile} tells of written data` : undefined
    })
    const isNew = fs.statSync(path.join(folder, dataFile), { throwIfNoEntry: false })?.size === 0
    if (problem !== undefined || isNew) return Effect.succeed(problem)
    const wider = ["", dataFile, lockFile].flatMap((name) => {
      const { mode } = fs.statSync(path.join(folder, name))
      return (mode & 0o077 & ~expected) === 0
        ? []
        : [`${name === "" ? "the folder" : name} (${(mode & 0o777).toString(8)})`]
    })
    const checked = problemOfData(path.join(folder, dataFile), check, maxRead)
    // Windows has other permissions.
    if (wider.length === 0 || process.platform === "win32") return checked
    const remedy = `chmod -R go= ${folder}, or files.readable_by says who may`
    return Effect.andThen(
      Effect.logWarning(`Other users of this machine reach what folder ${folder} has: ${wider.join(", ")}. ${remedy}`),
      checked
    )
  })

/**
 * Watches an open folder until the scope closes. The returned function tells why writes must be rejected, if they must: an
 * open file or its folder was removed or replaced, so that a write would be lost with the process. It is logged, too.
 */
export const watchFolder = (folder: string): Effect.Effect<() => string | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    const log = Effect.runForkWith(yield* Effect.context<never>())
    const lost = new Set<string>()
    const loss = () => {
      const [name] = lost
      return name === undefined ? undefined : `${name} in folder ${folder} was removed or replaced while it was open`
    }
    const watch = (name: string) => {
      const file = path.join(folder, name)
      const { dev, ino } = fs.statSync(file)
      const look = (now: fs.Stats): void => {
        const before = loss()
        // For a missing file, all fields are 0.
        if (now.ino === ino && now.dev === dev) lost.delete(name)
        else lost.add(name)
        const after = loss()
        if (before === undefined && after !== undefined) log(Effect.logError(`${after}; writes are refused`))
        if (before !== undefined && after === undefined) log(Effect.logInfo(`The files of folder ${folder} are back`))
      }
      fs.watchFile(file, { persistent: false, interval: lookEvery }, look)
      return () => fs.unwatchFile(file, look)
    }
    for (const name of [dataFile, ownerFile]) {
      yield* Effect.acquireRelease(Effect.sync(() => watch(name)), (end) => Effect.sync(end))
    }
    return loss
  })

/** Prepares a folder that nobody uses for lmdb, which crashes the process without room for its lock file. Throws without. */
export const prepareUnused = (folder: string): void => prepareLock(path.join(folder, lockFile))

/** The code of an error of the system or of lmdb. */
export const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

/** The length of a file, which is created if needed; throws if it is not writable. */
const sizeOf = (file: string): number => {
  const descriptor = fs.openSync(file, "a+")
  const { size } = fs.fstatSync(descriptor)
  fs.closeSync(descriptor)
  return size
}

// Never opened and closed if it exists: closing it releases the process's locks on it, if it has the folder open.
const prepareLock = (file: string): undefined => {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() === true && found.size > 0) fs.accessSync(file, fs.constants.R_OK | fs.constants.W_OK)
  else fs.appendFileSync(file, Buffer.alloc(lockLength))
}

const tryRoom = (file: string): void => {
  const written = Result.try(() => fs.writeFileSync(file, Buffer.alloc(roomForNew)))
  fs.rmSync(file, { force: true })
  Result.getOrThrow(written)
}

const hasCommits = (lock: string): boolean =>
  fs.readFileSync(lock).subarray(lastCommitAt, lastCommitAt + 8).some((byte) => byte !== 0)

/** What is wrong with a file's pages, or `undefined`; `check` sees values, beyond `maxBytes` only the catalog's. */
export const problemOfData = (
  file: string,
  check: RecordCheck,
  maxBytes: number
): Effect.Effect<string | undefined> =>
  Effect.acquireUseRelease(
    Effect.sync(() => fs.openSync(file, "r")),
    (descriptor) => {
      const { size } = fs.fstatSync(descriptor)
      const steps = problemOfPages(descriptor, check.see, (tree) => tree === "catalog" || size <= maxBytes)
      return inSteps(steps)
    },
    (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
  ).pipe(
    Effect.catchDefect((cause) => Effect.succeed(cause instanceof Error ? cause.message : "it can't be read")),
    Effect.map((problem) => problem && `${dataFile} is damaged: ${problem}`)
  )
