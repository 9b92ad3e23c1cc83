/**
 * Locks a folder, so that one store uses it at a time.
 *
 * The operating system holds the lock, as SQLite's on an empty file of the folder, and releases it when the process ends,
 * however it ends. So a dead process never has a folder, and processes that can't see each other, such as those of two
 * containers with one volume, are kept apart. It works wherever lmdb does, which needs locks of the same kind. Within one
 * process, opening and closing the file by other means than SQLite releases the lock.
 */
import { FileModes, makeFile } from "@appkernel/document-store/folders"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { hostname } from "node:os"
import * as path from "node:path"
import * as process from "node:process"
import type { DatabaseSync } from "node:sqlite"

/** The file that is locked. It is empty, remains when the store is closed, and may be copied. */
export const lockFile = "owner.lock"

/**
 * Fails where one of a folder's files is no regular one, or can't be looked at. To open a FIFO would wait for who writes to it, for
 * ever.
 */
export const requireRegularFiles = (
  folder: string,
  failed: (cause: Error) => StoreUnavailable
): Effect.Effect<void, StoreUnavailable> =>
  Effect.try({
    try: () =>
      ["data.mdb", "lock.mdb", lockFile, ownerFile, "manifest.json"].find((name) =>
        fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.isFile() === false
      ),
    catch: (cause) => failed(cause instanceof Error ? cause : new Error(String(cause)))
  }).pipe(
    Effect.flatMap((name) => name === undefined ? Effect.void : Effect.fail(failed(new Error(`${name} is no file`))))
  )

/** Locks a folder until the scope closes, waiting five seconds for a killed process to end. */
export const lockFolder = (folder: string): Effect.Effect<void, StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    yield* requireRegularFiles(folder, ({ message }) => unavailable(`folder ${folder} can't be used: ${message}`))
    // Loaded on demand, since some versions of Node print a warning when it is loaded.
    const { DatabaseSync } = yield* Effect.tryPromise({
      try: () => import("node:sqlite"),
      catch: () => unavailable(`folder ${folder} can't be locked: this Node has no node:sqlite`)
    })
    const { file: mode } = yield* FileModes
    const attempt = Effect.acquireRelease(
      Effect.suspend(() => Effect.fromResult(lock(DatabaseSync, folder, mode))),
      (key) => Effect.sync(() => release(key))
    )
    const wait = Effect.andThen(
      Effect.logInfo(`Waiting for folder ${folder}, which is in use by ${ownerOf(folder)}`),
      Effect.retry(attempt, { schedule: patience, while: isBusy })
    )
    yield* attempt.pipe(
      Effect.catchIf(isBusy, () => wait),
      Effect.catchIf(isBusy, () => Effect.fail(unavailable(`folder ${folder} is in use by ${ownerOf(folder)}`)))
    )
  })

// internal

const ownerFile = "owner.txt"

const patience = Schedule.spaced("50 millis").pipe(Schedule.jittered, Schedule.upTo({ duration: "5 seconds" }))

class Busy extends Data.TaggedClass("Busy") {}

const isBusy = (error: Busy | StoreUnavailable): error is Busy => error._tag === "Busy"

// The locked folders by device and inode. The references keep the databases, and so the locks, from being collected.
const ownLocks = new Map<string, DatabaseSync>()

const lock = (
  Database: typeof DatabaseSync,
  folder: string,
  mode: number
): Result.Result<string, Busy | StoreUnavailable> => {
  const failed = (cause: unknown) =>
    sqliteCodeOf(cause) === sqliteBusy
      ? new Busy()
      : unavailable(`folder ${folder} can't be locked: ${lockFile}: ${cause instanceof Error ? cause.message : "?"}`)
  return Result.gen(function*() {
    const { dev, ino } = yield* Result.try({ try: () => fs.statSync(folder), catch: failed })
    const key = `${dev}:${ino}`
    if (ownLocks.has(key)) {
      return yield* Result.fail(unavailable(`folder ${folder} is already open in this process`))
    }
    for (const name of [lockFile, ownerFile]) makeFile(path.join(folder, name), mode)
    const database = yield* Result.try({ try: () => new Database(path.join(folder, lockFile)), catch: failed })
    yield* Result.try({
      // Without a journal file, only the empty file is created. The transaction writes nothing and never ends.
      try: () => database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"),
      catch: (cause) => {
        database.close()
        return failed(cause)
      }
    })
    ownLocks.set(key, database)
    // Only for the error message of other processes, so a failure is ignored.
    Result.try(() => fs.writeFileSync(path.join(folder, ownerFile), `process ${process.pid} on ${hostname()}\n`))
    return key
  })
}

const release = (key: string): void => {
  ownLocks.get(key)?.close()
  ownLocks.delete(key)
}

const ownerOf = (folder: string): string =>
  Result.match(Result.try(() => fs.readFileSync(path.join(folder, ownerFile), "utf8").trim()), {
    onSuccess: (owner) => /^process \d+ on [\w.-]{1,255}$/u.test(owner) ? owner : "another process",
    onFailure: () => "another process"
  })

const sqliteBusy = 5

const sqliteCodeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "errcode" in cause ? cause.errcode : undefined

const unavailable = (detail: string): StoreUnavailable =>
  new StoreUnavailable({ operation: "open", detail, retryable: false })
